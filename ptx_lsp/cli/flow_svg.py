"""A control flow graph as a picture: SVG, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from ptx_lsp.cli.flow_dot import told
from ptx_lsp.cli.layered import Point, layered
from ptx_lsp.lint.details import Flow, FlowBlock, FlowEdge

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
_LETTER: Final = 7.3
_LINE: Final = 16
_PADDING: Final = 8
_LONGEST: Final = 44


def flow_svg(flow: Flow, style: str = STYLE) -> Iterator[str]:
    """The lines of the picture; `style` is left out where the page around it has it. Raises TooLargeError."""
    texts = [[_cut(line) for line in told(block, len(flow.blocks))] for block in flow.blocks]
    sizes = [_size(lines) for lines in texts]
    drawing = layered(sizes, [(edge.source, edge.target) for edge in flow.edges], flow.order)
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
    for block, corner, size, lines in zip(flow.blocks, drawing.boxes, sizes, texts, strict=True):
        yield from _box(block, corner, size, lines)
    yield "</svg>"


def _size(lines: Sequence[str]) -> tuple[float, float]:
    letters = max(map(len, lines))
    return letters * _LETTER + 2 * _PADDING, len(lines) * _LINE + 2 * _PADDING - 4


def _box(
    block: FlowBlock, corner: Point, size: tuple[float, float], lines: Sequence[str]
) -> Iterator[str]:
    x, y = corner
    kind = block.turn if block.is_reached else "unreached"
    yield f'<g class="{kind}"><rect x="{x:.1f}" y="{y:.1f}" width="{size[0]:.1f}" '\
        f'height="{size[1]:.1f}" rx="4"/>'
    for number, line in enumerate(lines):
        role = ' class="title"' if not number else ' class="note"' if line.startswith("[") else ""
        base = y + _PADDING + _LINE * number + 9
        yield f'<text x="{x + _PADDING:.1f}" y="{base:.1f}"{role}>{escape(line)}</text>'
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


def _cut(text: str) -> str:
    """Names of any length and characters; the file tells them whole."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
