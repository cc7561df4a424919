"""Layout of a directed graph: boxes in layers from top to bottom, edges of straight pieces.

1. A box is one layer below its lowest predecessor. Edges against the given order run upwards beside the boxes
   and are ignored for this.
2. An edge that crosses layers gets a narrow place in each of them, so that no box covers it.
3. Within a layer, the places are repeatedly ordered by the mean of their neighbours above, then below. Their
   coordinates are as close to that mean as the order and the widths allow.
4. Between two layers, edges that would touch each other get separate tracks.

After Sugiyama, Tagawa and Toda, "Methods for Visual Understanding of Hierarchical System Structures" (1981).
Coordinates are pixels, downwards and to the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from ptx_lsp.named_tuple import NamedTuple

Point = tuple[float, float]

_GAP: Final = 28.0
"""The gap between adjacent boxes."""
_LANE: Final = 12.0
"""The width of the place of an edge in a layer."""
_TRACK: Final = 9.0
_MARGIN: Final = 14.0
_BELOW_BOX: Final = 6.0
"""The space beside the first track, for the conditions."""
_SWEEPS: Final = 8
_STRAIGHT: Final = 4.0
"""The weight that keeps long edges straight."""
MOST_PLACES: Final = 40_000


class Layout(NamedTuple):
    """The upper left corners of the boxes and the bends of the edges, in the given orders."""

    width: float
    height: float
    boxes: tuple[Point, ...]
    paths: tuple[tuple[Point, ...], ...]


class TooLargeError(Exception):
    """The graph has too many boxes and bends to be readable."""


def layered_layout(
    sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]], order: Sequence[int]
) -> Layout:
    """Lays out boxes of the widths and heights `sizes`. `order` has each of them once; edges in that order
    run downwards. Raises TooLargeError beyond `MOST_PLACES`.
    """
    drawing = _Drawing(sizes, edges, order)
    drawing.sort()
    drawing.spread()
    return drawing.drawn()


class _Drawing:
    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        edges: Sequence[tuple[int, int]],
        order: Sequence[int],
    ) -> None:
        self.count = len(sizes)
        self.sizes = list(sizes)
        """The sizes of the boxes, then of the places of edges, which have no height."""
        self.edges = edges
        self.layer = _layers(edges, order)
        self.chains: list[list[int]] = []
        """The places of each edge, from top to bottom; its ends are included if it runs down."""
        position = {box: float(index) for index, box in enumerate(order)}
        self.first = [position[box] for box in range(len(sizes))]
        for source, target in edges:
            self.chains.append(self.chain(source, target))
        self.above: list[list[int]] = [[] for _ in self.sizes]
        self.below: list[list[int]] = [[] for _ in self.sizes]
        for chain in self.chains:
            for upper, lower in pairwise(chain):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
        for (source, target), chain in zip(edges, self.chains, strict=True):
            if chain[0] != source:  # beside its boxes
                self.above[chain[0]].append(target)
                self.below[chain[-1]].append(source)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer, default=0) + 1)]
        for place in sorted(range(len(self.sizes)), key=lambda place: self.first[place]):
            self.rows[self.layer[place]].append(place)
        self.middle = [0.0] * len(self.sizes)

    def chain(self, source: int, target: int) -> list[int]:
        top, bottom = self.layer[source], self.layer[target]
        if top < bottom:
            passed = [self.lane(layer, self.first[target]) for layer in range(top + 1, bottom)]
            return [source, *passed, target]
        beside = max(self.first[source], self.first[target]) + 0.5
        return [self.lane(layer, beside) for layer in range(bottom, top + 1)]

    def lane(self, layer: int, first: float) -> int:
        if len(self.sizes) >= MOST_PLACES:
            raise TooLargeError(f"more than {MOST_PLACES} boxes and bends")
        self.sizes.append((_LANE, 0.0))
        self.layer.append(layer)
        self.first.append(first)
        return len(self.sizes) - 1

    def sort(self) -> None:
        """Item 3, the order."""
        index = [0.0] * len(self.sizes)
        for row in self.rows:
            for at, place in enumerate(row):
                index[place] = at
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for row in self.rows if down else reversed(self.rows):
                keys = {place: _mean(index, neighbours[place], index[place]) for place in row}
                row.sort(key=lambda place: keys[place])
                for at, place in enumerate(row):
                    index[place] = at

    def spread(self) -> None:
        """Item 3, the coordinates."""
        for row in self.rows:
            self.place(row, [0.0] * len(row), [1.0] * len(row))
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for row in self.rows if down else reversed(self.rows):
                wanted = [_mean(self.middle, neighbours[one], self.middle[one]) for one in row]
                weights = [_STRAIGHT if self.is_within(one) else 1.0 for one in row]
                self.place(row, wanted, weights)
        halves = [width / 2 for width, _ in self.sizes]
        left = min((m - half for m, half in zip(self.middle, halves, strict=True)), default=0)
        self.middle = [middle - left + _MARGIN for middle in self.middle]

    def is_within(self, place: int) -> bool:
        """Whether an edge passes there and through the adjacent layers."""
        return place >= self.count and all(
            near >= self.count for near in (*self.above[place], *self.below[place])
        )

    def place(self, row: Sequence[int], wanted: Sequence[float], weights: Sequence[float]) -> None:
        """Places a row as close to `wanted` as its widths allow: least squares under an order."""
        offsets = [0.0]
        for left, right in pairwise(row):
            lanes = not self.sizes[left][1] and not self.sizes[right][1]
            apart = (self.sizes[left][0] + self.sizes[right][0]) / 2 + (0 if lanes else _GAP)
            offsets.append(offsets[-1] + apart)
        free = [want - offset for want, offset in zip(wanted, offsets, strict=False)]
        for one, middle, offset in zip(row, _rising(free, weights), offsets, strict=False):
            self.middle[one] = middle + offset

    def drawn(self) -> Layout:
        ports = _Ports(self)
        bends: list[list[tuple[int, float, float]]] = [[] for _ in range(len(self.rows) + 1)]
        """In each gap (the one above layer 0 first): the edge, its start and its end."""
        steps = [ports.steps(edge) for edge in range(len(self.edges))]
        for edge, crossings in enumerate(steps):
            for gap, start, end in crossings:
                bends[gap].append((edge, start, end))
        tracks = [_tracks(crossing) for crossing in bends]
        tops, gaps, height = self.heights(tracks)
        paths: list[tuple[Point, ...]] = []
        for edge, (source, target) in enumerate(self.edges):
            points = [(steps[edge][0][1], tops[self.layer[source]] + self.sizes[source][1])]
            for gap, start, end in steps[edge]:
                if start != end:
                    y = gaps[gap] + _BELOW_BOX + _TRACK * (1 + tracks[gap].get((edge, start, end), 0))
                    points += [(start, y), (end, y)]
            points.append((steps[edge][-1][2], tops[self.layer[target]]))
            paths.append(tuple(points))
        boxes = [
            (self.middle[box] - self.sizes[box][0] / 2, tops[self.layer[box]])
            for box in range(self.count)
        ]
        right = max((self.middle[one] + size[0] / 2 for one, size in enumerate(self.sizes)), default=0)
        return Layout(right + _MARGIN, height, tuple(boxes), tuple(paths))

    def heights(
        self, tracks: Sequence[dict[tuple[int, float, float], int]]
    ) -> tuple[list[float], list[float], float]:
        """The start of each layer and gap, and the total height."""
        tops: list[float] = []
        gaps: list[float] = []
        y = 0.0
        for gap, used in enumerate(tracks):
            gaps.append(y)
            most = max(used.values(), default=-1) + 1
            outer = gap in (0, len(self.rows))
            y += _BELOW_BOX + _TRACK * (most + 1) + (_MARGIN if outer else _GAP)
            if gap < len(self.rows):
                tops.append(y)
                y += max((self.sizes[one][1] for one in self.rows[gap]), default=0)
        return tops, gaps, y


class _Ports:
    """The points where edges leave and reach boxes: side by side, ordered by the other end."""

    def __init__(self, drawing: _Drawing) -> None:
        self.drawing = drawing
        middle = drawing.middle
        leaving: list[list[tuple[float, int]]] = [[] for _ in drawing.sizes]
        coming: list[list[tuple[float, int]]] = [[] for _ in drawing.sizes]
        for edge, (source, target) in enumerate(drawing.edges):
            chain = drawing.chains[edge]
            down = chain[0] == source
            leaving[source].append((middle[chain[1] if down else chain[-1]], edge))
            coming[target].append((middle[chain[-2] if down else chain[0]], edge))
        self.out: dict[int, float] = {}
        self.into: dict[int, float] = {}
        for ends, found in ((leaving, self.out), (coming, self.into)):
            for box, edges in enumerate(ends):
                width = drawing.sizes[box][0]
                for index, (_, edge) in enumerate(sorted(edges)):
                    share = (index + 1) / (len(edges) + 1)
                    found[edge] = middle[box] - width / 2 + width * share

    def steps(self, edge: int) -> list[tuple[int, float, float]]:
        """The gaps that an edge crosses, with its entry and exit points; gap n is above layer n."""
        drawing = self.drawing
        source, target = drawing.edges[edge]
        chain = drawing.chains[edge]
        out, into = self.out[edge], self.into[edge]
        if chain[0] == source:
            places = [out, *(drawing.middle[one] for one in chain[1:-1]), into]
            first = drawing.layer[source] + 1
            return [(first + index, *ends) for index, ends in enumerate(pairwise(places))]
        places = [drawing.middle[one] for one in reversed(chain)]
        bottom = drawing.layer[source]
        passed = [(bottom - index, *ends) for index, ends in enumerate(pairwise(places))]
        return [(bottom + 1, out, places[0]), *passed, (drawing.layer[target], places[-1], into)]


def _layers(edges: Sequence[tuple[int, int]], order: Sequence[int]) -> list[int]:
    """Sentence 1."""
    position = {box: index for index, box in enumerate(order)}
    below: list[list[int]] = [[] for _ in order]
    for source, target in edges:
        if position[source] < position[target]:
            below[source].append(target)
    layer = [0] * len(order)
    for box in order:
        for target in below[box]:
            layer[target] = max(layer[target], layer[box] + 1)
    return layer


def _mean(values: Sequence[float], places: Sequence[int], otherwise: float) -> float:
    return sum(values[place] for place in places) / len(places) if places else otherwise


def _rising(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The numbers nearest to `wanted` of which none is less than the one before (pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    for want, weight in zip(wanted, weights, strict=True):
        count = 1
        while pools and pools[-1][0] > want:
            mean, heavy, more = pools.pop()
            want = (mean * heavy + want * weight) / (heavy + weight)
            weight += heavy
            count += more
        pools.append((want, weight, count))
    return [mean for mean, _, count in pools for _ in range(count)]


def _tracks(
    crossings: Sequence[tuple[int, float, float]],
) -> dict[tuple[int, float, float], int]:
    """Sentence 4: the first free track for each, the shortest first."""
    found: dict[tuple[int, float, float], int] = {}
    taken: list[list[tuple[float, float]]] = []
    for crossing in sorted(crossings, key=lambda one: abs(one[1] - one[2])):
        _, start, end = crossing
        if start == end:
            continue
        low, high = min(start, end) - 2, max(start, end) + 2
        free = (
            number
            for number, track in enumerate(taken)
            if all(high < left or right < low for left, right in track)
        )
        track = next(free, len(taken))
        if track == len(taken):
            taken.append([])
        taken[track].append((low, high))
        found[crossing] = track
    return found
