"""`--report`: a self-contained HTML page on files, their kernels and their findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count as numbers

from ptx_lsp import __version__
from ptx_lsp.cli.graphs import flow_svg
from ptx_lsp.cli.page import style
from ptx_lsp.cli.page.findings import findings
from ptx_lsp.cli.page.kernel import kernel_name, kernel_section
from ptx_lsp.cli.page.rules import rules
from ptx_lsp.cli.page.text import number, safe
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.display_names import display_names
from ptx_lsp.lint.results.report import FileReport, Kernel, count


def page(files: Sequence[FileReport], least: Severity = "hint") -> Iterator[str]:
    """The lines of the page. The kernels have `details`; findings below `least` are folded away."""
    name = files[0].path if len(files) == 1 else f"{len(files)} files"
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>ptx-lint: {safe(name)}</title>"
    yield f"<style>{style.STYLE}{flow_svg.STYLE}</style></head><body>"
    yield f"<h1>{safe(name)}</h1>"
    yield f'<p class="soft">{safe(_summary(files))}; ptx-lint {__version__}</p>'
    anchors = (f"k{number}" for number in numbers(1))
    sections = [(file, _by_name(file.kernels, anchors)) for file in files]
    yield from _overview(sections)
    for file, kernels in sections:
        yield from _file(file, kernels, least, alone=len(files) == 1)
    yield from rules({found.rule for file in files for found in file.diagnostics})
    yield "</body></html>"


Section = tuple[str, list[Kernel]]
"""An anchor and the rows of one kernel, per target."""


def _by_name(kernels: Sequence[Kernel], anchors: Iterator[str]) -> list[Section]:
    found: dict[tuple[str, int], list[Kernel]] = {}
    for kernel in kernels:
        found.setdefault((kernel.name, kernel.line), []).append(kernel)
    return [(next(anchors), rows) for rows in found.values()]


def _summary(files: Sequence[FileReport]) -> str:
    counts = count(files)
    kernels = sum(len({(one.name, one.line) for one in file.kernels}) for file in files)
    told = [number(kernels, "kernel")]
    told += [number(n, severity) for severity, n in counts.items() if n]
    return ", ".join(told if any(counts.values()) else [*told, "no findings"])


def _overview(sections: Sequence[tuple[FileReport, list[Section]]]) -> Iterator[str]:
    rows = [
        (anchor, row) for _, kernels in sections for anchor, found in kernels for row in found
    ]
    if not rows:
        return
    names = display_names(row.name for _, row in rows)
    yield '<div class="scroll"><table><thead><tr><th class="name">kernel</th><th>target</th>'
    yield "<th>registers</th><th>threads per block</th><th>occupancy</th><th>limited by</th>"
    yield "<th>divergent branches</th></tr></thead><tbody>"
    for anchor, row in rows:
        known, registers = row.occupancy, row.registers
        used = registers.measured
        if used is None and registers.estimate is not None:
            used = f"~{registers.estimate_text}"
        resting = "~" if known.registers_source == "estimate" else ""
        cells = (
            row.target,
            used,
            row.threads_per_block or (known.threads_per_block and f"best: {known.threads_per_block}"),
            known.percent is not None and f"{resting}{known.percent:g} %",
            ", ".join(known.limiters or ()),
            row.branches.divergent,
        )
        told = "".join(f"<td>{_cell(cell)}</td>" for cell in cells)
        yield f'<tr><td class="name"><a href="#{anchor}">{kernel_name(row.name, names)}</a></td>{told}</tr>'
    yield "</tbody></table></div>"
    yield '<p class="kind">~ marks an estimate, with its interval, or a value based on one; '
    yield "see each kernel for details.</p>"


def _cell(value: object) -> str:
    return "-" if value is None or value is False or value == "" else safe(str(value))


def _file(
    file: FileReport, kernels: Sequence[Section], least: Severity, alone: bool
) -> Iterator[str]:
    if not alone:
        yield f"<h2>{safe(file.path)}</h2>"
    for trouble in (file.error, *file.failures, *file.complaints):
        if trouble is not None:
            yield f'<p class="trouble">{safe(trouble)}</p>'
    for anchor, rows in kernels:
        yield from kernel_section(file.path, rows, anchor)
    if file.error is None:
        yield "<h2>Findings</h2>" if alone else "<h3>Findings</h3>"
        yield from findings(file, least)
