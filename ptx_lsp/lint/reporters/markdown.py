"""A summary for a pull request or a job page: counts, findings, and kernels with their figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptx_lsp.lint.reporters.places import from_here
from ptx_lsp.lint.results.display_names import display_names
from ptx_lsp.lint.results.grouping import Group
from ptx_lsp.lint.results.report import Counts, FileReport, Kernel
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.shown import groups
from ptx_lsp.lint.results.style import printable

_MOST = 200
"""Rows of a table: job pages take about a megabyte."""
_ICONS = {"error": "\u274c", "warning": "\u26a0\ufe0f", "info": "\u2139\ufe0f", "hint": "\U0001f4a1"}


@reporter("markdown", "a summary for pull requests and job pages", has_kernels=True)
def markdown(run: Run) -> Iterator[str]:
    """The lines of the summary."""
    counts = Counts(run.least)
    findings = [(file, one) for file in counts.counted(run.files) for one in groups(file, run.least)]
    unread = [file for file in run.files if file.error is not None]
    counted = [f"{_ICONS[severity]} {number} {severity}" for severity, number in counts.shown.items()]
    nothing = "some files could not be read" if unread else "no findings"
    yield f"### ptx-lint: {', '.join(counted) or nothing}"
    yield ""
    yield f"{len(run.files)} files; {len(unread)} could not be checked." if unread else (
        f"{len(run.files)} file{'' if len(run.files) == 1 else 's'} checked."
    )
    yield from (f"\n{prose(remark)}" for remark in run.remarks)
    yield from (f"\n- {code(file.path)}: {prose(file.error or '')}" for file in unread)
    if counts.hidden:
        listed = " and ".join(f"{number} {severity}" for severity, number in counts.hidden.items())
        yield f"\nNot shown: {listed} (`--min-severity {[*counts.hidden][-1]}`)."
    yield from _findings(findings)
    yield from _kernels([kernel for file in run.files for kernel in file.kernels])


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table, of which no more than 200 rows are shown."""
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join(' --- ' for _ in heads)}|"
    for row in rows[:_MOST]:
        yield f"| {' | '.join(_in_table(cell) for cell in row)} |"
    if len(rows) > _MOST:
        yield ""
        yield f"... and {len(rows) - _MOST} more."


def prose(text: str) -> str:
    """Text without markup but names in back-ticks, between which everything stands for itself."""
    pieces = enumerate(re.split("(`[^`]+`)", printable(text)))
    return "".join(code(piece[1:-1]) if at % 2 else _literal(piece) for at, piece in pieces)


def code(text: str) -> str:
    """Text as a code span, for any content. Nothing in one is a link, a mention or a reference."""
    shown = printable(text)
    if not shown.strip("` ") or ("\\" in shown and "|" in shown):  # no table has both in a span
        return f"<code>{''.join(one if one.isalnum() else f'&#{ord(one)};' for one in shown)}</code>"
    longest = max(map(len, re.findall("`+", shown)), default=0)
    if not longest:
        return f"`{shown}`"
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}"


def inert(text: str) -> str:
    """Text in which a service that takes it for Markdown finds no link, image, HTML, mention or reference,
    and which otherwise looks the same: spaces of no width keep apart what would make one.
    """
    if "``" in text or text.count("`") % 2:  # nobody knows what is a name and what is not
        return _TO_PART.sub(_NO_WIDTH, text)
    pieces = enumerate(re.split("(`[^`]*`)", text))
    return "".join(piece if at % 2 else _TO_PART.sub(_NO_WIDTH, piece) for at, piece in pieces)


_NO_WIDTH = "\u200b"
_TO_PART = re.compile(
    r"(?<=[@#!~%&^:])(?=\w)"  # mentions, references to issues and the like, emojis
    r"|(?<=\$)|(?<=[A-Za-z]-)(?=\d)"  # formulas, GH-1
    r"|(?<=[\da-f])(?=(?:[\da-f]{6})+(?![\da-f]))"  # commits
    r"|(?<=:)(?=//)|(?<=www)(?=\.)"  # links that need no markup
    r"|(?<=\])(?=[(\[])|(?<=!)(?=\[)|(?<=<)(?=[\w!/?])",  # links, images and HTML
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\\`*~\[\]]|(?<!\w)_+|_+(?!\w)")


def _literal(text: str) -> str:
    shown = _MARKUP.sub(
        lambda found: "".join(f"\\{one}" for one in found[0]), _TO_PART.sub(_NO_WIDTH, text)
    )
    return shown.replace("&", "&amp;").replace("<", "&lt;")


def _in_table(cell: str) -> str:
    return cell.replace("|", "\\|")


def _findings(found: Iterable[tuple[FileReport, Group]]) -> Iterator[str]:
    rows = [_finding(file, one) for file, one in found]
    if any(source for _, source, *_ in rows):
        yield from table(("rule", "source", "place", "what"), rows)
    elif rows:
        yield from table(("rule", "place", "what"), [(rule, *others) for rule, _, *others in rows])


def _finding(file: FileReport, one: Group) -> tuple[str, str, str, str]:
    found, source = one.first, one.first.source_line
    return (
        f"{_ICONS[found.severity]} `{found.rule}`",
        code(f"{from_here(source.path)}:{source.line}") if source is not None else "",
        code(f"{file.path}:{found.mark.start.line}"),
        prose(found.text + (f" ({one.more})" if one.more else "")),
    )


def _kernels(kernels: Sequence[Kernel]) -> Iterator[str]:
    if kernels:
        heads = ("kernel", "target", "registers", "shared", "spills", "occupancy")
        names = display_names(kernel.name for kernel in kernels)
        yield from table(heads, [_kernel(kernel, names) for kernel in kernels])


def kernel_name(name: str, shown: Mapping[str, str]) -> str:
    """The name of a kernel as code, with its short form in `shown` first, if it has one."""
    return f"{code(shown[name])} {code(name)}" if name in shown else code(name)


def _kernel(kernel: Kernel, names: Mapping[str, str]) -> tuple[str, ...]:
    registers = kernel.registers
    estimate = f"~{registers.estimate_text}" if registers.estimate is not None else "?"
    measured = kernel.measured
    spills = "?"
    if measured is not None and measured.spill_store_bytes is not None:
        spills = f"{measured.spill_store_bytes + (measured.spill_load_bytes or 0)} B"
    percent = kernel.occupancy.percent
    about = "~" if kernel.occupancy.registers_source == "estimate" else ""
    return (
        kernel_name(kernel.name, names),
        prose(kernel.target or "?"),
        str(registers.measured) if registers.measured is not None else estimate,
        _shared(kernel),
        spills,
        f"{about}{percent:g} %" if percent is not None else "?",
    )


def _shared(kernel: Kernel) -> str:
    """`1024 B`, with dynamic shared memory `1024 + 8192 B`."""
    static = "?" if kernel.shared_bytes is None else str(kernel.shared_bytes)
    dynamic = kernel.dynamic_shared
    if dynamic is not None and dynamic.source != "none":
        static += f" + {'?' if dynamic.size is None else dynamic.size}"
    return static if static == "?" else f"{static} B"
