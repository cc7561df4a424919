"""The diagnostic format of reviewdog, one object for the whole run. Its columns count UTF-8 bytes.

reviewdog writes the messages into comments, in Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.reporters.json import Value, dumps
from ptx_lsp.lint.reporters.markdown import inert
from ptx_lsp.lint.reporters.places import from_here, line_text
from ptx_lsp.lint.results.report import Excerpt, FileReport, Mark, Point, Reported
from ptx_lsp.lint.results.reporter import Run, reporter

_SEVERITIES: dict[Severity, str] = {
    "error": "ERROR", "warning": "WARNING", "info": "INFO", "hint": "INFO",
}


@reporter("rdjson", "for reviewdog: review comments with suggestions")
def rdjson(run: Run) -> Iterator[str]:
    """The whole report."""
    rows = [_row(file, found) for file in run.files for found in file.diagnostics]
    whole: Value = {"source": {"name": "ptx-lint"}, "diagnostics": rows}
    yield dumps(whole)


def _row(file: FileReport, found: Reported) -> Value:
    path, source = from_here(file.path), found.source_line
    origin = f" ({line_text(source)})" if source is not None else ""
    row: dict[str, Value] = {
        "message": inert(found.text + origin),
        "location": {"path": path, "range": _range(found.mark)},
        "severity": _SEVERITIES[found.severity],
        "code": {"value": found.rule},
    }
    if found.fix is not None:
        row["suggestions"] = [
            {"range": _span(change.start, change.end, found.mark), "text": change.text}
            for change in found.fix.changes
        ]
    return row


def _range(mark: Mark) -> Value:
    return _span(mark.start, mark.end, mark)


def _span(start: Point, end: Point, near: Mark) -> Value:
    return {"start": _position(start, near), "end": _position(end, near)}


def _position(point: Point, near: Mark) -> Value:
    if point.line == near.start.line:
        return {"line": point.line, "column": _bytes_before(point.column, near.excerpt) + 1}
    return {"line": point.line, "column": point.column}


def _bytes_before(column: int, excerpt: Excerpt) -> int:
    """How many bytes of a line lie before a column; what is not known of it is taken for ASCII."""
    known = excerpt.text[: max(0, column - excerpt.first)]
    return column - 1 - len(known) + len(known.encode("utf-8", "replace"))
