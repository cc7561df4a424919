"""The report for people: each finding with its source line, carets, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.report import Counts, Reported
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, Style, printable
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.lint.reporters.excerpt import Underline


@reporter("full", "findings with their source lines", is_once=True)
def full(run: Run) -> Iterator[str]:
    """The lines of the report, without line ends."""
    counts = Counts()
    for file in counts.counted(run.files):
        for found in file.diagnostics:
            yield from finding_lines(file.path, found, run.style, run.columns, run.quiet)
            if not run.quiet:
                yield ""
    yield from (printable(remark) for remark in run.remarks)
    yield summary(counts, run.style)
    if run.kernels:
        from ptx_lsp.lint.reporters.kernel_table import kernels_below

        yield from kernels_below(run)


def summary(counts: Counts, style: Style) -> str:
    """The last line: how many findings, in how many files."""
    failed = counts.unread
    read = counts.files - failed
    unread = f"; {_number(failed, 'file')} could not be checked" if failed else ""
    if not any(counts.findings.values()):
        if not read:
            return style.paint(f"Nothing checked{unread}.", "yellow")
        checked = f"All checks passed: {_number(read, 'file')}{unread}."
        return style.paint(checked, "yellow" if failed else "green")
    counted = ", ".join(_number(n, _WORDS[severity]) for severity, n in counts.findings.items() if n)
    having = counts.having
    where = f"{having} of {_number(read, 'file')}" if having < read else _number(read, "file")
    worst = next(severity for severity, n in counts.findings.items() if n)
    return style.paint(f"Found {counted} in {where}{unread}.", SEVERITY_COLOURS[worst])


_WORDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "info", "hint": "hint"}


def finding_lines(
    path: str, found: Reported, style: Style, columns: int, quiet: bool = False
) -> Iterator[str]:
    """The lines of one finding in a file."""
    colour = SEVERITY_COLOURS[found.severity]
    name = style.paint(f"{found.severity}[{found.code}]", colour)
    rule = "" if found.rule == found.code else f" {found.rule}"
    yield f"{name}{style.paint(f'{rule}: {printable(found.message)}', 'bold')}"
    line, column = found.mark.start
    lines = [found.mark.start.line, *(mark.start.line for mark in found.related)]
    margin = " " * len(str(max(lines)))
    arrow = style.paint("-->", "blue")
    yield f"{margin}{arrow} {printable(path)}:{line}:{column}"
    if quiet:
        return
    from ptx_lsp.lint.reporters.excerpt import excerpts

    yield from excerpts(_underlines(found, colour), style, columns)
    bar = style.paint(f"{margin} =", "blue")
    for label, text in _remarks(found):
        yield f"{bar} {style.paint(f'{label}:', 'bold')} {printable(text)}"


def _underlines(found: Reported, colour: str) -> list[Underline]:
    """The marks; a word on the very place of the finding stands behind its carets."""
    from ptx_lsp.lint.reporters.excerpt import Underline

    here = [mark for mark in found.related if mark.start == found.mark.start]
    word = "; ".join(mark.message for mark in here)
    others = [mark for mark in found.related if mark not in here]
    primary = Underline(found.mark._replace(message=word), "^", colour)
    return [primary, *(Underline(mark, "-", "blue") for mark in others)]


def _remarks(found: Reported) -> Iterator[tuple[str, str]]:
    if found.fix is not None:
        yield "help", found.fix.message + ("" if found.fix.safe else " (unsafe)")
    for note in found.notes:
        yield "note", note
    if found.targets:
        yield "note", f"for {', '.join(found.targets)} only"


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
