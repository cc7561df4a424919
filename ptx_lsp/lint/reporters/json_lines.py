"""A finding a line, as JSON: the same keys as in the whole report, and the path."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.reporters.json import dumps, finding
from ptx_lsp.lint.results.reporter import Run, reporter


@reporter("json-lines", "one JSON object per finding, one per line", is_once=True)
def json_lines(run: Run) -> Iterator[str]:
    """The lines of the report."""
    for file in run.files:
        for found in file.diagnostics:
            yield dumps({"path": file.path, **finding(found)}, indent=None)
