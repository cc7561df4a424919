"""Text between the lines: inlay hints, code lenses, and values while debugging."""

from __future__ import annotations

from typing import cast

from lsprotocol import types

from ptx_lsp.ide.annotations.code_lenses import Lens, LensSort, code_lenses, title
from ptx_lsp.ide.annotations.inlay_hints import HintSort, InlayHint, Shown, inlay_hints
from ptx_lsp.ide.annotations.inline_values import inline_values
from ptx_lsp.server.client import Client
from ptx_lsp.server.feature import answer, handler
from ptx_lsp.server.json import Json, at, number, text
from ptx_lsp.server.session import Session, View
from ptx_lsp.text import Span

_KINDS: dict[HintSort, types.InlayHintKind | None] = {
    "pressure": None,
    "type": types.InlayHintKind.Type,
    "literal": types.InlayHintKind.Parameter,
}
_OCCUPANCY = "ptx.occupancy"
"""The client command for a click on the metrics of a kernel, if the client supports it."""
_PREVIEW = "ptx.preview"
"""The client command for a click on a launch."""
_DEBUG = "ptx.debug"
"""The client command that debugs a launch; without it there is no lens for that."""
_SORTS: tuple[LensSort, ...] = ("figures", "references", "preview", "debug")


@answer(types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintOptions())
def on_inlay_hint(view: View, params: types.InlayHintParams) -> list[types.InlayHint]:
    wanted = view.settings.settings
    shown = Shown(
        wanted.live_registers, "different" if wanted.types else "off", wanted.literals
    )
    found = inlay_hints(view.module, view.convert.span(params.range), shown)
    return [_hint(view, one) for one in found]


def _hint(view: View, found: InlayHint) -> types.InlayHint:
    return types.InlayHint(
        view.convert.position(found.offset),
        found.text,
        _KINDS[found.sort],
        tooltip=found.tooltip or None,
        padding_left=True,
    )


@answer(types.TEXT_DOCUMENT_INLINE_VALUE)
def on_inline_value(view: View, params: types.InlineValueParams) -> list[types.InlineValue]:
    """The client asks its debug adapter for the values."""
    stopped = view.convert.offset(params.context.stopped_location.start)
    found = inline_values(view.module, view.convert.span(params.range), stopped)
    return [
        types.InlineValueVariableLookup(view.convert.range(one.span), True, one.name) for one in found
    ]


@answer(types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensOptions(resolve_provider=True))
def on_code_lens(view: View, _: types.CodeLensParams) -> list[types.CodeLens]:
    """The title of a lens needs an analysis, so it is computed when the lens becomes visible."""
    if not view.settings.settings.code_lens or view.snapshot.is_skeleton:
        return []
    return [
        types.CodeLens(
            view.convert.range(one.span),
            data={"uri": view.file.uri, "sort": one.sort, "name": one.name, "line": one.line},
        )
        for one in code_lenses(view.module) if one.sort != "debug" or _DEBUG in view.client.commands
    ]


@handler(types.CODE_LENS_RESOLVE)
async def on_code_lens_resolve(session: Session, lens: types.CodeLens) -> types.CodeLens:
    data = cast(object, lens.data)
    uri, name, sort = (text(at(data, key)) or "" for key in ("uri", "name", "sort"))
    view = await session.view(uri)
    told = "" if view is None else await session.threads.answer(_title, view, name, sort)
    line = number(at(data, "line"))
    argument: dict[str, Json] = {"uri": uri, "kernel": name}
    lens.command = _command(session.client, told, argument | ({"launchComment": line} if line else {}), sort)
    return lens


def _title(view: View, name: str, sort: str) -> str:
    known: LensSort | None = next((one for one in _SORTS if one == sort), None)
    if known is None:
        return ""
    told = title(view.module, Lens(Span(0, 0), known, name), view.known)
    shown = view.display_names([name]).get(name) if known in ("figures", "references") else None
    return f"{shown} | {told}" if shown and told else told


def _command(client: Client, told: str, argument: Json, sort: str) -> types.Command:
    """Without a command, a lens is only shown."""
    command = {"figures": _OCCUPANCY, "preview": _PREVIEW, "debug": _DEBUG}.get(sort)
    if command is not None and command in client.commands:
        return types.Command(told, command, arguments=[argument])
    return types.Command(told, "")
