"""One line a finding: `path:line:column: severity[rule] message`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.lint.report import FileReport, Reported
from ptx_lsp.lint.reporters.style import SEVERITY_COLOURS, Style, printable


def concise(files: Iterable[FileReport], style: Style) -> Iterator[str]:
    """The lines of the report, without line ends."""
    for file in files:
        path = printable(file.path)
        for found in file.diagnostics:
            line, column = found.mark.start
            yield f"{path}:{line}:{column}: {headline(found, style)}"


def headline(found: Reported, style: Style) -> str:
    """`severity[rule] message`, and which targets it is about where it is not about all."""
    name = style.paint(f"{found.severity}[{found.rule}]", SEVERITY_COLOURS[found.severity])
    only = f" ({', '.join(found.targets)} only)" if found.targets else ""
    return f"{name} {printable(found.message)}{only}"
