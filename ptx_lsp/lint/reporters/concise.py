"""One line per finding: `path:line:column: severity[rule] message`, and in brackets the source line."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.reporters.kernel_table import kernels_below
from ptx_lsp.lint.results.report import Reported
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.shown import visible
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, Style, at_line_start, printable


@reporter("concise", "one line per finding", is_once=True)
def concise(run: Run) -> Iterator[str]:
    """The lines of the report, without line ends."""
    for file in run.files:
        path = at_line_start(file.path)
        for found in visible(file, run.least):
            line, column = found.mark.start
            origin = _origin(found.source_line) if found.source_line is not None else ""
            yield f"{path}:{line}:{column}: {headline(found, run.style)}{origin}"
    yield from kernels_below(run)


def _origin(place: Origin) -> str:
    from ptx_lsp.lint.reporters.places import line_text

    return f" ({printable(line_text(place))})"


def headline(found: Reported, style: Style) -> str:
    """`severity[rule] message`, and which targets it is about where it is not about all."""
    name = style.paint(f"{found.severity}[{found.rule}]", SEVERITY_COLOURS[found.severity])
    return f"{name} {printable(found.text)}"
