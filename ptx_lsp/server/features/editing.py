"""Code actions and formatting."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from ptx_lsp.ide.editing.code_actions import Action, ActionSort, code_actions, fix_all
from ptx_lsp.ide.editing.formatting import ON_TYPE, Style, formatting, formatting_on_type
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.feature import answer, answer_with_findings
from ptx_lsp.server.json import JsonText
from ptx_lsp.server.session import View

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
    if view.snapshot.is_skeleton:
        return []
    span, only = view.convert.span(params.range), params.context.only
    found: list[types.CodeAction] = []
    if only is None or any(kind != _FIX_ALL for kind in only):
        asked = _asked(view, findings, params.context.diagnostics)
        actions = code_actions(view.module, findings.diagnostics, span, asked)
        found = [_action(view, one) for one in actions if _is_wanted(_KINDS[one.sort], only)]
    if only is not None and _is_wanted(_FIX_ALL, only):  # on saving, for example
        edits = fix_all(findings.diagnostics)
        if edits:
            edit = view.convert.workspace_edit(edits, view.snapshot.version)
            found.append(types.CodeAction("Apply all safe fixes", _FIX_ALL, edit=edit))
    return found


def _asked(
    view: View, findings: FileDiagnostics, sent: Sequence[types.Diagnostic]
) -> list[Diagnostic]:
    """The findings that the client names: of those with the same rule and message, the nearest."""
    found: list[Diagnostic] = []
    for one in sent:
        offset = view.offset(one.range.start)
        same = [
            known for known in findings.diagnostics
            if known.rule == one.code and one.message.startswith(known.message)
        ]
        if same:
            found.append(min(same, key=lambda known: abs(known.span.start - offset)))
    return found


def _is_wanted(kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None) -> bool:
    """A requested kind includes the kinds that begin with it."""
    if only is None:
        return True
    wanted = [one.value if isinstance(one, types.CodeActionKind) else one for one in only]
    return any(kind.value == one or kind.value.startswith(f"{one}.") for one in wanted)


def _action(view: View, found: Action) -> types.CodeAction:
    return types.CodeAction(
        found.title,
        _KINDS[found.sort],
        [view.convert.diagnostic(one) for one in found.diagnostics] or None,
        is_preferred=found.is_preferred or None,
        edit=view.convert.workspace_edit(found.edits, view.snapshot.version),
    )


@answer(types.TEXT_DOCUMENT_FORMATTING, of_outlines=False)
def on_formatting(view: View, params: types.DocumentFormattingParams) -> JsonText:
    return view.convert.json_edits(formatting(view.module, _style(params.options)))


@answer(types.TEXT_DOCUMENT_RANGE_FORMATTING, of_outlines=False)
def on_range_formatting(
    view: View, params: types.DocumentRangeFormattingParams
) -> JsonText:
    span = view.convert.span(params.range)
    return view.convert.json_edits(formatting(view.module, _style(params.options), span))


@answer(
    types.TEXT_DOCUMENT_ON_TYPE_FORMATTING,
    types.DocumentOnTypeFormattingOptions(ON_TYPE[0], list(ON_TYPE[1:])),
    of_outlines=False,
)
def on_type_formatting(
    view: View, params: types.DocumentOnTypeFormattingParams
) -> JsonText:
    offset = view.offset(params.position)
    return view.convert.json_edits(formatting_on_type(view.module, offset, _style(params.options)))


def _style(options: types.FormattingOptions) -> Style:
    return Style(indent=max(1, options.tab_size), use_tabs=not options.insert_spaces)
