"""`ptx/compare`: compares the kernels of an open file with those of another text, like `ptx-lint compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.reporters.comparison import comparison_json
from ptx_lsp.lint.results.comparison import Comparison, Subject, compare, compare_kernels, subjects
from ptx_lsp.lint.results.debug_lines import SourceLocations
from ptx_lsp.lint.results.kernels import kernels
from ptx_lsp.lint.results.report import FileReport, reported
from ptx_lsp.model.module import Module
from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.feature import panel_with_findings
from ptx_lsp.server.json import Json, at, text
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import View
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source


@panel_with_findings("ptx/compare")
def on_compare(view: View, findings: FileDiagnostics, asked: object) -> Json:
    """The text `old` is judged with the settings of the open file, so that only the kernels differ."""
    name, old = text(at(at(asked, "old"), "name")), text(at(at(asked, "old"), "text"))
    if name is None or old is None:
        raise RequestFailedError("`old` must have a `name` and a `text`")
    data = old.encode("utf-8", "replace")
    if len(data) > MOST_BYTES:
        raise RequestFailedError(f"`{name}` is too large; the limit is {MOST_BYTES >> 20} MiB")
    before = _report_of(name, Source(data), view)
    after = _report(view.file.uri, view.module, findings.diagnostics, view)
    found = _compared(before, after, text(at(asked, "oldKernel")), text(at(asked, "kernel")))
    return {**cast(dict[str, Json], comparison_json(found)), "complete": findings.is_complete}


def _compared(
    before: FileReport, after: FileReport, old: str | None, new: str | None
) -> Comparison:
    """All kernels, or the two that are named."""
    if old is None and new is None:
        return compare([before], [after])
    return compare_kernels(_named(before, old or new or ""), _named(after, new or old or ""))


def _named(report: FileReport, name: str) -> Subject:
    for one in subjects([report]):
        if one.kernel.name == name:
            return one
    raise RequestFailedError(f"`{report.path}` has no kernel `{name}`")


def _report_of(name: str, source: Source, view: View) -> FileReport:
    rules = view.settings.rules
    module = Module(Document.read(source), None, view.settings.target)
    try:
        found = LintSession(module, view.settings.chosen).diagnostics
        judged = suppressed(rules.judged(found), source, rules.names)
        return _report(name, module, judged, view)
    finally:
        module.dispose(module)


def _report(name: str, module: Module, found: Sequence[Diagnostic], view: View) -> FileReport:
    known = view.known
    rows = kernels(module, dynamic=known.dynamic_shared, metadata=known.metadata)
    shown = reported(found, module.document.source, SourceLocations(module).of)
    return FileReport(name, None, None, (), tuple(shown), tuple(rows))
