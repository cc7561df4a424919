"""Code actions and formatting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from lsprotocol import types

from ptx_lsp.ide.editing.code_actions import (
    Action,
    ActionSort,
    code_actions,
    finding_actions,
    fix_all,
)
from ptx_lsp.ide.editing.formatting import ON_TYPE, Style, formatting, formatting_on_type
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.server.containers.member_uri import is_read_only
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.feature import answer, answer_of_hosts_with_findings, answer_with_findings
from ptx_lsp.server.inline.host_files import HostView
from ptx_lsp.server.inline.host_scheduler import HostDiagnostics
from ptx_lsp.server.json import JsonText
from ptx_lsp.server.session import View
from ptx_lsp.text import Edit

_KINDS: dict[ActionSort, types.CodeActionKind] = {
    "fix": types.CodeActionKind.QuickFix,
    "fix all": types.CodeActionKind.QuickFix,
    "suppress": types.CodeActionKind.QuickFix,
    "raise": types.CodeActionKind.QuickFix,
    "rewrite": types.CodeActionKind.RefactorRewrite,
}
_FIX_ALL = types.CodeActionKind.SourceFixAll


@answer_with_findings(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions([types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, _FIX_ALL]),
)
def on_code_action(
    view: View, findings: FileDiagnostics, params: types.CodeActionParams
) -> list[types.CodeAction]:
    if view.snapshot.is_skeleton or is_read_only(view.file.uri):
        return []
    span, only = view.convert.span(params.range), params.context.only
    found: list[Action] = []
    if _wants_actions(only):
        asked = _asked(view.convert, findings.diagnostics, params.context.diagnostics)
        found += code_actions(view.module, findings.diagnostics, span, asked)
    return _actions(view.convert, view.version, found, findings.diagnostics, only)


@answer_of_hosts_with_findings(types.TEXT_DOCUMENT_CODE_ACTION)
def on_code_action_in_blocks(
    view: HostView, findings: HostDiagnostics, params: types.CodeActionParams
) -> list[types.CodeAction]:
    span, only = view.convert.span(params.range), params.context.only
    found: list[Action] = []
    if _wants_actions(only) and findings.diagnostics:
        asked = _asked(view.convert, findings.diagnostics, params.context.diagnostics)
        found += finding_actions(
            view.snapshot.source,
            findings.diagnostics,
            span,
            asked,
            view.snapshot.document.comment_mark,
        )
    return _actions(view.convert, view.snapshot.version, found, findings.diagnostics, only)


_Kinds: TypeAlias = "Sequence[types.CodeActionKind | str] | None"


def _wants_actions(only: _Kinds) -> bool:
    return only is None or any(kind != _FIX_ALL for kind in only)


def _actions(
    convert: Converter,
    version: int | None,
    actions: Sequence[Action],
    diagnostics: Sequence[Diagnostic],
    only: _Kinds,
) -> list[types.CodeAction]:
    found = [_action(convert, version, one) for one in actions if _is_wanted(_KINDS[one.sort], only)]
    if only is not None and _is_wanted(_FIX_ALL, only):  # on saving, for example
        edits = fix_all(diagnostics)
        if edits:
            edit = convert.workspace_edit(edits, version)
            found.append(types.CodeAction("Apply all safe fixes", _FIX_ALL, edit=edit))
    return found


def _asked(
    convert: Converter, diagnostics: Sequence[Diagnostic], sent: Sequence[types.Diagnostic]
) -> list[Diagnostic]:
    """The findings that the client names: of those with the same rule and message, the nearest."""
    found: list[Diagnostic] = []
    for one in sent:
        offset = convert.offset(one.range.start)
        same = [
            known for known in diagnostics
            if known.rule == one.code and one.message.startswith(known.message)
        ]
        if same:
            found.append(min(same, key=lambda known: abs(known.span.start - offset)))
    return found


def _is_wanted(kind: types.CodeActionKind, only: _Kinds) -> bool:
    """A requested kind includes the kinds that begin with it."""
    if only is None:
        return True
    wanted = [one.value if isinstance(one, types.CodeActionKind) else one for one in only]
    return any(kind.value == one or kind.value.startswith(f"{one}.") for one in wanted)


def _action(convert: Converter, version: int | None, found: Action) -> types.CodeAction:
    return types.CodeAction(
        found.title,
        _KINDS[found.sort],
        [convert.diagnostic(one) for one in found.diagnostics] or None,
        is_preferred=found.is_preferred or None,
        edit=convert.workspace_edit(found.edits, version),
    )


@answer(types.TEXT_DOCUMENT_FORMATTING, of_outlines=False)
def on_formatting(view: View, params: types.DocumentFormattingParams) -> JsonText | None:
    return _edits(view, formatting(view.module, _style(params.options)))


@answer(types.TEXT_DOCUMENT_RANGE_FORMATTING, of_outlines=False)
def on_range_formatting(
    view: View, params: types.DocumentRangeFormattingParams
) -> JsonText | None:
    span = view.convert.span(params.range)
    return _edits(view, formatting(view.module, _style(params.options), span))


@answer(
    types.TEXT_DOCUMENT_ON_TYPE_FORMATTING,
    types.DocumentOnTypeFormattingOptions(ON_TYPE[0], list(ON_TYPE[1:])),
    of_outlines=False,
)
def on_type_formatting(
    view: View, params: types.DocumentOnTypeFormattingParams
) -> JsonText | None:
    offset = view.offset(params.position)
    return _edits(view, formatting_on_type(view.module, offset, _style(params.options)))


def _edits(view: View, edits: Sequence[Edit]) -> JsonText | None:
    return None if is_read_only(view.file.uri) else view.convert.json_edits(edits)


def _style(options: types.FormattingOptions) -> Style:
    return Style(indent=max(1, options.tab_size), use_tabs=not options.insert_spaces)
