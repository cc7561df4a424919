"""`ptx/compare`: compares the kernels of an open file with those of another text, like `ptx-lint compare`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.reporters.comparison import comparison_json
from ptx_lsp.lint.results.comparison import Comparison, Subject, compare, compare_kernels, subjects
from ptx_lsp.lint.results.debug_lines import SourceLocations
from ptx_lsp.lint.results.kernels import kernels
from ptx_lsp.lint.results.report import FileReport, reported
from ptx_lsp.model.module import Module
from ptx_lsp.server.background.measuring import Measured, state_json
from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.feature import handler, uri_of
from ptx_lsp.server.json import Json, at, text
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session, View
from ptx_lsp.server.skeleton import MOST_BYTES
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source


class _Old(NamedTuple):
    """The text that the open file is compared with."""

    name: str
    source: Source
    measured: Measured


@handler("ptx/compare")
async def on_compare(session: Session, asked: object) -> Json:
    """The text `old` is judged with the settings of the open file, so that only the kernels differ."""
    found = await session.diagnostics(uri_of(asked))
    if found is None:
        return None
    name, old = text(at(at(asked, "old"), "name")), text(at(at(asked, "old"), "text"))
    if name is None or old is None:
        raise RequestFailedError("`old` must have a `name` and a `text`")
    source = Source(old.encode("utf-8", "replace"))
    if len(source.data) > MOST_BYTES:
        raise RequestFailedError(f"`{name}` is too large; the limit is {MOST_BYTES >> 20} MiB")
    file, findings = found
    measured = session.measured_of_compared(file, source)
    view = session.view_of(file, findings.snapshot)
    return await session.threads.answer(_answer, view, findings, _Old(name, source, measured), asked)


def _answer(view: View, findings: FileDiagnostics, old: _Old, asked: object) -> Json:
    before = _report_of(old, view)
    after = _report(view.file.uri, view.module, findings.diagnostics, view, view.measured)
    found = _compared(before, after, text(at(asked, "oldKernel")), text(at(asked, "kernel")))
    names = view.display_names(one.kernel.name for one in subjects([before, after]))
    return {
        **cast(dict[str, Json], comparison_json(found, names)),
        "complete": findings.is_complete,
        "ptxas": {"old": state_json(old.measured), "new": state_json(view.measured)},
    }


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


def _report_of(old: _Old, view: View) -> FileReport:
    rules = view.settings.rules
    module = Module(Document.read(old.source), None, view.settings.target)
    try:
        found = LintSession(module, view.settings.chosen).diagnostics
        judged = suppressed(rules.judged(found), old.source, rules.names)
        return _report(old.name, module, judged, view, old.measured)
    finally:
        module.dispose(module)


def _report(
    name: str, module: Module, found: Sequence[Diagnostic], view: View, measured: Measured
) -> FileReport:
    known = view.known
    rows = kernels(module, dynamic=known.dynamic_shared, metadata=known.metadata)
    shown = reported(found, module.document.source, SourceLocations(module).of)
    figures = [measured.figures.applied_to(row) for row in rows]
    return FileReport(name, None, None, (), tuple(shown), tuple(figures))
