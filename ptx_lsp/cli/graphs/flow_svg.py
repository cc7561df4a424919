"""A control flow graph as a picture: SVG, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from ptx_lsp.ide.panels.flow_groups import flow_view
from ptx_lsp.ide.panels.flow_picture import LINE, PADDING, Box, picture
from ptx_lsp.ide.panels.layered_layout import Point
from ptx_lsp.lint.results.details import Flow, FlowBlock, FlowEdge

STYLE: Final = """\
.flow { --ink: #1f2328; --paper: #ffffff; --line: #8c959f; --jump: #0969da; --split: #bc4c00;
  --warm: #fff1e5; font: 12px ui-monospace, monospace }
@media (prefers-color-scheme: dark) { .flow { --ink: #e6edf3; --paper: #0d1117; --line: #7d8590;
  --jump: #58a6ff; --split: #f0883e; --warm: #3d1d00 } }
.flow text { fill: var(--ink) } .flow .title { font-weight: bold } .flow .note { fill: var(--split) }
.flow rect { fill: var(--paper); stroke: var(--line) }
.flow .divergent rect { fill: var(--warm); stroke: var(--split); stroke-width: 2 }
.flow .unknown rect { stroke: var(--split); stroke-dasharray: 5 3 }
.flow .unreached { opacity: .5 } .flow .unreached rect { stroke-dasharray: 2 3 }
.flow path { fill: none; stroke: var(--line); stroke-width: 1.3 }
.flow path.taken { stroke: var(--jump) } .flow path.unsure { stroke-dasharray: 2 3 }
.flow .head { fill: var(--line); stroke: none } .flow .head.taken { fill: var(--jump) }
.flow text.way { font-size: 10px }
"""


def flow_svg(flow: Flow, style: str = STYLE) -> Iterator[str]:
    """The lines of the picture; `style` is omitted if the surrounding page has it. Raises TooLargeError."""
    drawing = picture(flow_view(flow))
    width, height = round(drawing.width), round(drawing.height)
    name = escape(f"Control flow of {flow.name}")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flow" role="img" aria-label="{name}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    )
    yield f"<title>{name}</title>"
    if style:
        yield f"<style>{style}</style>"
    for edge, points in zip(flow.edges, drawing.paths, strict=True):
        yield from _edge(edge, points)
    for block, box in zip(flow.blocks, drawing.boxes, strict=True):
        yield from _box(block, box)
    yield "</svg>"


def _box(block: FlowBlock, box: Box) -> Iterator[str]:
    x, y = box.x, box.y
    kind = block.turn if block.is_reached else "unreached"
    yield f'<g class="{kind}"><rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '\
        f'height="{box.height:.1f}" rx="4"/>'
    for number, line in enumerate(box.lines):
        role = ' class="title"' if not number else ' class="note"' if line.startswith("[") else ""
        base = y + PADDING + LINE * number + 9
        yield f'<text x="{x + PADDING:.1f}" y="{base:.1f}"{role}>{escape(line)}</text>'
    yield "</g>"


def _edge(edge: FlowEdge, points: Sequence[Point]) -> Iterator[str]:
    kind = edge.kind + ("" if edge.is_known else " unsure")
    way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<path class="{kind}" d="M{way}"/>'
    x, y = points[-1]
    yield f'<path class="head {kind}" d="M{x:.1f},{y:.1f} l-4,-7 h8 z"/>'
    if edge.condition:
        x, y = points[0]
        yield f'<text class="way" x="{x + 3:.1f}" y="{y + 10:.1f}">{escape(edge.condition)}</text>'
