"""A summary for a pull request or a job page: counts, findings, and kernels with their figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ptx_lsp.lint.report import FileReport, Kernel, count
from ptx_lsp.lint.reporter import Run, reporter
from ptx_lsp.lint.reporters.style import printable

_MOST = 200
"""Rows of a table: job pages take about a megabyte."""
_ICONS = {"error": "\u274c", "warning": "\u26a0\ufe0f", "info": "\u2139\ufe0f", "hint": "\U0001f4a1"}


@reporter("markdown", "a summary for pull requests and job pages", has_kernels=True)
def markdown(run: Run) -> Iterator[str]:
    """The lines of the summary."""
    counts = count(run.files)
    unread = [file for file in run.files if file.error is not None]
    told = [f"{_ICONS[severity]} {number} {severity}" for severity, number in counts.items() if number]
    yield f"### ptx-lint: {', '.join(told) or ('nothing found' if not unread else 'not all was read')}"
    yield ""
    yield f"{len(run.files)} files, {len(unread)} of them could not be checked." if unread else (
        f"{len(run.files)} file{'' if len(run.files) == 1 else 's'} checked."
    )
    yield from (f"\n{printable(remark)}" for remark in run.remarks)
    yield from (f"\n- {code(file.path)}: {prose(file.error or '')}" for file in unread)
    yield from _findings(run.files)
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
    pieces = re.split("(`[^`]*`)", printable(text))
    return "".join(piece if piece[:1] == "`" else piece.replace("<", "&lt;") for piece in pieces)


def code(text: str) -> str:
    """Text as a code span, whatever it has in it."""
    shown = printable(text)
    longest = max(map(len, re.findall("`+", shown)), default=0)
    if not longest:
        return f"`{shown}`"
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}"


def _in_table(cell: str) -> str:
    return cell.replace("|", "\\|")


def _findings(files: Sequence[FileReport]) -> Iterator[str]:
    rows = [
        (
            f"{_ICONS[found.severity]} `{found.rule}`",
            code(f"{file.path}:{found.mark.start.line}"),
            prose(found.text),
        )
        for file in files
        for found in file.diagnostics
    ]
    if rows:
        yield from table(("rule", "place", "what"), rows)


def _kernels(kernels: Sequence[Kernel]) -> Iterator[str]:
    if kernels:
        heads = ("kernel", "target", "registers", "shared", "spills", "occupancy")
        yield from table(heads, [_kernel(kernel) for kernel in kernels])


def _kernel(kernel: Kernel) -> tuple[str, ...]:
    registers = kernel.registers
    estimate = f"~{registers.estimate}" if registers.estimate is not None else "?"
    measured = kernel.measured
    spills = "?"
    if measured is not None and measured.spill_store_bytes is not None:
        spills = f"{measured.spill_store_bytes + (measured.spill_load_bytes or 0)} B"
    percent = kernel.occupancy.percent
    about = "~" if kernel.occupancy.registers_source == "estimate" else ""
    return (
        code(kernel.name),
        kernel.target or "?",
        str(registers.measured) if registers.measured is not None else estimate,
        f"{kernel.shared_bytes} B" if kernel.shared_bytes is not None else "?",
        spills,
        f"{about}{percent:g} %" if percent is not None else "?",
    )
