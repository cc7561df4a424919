"""A control flow graph as boxes of text and connecting lines, for pages and panels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from ptx_lsp.ide.panels.flow_groups import FlowBox, FlowView
from ptx_lsp.ide.panels.layered_layout import Point, layered_layout
from ptx_lsp.lint.results.details import MOST_SHOWN, Turn
from ptx_lsp.named_tuple import NamedTuple

_LETTER: Final = 7.3
LINE: Final = 16
PADDING: Final = 8
_LONGEST: Final = 60
_FROM_GOOD_TO_BAD: Final[tuple[Turn, ...]] = ("none", "uniform", "unknown", "divergent")
_TURNS: Final[dict[Turn, str]] = {"divergent": "divergent", "unknown": "may diverge"}


class Box(NamedTuple):
    """One box, in pixels: its upper left corner, its size, and its text."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


class Picture(NamedTuple):
    """Boxes and the bends of edges, in the orders of the boxes and edges of the view."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    paths: tuple[tuple[Point, ...], ...]


def picture(view: FlowView) -> Picture:
    """The positions of all elements. Raises TooLargeError."""
    texts = [tuple([_cut(line) for line in box_text(box)]) for box in view.boxes]
    sizes = [_size(lines) for lines in texts]
    edges = [(edge.source, edge.target) for edge in view.edges]
    drawn = layered_layout(sizes, edges, view.order)
    boxes = tuple(
        [
            Box(x, y, width, height, lines)
            for (x, y), (width, height), lines in zip(drawn.boxes, sizes, texts, strict=True)
        ]
    )
    return Picture(drawn.width, drawn.height, boxes, drawn.paths)


def box_name(box: FlowBox) -> str:
    """The name of a box for users: the number of its block or the group, and its labels."""
    first = box.blocks[0]
    name = f"block {first.number}" if first.end > first.first else "exit"
    if box.group is not None:
        numbers = [block.number for block in box.blocks]
        is_range = numbers == list(range(numbers[0], numbers[-1] + 1))
        if box.group.kind == "loop":
            name = f"loop at {name}"
        else:
            name = f"blocks {numbers[0]}-{numbers[-1]}" if is_range else f"{len(numbers)} blocks from {name}"
    return " ".join((name, *first.labels))


def box_turn(box: FlowBox) -> Turn:
    """The worst uniformity of its branches."""
    return _FROM_GOOD_TO_BAD[max(_FROM_GOOD_TO_BAD.index(block.turn) for block in box.blocks)]


def box_text(box: FlowBox) -> list[str]:
    """The lines of a box: name, place, the first and last instructions, and how control leaves it."""
    name = box_name(box)
    if name == "exit":
        return [name]
    lines = [f"{name}, {_place(box)}"]
    if not box.blocks[0].is_reached:
        lines.append("unreachable")
    if box.group is not None and box.group.kind != "run":
        return [*lines, *_summary(box)]
    lines += _instructions(box)
    if box_turn(box) in _TURNS:
        lines.append(f"[{_TURNS[box_turn(box)]}]")
    return lines


def _place(box: FlowBox) -> str:
    first = min(block.first_line for block in box.blocks)
    last = max(block.last_line for block in box.blocks)
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _instructions(box: FlowBox) -> Iterator[str]:
    texts = [text for block in box.blocks for text in block.instructions]
    count = sum(block.end - block.first for block in box.blocks)
    half = MOST_SHOWN // 2
    omitted = count - 2 * half
    if omitted > 1:
        yield from texts[:half]
        yield f"... {omitted} more"
        yield from texts[-half:]
    else:
        yield from texts


def _summary(box: FlowBox) -> Iterator[str]:
    """What a collapsed loop or short branches contain."""
    inner = sum(block.is_loop_head for block in box.blocks[1:])
    count = sum(block.end - block.first for block in box.blocks)
    parts = [f"{len(box.blocks)} blocks", f"{count} instructions"]
    if inner > 0:
        parts.append(f"{inner} inner loop{'s' if inner > 1 else ''}")
    yield ", ".join(parts)
    turns = Counter(block.turn for block in box.blocks)
    shown = [f"{turns[turn]} {word}" for turn, word in _TURNS.items() if turns[turn]]
    if shown:
        yield f"[{', '.join(shown)}]"


def _size(lines: Sequence[str]) -> tuple[float, float]:
    letters = max(map(len, lines))
    return letters * _LETTER + 2 * PADDING, len(lines) * LINE + 2 * PADDING - 4


def _cut(text: str) -> str:
    """Shortens names of any length and characters; the file has the full name."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
