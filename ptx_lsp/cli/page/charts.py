"""Charts as SVG: a curve or bars over a number, with the relevant point marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from math import floor, log10
from typing import Final

from ptx_lsp.named_tuple import NamedTuple

_LEFT: Final = 40
_RIGHT: Final = 14
_TOP: Final = 36
_BOTTOM: Final = 36
_MOST_POINTS: Final = 1200


class Marked(NamedTuple):
    """A marked point of a chart, and its text."""

    x: float
    y: float
    text: str


class Chart(NamedTuple):
    """`points` have increasing x; `top` is the highest y to fit; y begins at 0."""

    title: str
    x_name: str
    y_name: str
    points: Sequence[tuple[float, float]]
    top: float
    marked: Marked | None = None
    width: int = 360
    height: int = 214
    bars: bool = False
    x_text: Callable[[float], str] = "{:g}".format


def chart(wanted: Chart) -> Iterator[str]:
    """The lines of the picture."""
    scale = _Scale(wanted)
    label = escape(f"{wanted.title}. {wanted.marked.text}" if wanted.marked else wanted.title)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="{label}" '
        f'viewBox="0 0 {wanted.width} {wanted.height}"><title>{label}</title>'
    )
    yield from _axes(wanted, scale)
    yield from _bars(wanted, scale) if wanted.bars else _curve(wanted, scale)
    if wanted.marked is not None:
        yield from _marked(wanted.marked, scale, wanted)
    yield "</svg>"


class _Scale:
    def __init__(self, wanted: Chart) -> None:
        xs = [x for x, _ in wanted.points] or [0.0]
        self.low, self.high = min(xs), max(xs)
        if wanted.marked is not None:
            self.high = max(self.high, wanted.marked.x)
        if wanted.bars:
            self.low = 0.0
        self.step = _round_step(wanted.top)
        self.top = self.step * max(1, -(-wanted.top // self.step))
        self.right = wanted.width - _RIGHT
        self.bottom = wanted.height - _BOTTOM

    def x(self, value: float) -> float:
        return _LEFT + (self.right - _LEFT) * (value - self.low) / ((self.high - self.low) or 1)

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - _TOP) * value / self.top


def _round_step(top: float) -> float:
    """A round number of which four or so make `top`."""
    rough = max(top, 1) / 4
    power = 10 ** floor(log10(rough))
    found = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return max(1, found)


def _axes(wanted: Chart, scale: _Scale) -> Iterator[str]:
    value = 0.0
    while value <= scale.top:
        y = scale.y(value)
        yield f'<line class="grid" x1="{_LEFT}" x2="{scale.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
        value += scale.step
    yield f'<text x="4" y="12" text-anchor="start">{escape(wanted.y_name)}</text>'
    for tick in _ticks(scale.low, scale.high, 4 if wanted.width < 600 else 8):
        at = escape(wanted.x_text(tick))
        yield f'<text x="{scale.x(tick):.1f}" y="{scale.bottom + 15}" text-anchor="middle">{at}</text>'
    yield (
        f'<text x="{scale.right}" y="{scale.bottom + 30}" text-anchor="end">'
        f"{escape(wanted.x_name)}</text>"
    )


def _ticks(low: float, high: float, count: int) -> Iterator[float]:
    rough = max(1.0, (high - low) / count)
    power = 2.0 ** floor(log10(rough) / log10(2)) if high % 32 == 0 else 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    tick = step * -(-low // step)
    while tick <= high:
        yield tick
        tick += step


def _bars(wanted: Chart, scale: _Scale) -> Iterator[str]:
    width = (scale.right - _LEFT) / max(1, len(wanted.points)) * 0.7
    for x, y in wanted.points:
        here = wanted.marked is not None and wanted.marked.x == x
        left, top = scale.x(x) - width, scale.y(y)
        told = escape(f"{wanted.x_text(x)} {wanted.x_name}: {y:.4g} {wanted.y_name}")
        yield (
            f'<rect class="bar{" here" * here}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{scale.bottom - top:.1f}"><title>{told}</title></rect>'
        )


def _curve(wanted: Chart, scale: _Scale) -> Iterator[str]:
    """A step function, as all of these curves are."""
    bends: list[tuple[float, float]] = []
    for x, y in _fewer(wanted.points):
        if bends:
            if bends[-1][1] == y:
                continue
            bends.append((x, bends[-1][1]))
        bends.append((x, y))
    if not bends:
        return
    bends.append((wanted.points[-1][0], wanted.points[-1][1]))
    way = " ".join(f"{scale.x(x):.1f},{scale.y(y):.1f}" for x, y in bends)
    first, last = scale.x(bends[0][0]), scale.x(bends[-1][0])
    bottom = scale.bottom
    yield f'<path class="under" d="M{first:.1f},{bottom} L{way} L{last:.1f},{bottom} z"/>'
    yield f'<polyline class="curve" points="{way}"/>'


def _fewer(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """As many as can be seen: of each run of points the highest."""
    together = -(-len(points) // _MOST_POINTS) or 1
    for start in range(0, len(points), together):
        run = points[start : start + together]
        yield run[0][0], max(y for _, y in run)


def _marked(marked: Marked, scale: _Scale, wanted: Chart) -> Iterator[str]:
    x, y = scale.x(marked.x), scale.y(marked.y)
    if not wanted.bars:
        yield f'<line class="here" x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{scale.bottom}"/>'
        yield f'<circle class="here" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    is_right = x > (_LEFT + scale.right) / 2
    anchor, shift = ("end", -7) if is_right else ("start", 7)
    if wanted.bars:
        anchor, shift = ("end", 0) if is_right else ("start", 0)
    yield (
        f'<text class="here" x="{x + shift:.1f}" y="{y - 7:.1f}" text-anchor="{anchor}">'
        f"{escape(marked.text)}</text>"
    )
