"""The request for the control flow graph of a kernel, with its layout (docs/protocol.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.ide.cursor.uniformity_text import branch_uniformity
from ptx_lsp.ide.panels.flow_groups import (
    Collapse,
    FlowBox,
    FlowView,
    Group,
    collapsed_groups,
    flow_view,
    groups_of,
)
from ptx_lsp.ide.panels.flow_picture import Box, Picture, box_name, box_turn, picture
from ptx_lsp.ide.panels.layered_layout import TooLargeError
from ptx_lsp.lint.results.details import Flow, FlowBlock, FlowEdge
from ptx_lsp.lint.results.flow import flow
from ptx_lsp.model.function import Function
from ptx_lsp.server.feature import panel
from ptx_lsp.server.features.panels import chosen
from ptx_lsp.server.json import Json, at, number, text, texts
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import View
from ptx_lsp.text import Span

_MOST_REASONS = 8


@panel("ptx/controlFlow")
def control_flow(view: View, asked: object) -> Json:
    """The control flow graph of a kernel or function; null if there is none."""
    function = chosen(view, asked)
    if function is None:
        return None
    found = flow(function)
    groups = groups_of(found)
    line = number(at(asked, "line"))
    collapsed = collapsed_groups(found, groups, _collapse(asked), line + 1 if line is not None else None)
    collapsed ^= _toggled(asked) & {group.key for group in groups}
    shown = flow_view(found, groups, collapsed)
    try:
        drawn = picture(shown)
    except TooLargeError as error:
        raise RequestFailedError(
            f"the control flow of `{function.name}` is too large to draw: {error}"
        ) from error
    turns = Counter(block.turn for block in found.blocks)
    return {
        "kernel": function.name,
        "displayName": view.display_name(function.name),
        "width": drawn.width,
        "height": drawn.height,
        "count": len(found.blocks) - 1,
        "branches": {name: turns[name] for name in ("uniform", "divergent", "unknown")},
        "groups": [_group(one, found, collapsed) for one in groups],
        "blocks": [
            _box(view, function, box, place) for box, place in zip(shown.boxes, drawn.boxes, strict=True)
        ],
        "edges": list(_edges(shown, drawn)),
    }


def _collapse(asked: object) -> Collapse:
    match text(at(asked, "collapse")):
        case "auto":
            return "auto"
        case "all":
            return "all"
        case _:
            return "none"


def _toggled(asked: object) -> set[str]:
    return set(texts(at(asked, "toggled"), ()))


def _group(group: Group, flow: Flow, collapsed: frozenset[str]) -> Json:
    return {
        "key": group.key,
        "kind": group.kind,
        "block": group.blocks[0],
        "count": len(group.blocks),
        "isCollapsed": group.key in collapsed,
    }


def _box(view: View, function: Function, box: FlowBox, place: Box) -> Json:
    turn = box_turn(box)
    return {
        "id": box.blocks[0].number,
        "label": box_name(box),
        "range": view.convert.json_range(_span(view, box.blocks[0])),
        "lineRanges": list[Json](_line_ranges(box)),
        "lines": list[Json](place.lines),
        "x": place.x,
        "y": place.y,
        "width": place.width,
        "height": place.height,
        "branch": None if turn == "none" else turn,
        "reasons": list[Json](_reasons(function, box)),
        "group": box.group.key if box.group is not None else None,
    }


def _line_ranges(box: FlowBox) -> Iterator[list[Json]]:
    """The first and last line of each block, counted from 0."""
    for block in box.blocks:
        if block.first_line:
            yield [block.first_line - 1, block.last_line - 1]


def _edges(view: FlowView, drawn: Picture) -> Iterator[Json]:
    number_of = [box.blocks[0].number for box in view.boxes]
    for edge, points in zip(view.edges, drawn.paths, strict=True):
        yield {
            "from": number_of[edge.source],
            "to": number_of[edge.target],
            "kind": _kind(edge),
            "condition": edge.condition,
            "points": [list[Json](point) for point in points],
        }


def _reasons(function: Function, box: FlowBox) -> list[str]:
    """The reasons for the uniformity of its branches."""
    found: dict[str, None] = {}
    steps = instructions(function).instructions
    for block in box.blocks:
        if block.turn != "none" and block.turn == box_turn(box) and len(found) < _MOST_REASONS:
            found.update(dict.fromkeys(branch_uniformity(function, steps[block.end - 1].node)))
    return list(found)[:_MOST_REASONS]


def _kind(edge: FlowEdge) -> str:
    if not edge.is_known:
        return "indirect"
    return "fallthrough" if edge.kind == "next" else "taken"


def _span(view: View, block: FlowBlock) -> Span:
    """The lines of a block; empty for the exit block."""
    source = view.module.document.source
    if not block.first_line:
        return Span(0, 0)
    return Span(source.line_span(block.first_line - 1).start, source.line_span(block.last_line - 1).end)
