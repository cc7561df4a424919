"""A control flow graph as boxes of text and connecting lines, for pages and panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ptx_lsp.ide.panels.layered_layout import Point, layered_layout
from ptx_lsp.lint.results.details import Flow, FlowBlock, Turn
from ptx_lsp.named_tuple import NamedTuple

MOST_OPCODES: Final = 6
_LETTER: Final = 7.3
LINE: Final = 16
PADDING: Final = 8
_LONGEST: Final = 44
_TURNS: Final[dict[Turn, str]] = {"divergent": "divergent", "unknown": "may diverge"}


class Box(NamedTuple):
    """One block, in pixels: its upper left corner, its size, and its text."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


class Picture(NamedTuple):
    """Boxes and the bends of edges, in the orders of the blocks and edges of the flow."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    paths: tuple[tuple[Point, ...], ...]


def picture(flow: Flow) -> Picture:
    """The positions of all elements. Raises TooLargeError."""
    texts = [tuple([_cut(line) for line in block_text(one, len(flow.blocks))]) for one in flow.blocks]
    sizes = [_size(lines) for lines in texts]
    edges = [(edge.source, edge.target) for edge in flow.edges]
    drawn = layered_layout(sizes, edges, flow.order)
    boxes = tuple(
        [
            Box(x, y, width, height, lines)
            for (x, y), (width, height), lines in zip(drawn.boxes, sizes, texts, strict=True)
        ]
    )
    return Picture(drawn.width, drawn.height, boxes, drawn.paths)


def block_name(block: FlowBlock, count: int) -> str:
    """The name of a block for users: its number, or the exit, which is the last of `count`."""
    return f"block {block.number}" if block.number < count - 1 else "exit"


def block_text(block: FlowBlock, count: int) -> list[str]:
    """The lines of a box: name, place, the first and last opcodes, and how control leaves it."""
    lines = [" ".join((block_name(block, count), *block.labels))]
    if not block.opcodes:
        return lines
    if block.first_line == block.last_line:
        lines[0] += f", line {block.first_line}"
    else:
        lines[0] += f", lines {block.first_line}-{block.last_line}"
    if not block.is_reached:
        lines.append("unreachable")
    half = MOST_OPCODES // 2
    more = len(block.opcodes) - 2 * half
    if more > 1:
        lines += [*block.opcodes[:half], f"... {more} more", *block.opcodes[-half:]]
    else:
        lines += block.opcodes
    if block.turn in _TURNS:
        lines.append(f"[{_TURNS[block.turn]}]")
    return lines


def _size(lines: Sequence[str]) -> tuple[float, float]:
    letters = max(map(len, lines))
    return letters * _LETTER + 2 * PADDING, len(lines) * LINE + 2 * PADDING - 4


def _cut(text: str) -> str:
    """Shortens names of any length and characters; the file has the full name."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
