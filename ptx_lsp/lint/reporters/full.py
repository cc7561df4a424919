"""The report for people: each finding with its source line, carets, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.results.report import Counts, Reported
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.shown import groups
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, Style, printable
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.lint.diagnostic import Origin
    from ptx_lsp.lint.reporters.excerpt import Underline


@reporter("full", "findings with their source lines", is_once=True)
def full(run: Run) -> Iterator[str]:
    """The lines of the report, without line ends."""
    counts, explained = Counts(run.least), ""
    for file in counts.counted(run.files):
        for one in groups(file, run.least):
            yield from finding_lines(file.path, one.first, run.style, run.columns, run.quiet, one.more)
            explained = explained or one.first.rule
            if not run.quiet:
                yield ""
    yield from (printable(remark) for remark in run.remarks)
    if explained and not run.quiet:
        yield run.style.paint(f"To read about a rule: ptx-lint --explain {explained}", "dim")
    yield summary(counts, run.style)
    if run.kernels:
        from ptx_lsp.lint.reporters.kernel_table import kernels_below

        yield from kernels_below(run)


def summary(counts: Counts, style: Style) -> str:
    """The last line: how many findings, in how many files, and how many are not shown."""
    failed = counts.unread
    read = counts.files - failed
    unread = f"; {_number(failed, 'file')} could not be checked" if failed else ""
    hidden = ""
    if counts.hidden:
        listed = " and ".join(_number(n, severity) for severity, n in counts.hidden.items())
        hidden = style.paint(f" Not shown: {listed} (--min-severity {[*counts.hidden][-1]}).", "dim")
    if not counts.shown:
        if not read:
            return style.paint(f"Nothing checked{unread}.", "yellow")
        checked = f"All checks passed: {_number(read, 'file')}{unread}."
        return style.paint(checked, "yellow" if failed else "green") + hidden
    counted = ", ".join(_number(n, severity) for severity, n in counts.shown.items())
    having = counts.having
    where = f"{having} of {_number(read, 'file')}" if having < read else _number(read, "file")
    worst = next(iter(counts.shown))
    return style.paint(f"Found {counted} in {where}{unread}.", SEVERITY_COLOURS[worst]) + hidden


def finding_lines(
    path: str, found: Reported, style: Style, columns: int, quiet: bool = False, more: str = ""
) -> Iterator[str]:
    """The lines of one finding in a file; `more` is about others like it."""
    colour = SEVERITY_COLOURS[found.severity]
    name = style.paint(f"{found.severity}[{found.code}]", colour)
    rule = "" if found.rule == found.code else f" {found.rule}"
    yield f"{name}{style.paint(f'{rule}: {printable(found.message)}', 'bold')}"
    line, column = found.mark.start
    source = found.source_line
    lines = [found.mark.start.line, *(mark.start.line for mark in found.related)]
    if source is not None:
        lines.append(source.line)
    margin = " " * len(str(max(lines)))
    arrow = style.paint("-->", "blue")
    place = f"{printable(path)}:{line}:{column}"
    if source is None:
        yield f"{margin}{arrow} {place}"
    else:
        from ptx_lsp.lint.reporters.places import line_text

        yield f"{margin}{arrow} {printable(line_text(source))}"
        if not quiet:
            yield from _source_excerpt(source, path, style, columns, colour, len(margin))
        yield f"{margin}{style.paint(':::', 'blue')} {place}"
    if quiet:
        if more:
            yield f"{margin} {style.paint('=', 'blue')} {more}"
        return
    from ptx_lsp.lint.reporters.excerpt import excerpts

    yield from excerpts(_underlines(found, colour), style, columns, len(margin))
    bar = style.paint(f"{margin} =", "blue")
    for label, text in _remarks(found, more):
        yield f"{bar} {style.paint(f'{label}:', 'bold')} {printable(text)}"


def _source_excerpt(
    place: Origin, path: str, style: Style, columns: int, colour: str, margin: int
) -> Iterator[str]:
    """The source line, if its file can be read."""
    from ptx_lsp.lint.reporters.excerpt import Underline, excerpts
    from ptx_lsp.lint.reporters.places import source_mark

    text = source_mark(place, path)
    if text is not None:
        yield from excerpts([Underline(text, "^", colour)], style, columns, margin)


def _underlines(found: Reported, colour: str) -> list[Underline]:
    """The marks; a word on the very place of the finding stands behind its carets."""
    from ptx_lsp.lint.reporters.excerpt import Underline

    here = [mark for mark in found.related if mark.start == found.mark.start]
    word = "; ".join(mark.message for mark in here)
    others = [mark for mark in found.related if mark not in here]
    primary = Underline(found.mark._replace(message=word), "^", colour)
    return [primary, *(Underline(mark, "-", "blue") for mark in others)]


def _remarks(found: Reported, more: str) -> Iterator[tuple[str, str]]:
    if found.fix is not None:
        yield "help", found.fix.message + ("" if found.fix.safe else " (unsafe)")
    for note in found.notes:
        yield "note", note
    if found.targets:
        yield "note", f"for {', '.join(found.targets)} only"
    if found.inlined_at:
        from ptx_lsp.lint.reporters.places import inlining

        yield from (("note", text) for text in inlining(found))
    if more:
        yield "note", more


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
