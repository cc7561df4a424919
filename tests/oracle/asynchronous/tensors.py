"""Kernels for copies of boxes of tensors, and for changes to tensor maps.

Where the elements of a box lie is written here a second time, element by element, from PTX ISA, "Tensors".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from tests.oracle.asynchronous.kernel import MEET, File, Kernel, wait

LOAD = "cp.async.bulk.tensor.{}d.{}.global.{}.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group"
DONE = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], {};"


def files() -> Iterator[File]:
    yield File(
        "async_tensor", "boxes of tensors", "8.6", "sm_90a",
        [*_tiles(), *_columns(), _several(), *_stores(), _hints()],
    )
    yield File("async_tensor_reduce", "reductions of boxes of tensors", "8.3", "sm_90a", list(_reductions()))
    yield File(
        "async_tensor_rows", "four rows of a tensor, pairs of blocks, swizzling by more than 16 bytes", "8.6",
        "sm_100a", [_gather(), _scatter(), _scatter_add(), _pair(), _pairs(), *_swizzles(_ATOMS)],
    )


# -- tensors, element by element ----------------------------------------------------------------


@dataclass(frozen=True)
class Tensor:
    """Words in one piece; `sizes` are those of its dimensions, the innermost first, as PTX has them."""

    sizes: tuple[int, ...]
    words: list[int]

    def place(self, index: Sequence[int]) -> int | None:
        """Where the element with these coordinates lies; None for one that is outside."""
        if not all(0 <= at < size for at, size in zip(index, self.sizes, strict=True)):
            return None
        return sum(at * prod(self.sizes[:dimension]) for dimension, at in enumerate(index))

    def read(self, places: Sequence[Sequence[int]]) -> list[int]:
        """The elements with these coordinates; those outside are 0."""
        found = [self.place(one) for one in places]
        return [0 if one is None else self.words[one] for one in found]

    def written(
        self, places: Sequence[Sequence[int]], words: Sequence[int],
        operation: Callable[[int, int], int] = lambda old, new: new,
    ) -> list[int]:
        """All words after these were stored; what is outside is not."""
        result = list(self.words)
        for index, word in zip(places, words, strict=True):
            at = self.place(index)
            if at is not None:
                result[at] = operation(result[at], word)
        return result

    def spec(self, values: str, **more: object) -> str:
        shape = "x".join(map(str, self.sizes[::-1]))
        words = "".join(f",{key}={value}" for key, value in more.items())
        return f"tensor({values},shape={shape}{words})"


def counted(*sizes: int, first: int = 0) -> Tensor:
    """0, 1, 2 and so on."""
    return Tensor(sizes, list(range(first, first + prod(sizes))))


def tile(start: Sequence[int], box: Sequence[int], steps: Sequence[int] = ()) -> list[tuple[int, ...]]:
    """The coordinates of the elements of a box, in the order of shared memory."""
    steps = steps or [1] * len(box)
    axes = [range(at, at + size, step) for at, size, step in zip(start, box, steps, strict=True)]
    return [index[::-1] for index in product(*axes[::-1])]


def columns(
    tensor: Tensor, start: Sequence[int], channels: int, pixels: int, lower: Sequence[int],
    upper: Sequence[int], offsets: Sequence[int] = (),
) -> list[tuple[int, ...]]:
    """The same for im2col: pixels of the bounding box one after the other, from `start` on, then of the next
    images; corners and offsets are W, H, D.
    """
    spatial = tensor.sizes[1:-1]
    axes = [range(low, size + high) for low, size, high in zip(lower, spatial, upper, strict=True)]
    order = [
        (*position[::-1], image)
        for image in range(start[-1], start[-1] + pixels + 1) for position in product(*axes[::-1])
    ]
    first = order.index((*start[1:-1], start[-1]))
    moved = [*offsets, *[0] * (len(spatial) + 1 - len(offsets))]
    return [
        (start[0] + channel, *(at + by for at, by in zip(pixel, moved, strict=True)))
        for pixel in order[first : first + pixels] for channel in range(channels)
    ]


def coordinates(start: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, start))}}}"


def sizes(numbers: Sequence[int]) -> str:
    """Sizes as a spec has them: the outermost first."""
    return "x".join(map(str, numbers[::-1]))


def corner(numbers: Sequence[int]) -> str:
    return "/".join(map(str, numbers[::-1]))


# -- loads --------------------------------------------------------------------------------------

_SHAPE = (32, 6, 5, 4, 3)


def _tiles() -> Iterator[Kernel]:
    """Boxes of one to five dimensions that begin before the tensor or end behind it, with steps."""
    for rank in range(1, 6):
        tensor = counted(*_SHAPE[:rank], first=1)
        start, box, steps = (-4, 4, 2, 1, 1)[:rank], (8, 3, 3, 2, 2)[:rank], (1, 1, 2, 1, 1)[:rank]
        target = ("shared::cta", "shared::cluster")[rank % 2]
        yield _load(
            f"tile_{rank}d", tensor, tile(start, box, steps), LOAD.format(rank, target, "tile"), start,
            {"box": sizes(box), "steps": sizes(steps)}, "zeros outside of the tensor",
        )
    yield from _swizzles(_LINES)


def _load(
    name: str, tensor: Tensor, places: Sequence[Sequence[int]], opcode: str, start: Sequence[int],
    more: dict[str, object], why: str, info: str = "",
) -> Kernel:
    """A load of u32 elements into `box`, one word behind which stays."""
    count = len(places)
    body = "\n".join((
        EXPECT.format(4 * count), f"{opcode} [%box], [%map, {coordinates(start)}], [%bar]{info};", wait(),
    ))
    words = tensor.words
    spec = tensor.spec(f"u32:arange({words[0]},{words[-1] + 1})", **more)
    return Kernel(
        name, body, why, [99] * (count + 1), [[*tensor.read(places), 99]], given={"map": spec}, arrivals=1
    )


_LINES = (
    ("32B", "16B", 8, "01234567 10325476"),
    ("64B", "16B", 16, "01234567 10325476 23016745 32107654"),
    ("128B", "16B", 32, "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210"),
)
_ATOMS = (
    ("128B", "32B", 32, "01234567 23016745 45670123 67452301"),
    ("128B", "64B", 32, "01234567 45670123"),
)
"""The tables of "Swizzling Modes": which 16 bytes of each line of 128 go where."""


def _swizzles(tables: Sequence[tuple[str, str, int, str]]) -> Iterator[Kernel]:
    for mode, atomicity, inner, table in tables:
        lines = table.split()
        tensor = counted(inner, 32 * len(lines) // inner)
        after = [
            32 * line + 4 * int(piece) + word
            for line, pieces in enumerate(lines) for piece in pieces for word in range(4)
        ]
        name = f"swizzle_{mode}" + (f"_{atomicity}" if atomicity != "16B" else "")
        kernel = _load(
            name, tensor, tile((0, 0), tensor.sizes), LOAD.format(2, "shared::cluster", "tile"), (0, 0),
            {"box": sizes(tensor.sizes), "swizzle": mode, "atomicity": atomicity}, "the table of the mode",
        )
        yield replace(kernel, after=[[*after, 99]])


def _columns() -> Iterator[Kernel]:
    """im2col of three to five dimensions, around the end of a row and of an image."""
    for rank, shape, start, lower, upper, offsets in (
        (3, (8, 6, 3), (4, 3, 0), (-1,), (-1,), (2,)),
        (4, (8, 5, 4, 2), (0, 2, 1, 0), (-1, -1), (-1, -1), (1, 2)),
        (5, (4, 4, 3, 3, 2), (0, 1, 0, 1, 0), (-1, 0, -1), (-1, -2, -1), (1, 2, 0)),
    ):
        tensor = counted(*shape, first=1)
        places = columns(tensor, start, 4, 12, lower, upper, offsets)
        info = ", ".join(f"%h{at + 1}" for at in range(rank - 2))
        kernel = _load(
            f"im2col_{rank}d", tensor, places, LOAD.format(rank, "shared::cluster", "im2col"), start,
            {"lower": corner(lower), "upper": corner(upper), "channels": 4, "pixels": 12},
            "pixels in order, each moved by the offsets, zeros outside", f", {{{info}}}",
        )
        moves = "".join(f"mov.b16 %h{at + 1}, {offset};\n" for at, offset in enumerate(offsets))
        yield replace(kernel, body=moves + kernel.body)


def _several() -> Kernel:
    """Block 2 loads for blocks 0 and 3; each waits for 32 bytes."""
    tensor = counted(8, 4)
    body = "\n".join((
        "shr.u32 %r1, 9, %rank;\nand.b32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 5;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], %r1;",
        "mov.b16 %h1, 9;\nsetp.eq.u32 %p1, %rank, 2;",
        f"@%p1 {LOAD.format(2, 'shared::cluster', 'tile')}.multicast::cluster"
        " [%box+32], [%map, {4, 1}], [%bar], %h1;", wait(),
    ))
    came = [99] * 8 + tensor.read(tile((4, 1), (4, 2)))
    return Kernel(
        "several", body, "the box is in blocks 0 and 3 at the same place", [99] * 16,
        [came, [99] * 16, [99] * 16, came], given={"map": tensor.spec("u32:arange(32)", box="2x4")},
        arrivals=1, cluster=4,
    )


# -- stores -------------------------------------------------------------------------------------


def _stores() -> Iterator[Kernel]:
    for rank in range(1, 6):
        tensor = Tensor(_SHAPE[:rank], [0] * prod(_SHAPE[:rank]))
        start, box = (28, 4, 3, 2, 2)[:rank], (8, 3, 2, 2, 2)[:rank]
        yield _store(f"store_{rank}d", tensor, tile(start, box), rank, "tile", start, {"box": sizes(box)})
    tensor = Tensor((8, 5, 4, 2), [0] * 320)
    start, lower, upper = (4, 3, 2, 0), (1, 0), (-1, -1)
    yield _store(
        "store_im2col", tensor, columns(tensor, start, 4, 12, lower, upper), 4, "im2col_no_offs", start,
        {"lower": corner(lower), "upper": corner(upper), "channels": 4, "pixels": 12},
    )


def _store(
    name: str, tensor: Tensor, places: Sequence[Sequence[int]], rank: int, mode: str, start: Sequence[int],
    more: dict[str, object],
) -> Kernel:
    before = list(range(1, len(places) + 1))
    body = f"{STORE.format(rank, mode)} [%map, {coordinates(start)}], [%box];\n{DONE}"
    return Kernel(
        name, body, "what is outside of the tensor is left out", before,
        given={"map": tensor.spec(f"u32:zeros({len(tensor.words)})", **more)},
        left={"map": tensor.written(places, before)},
    )


def _hints() -> Kernel:
    """Prefetches change nothing; the tensor map may be fetched, too."""
    tensor = counted(8, 2)
    prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile"
    body = "\n".join((
        "createpolicy.fractional.L2::evict_first.b64 %l9, 1.0;", "prefetch.tensormap [%map];",
        "prefetch.param.tensormap [map];", f"{prefetch} [%map, {{0, 1}}];",
        f"{prefetch}.L2::cache_hint [%map, {{4, 0}}], %l9;",
        f"{STORE.format(2, 'tile')}.L2::cache_hint [%map, {{4, 1}}], [%box], %l9;", DONE,
    ))
    return Kernel(
        "hints", body, "caches may be told; the tensor stays as it is but for a box", [70, 71, 72, 73],
        given={"map": tensor.spec("u32:arange(16)", box="1x4")}, left={"map": [*range(12), 70, 71, 72, 73]},
    )


# -- reductions ---------------------------------------------------------------------------------

_MASK = (1 << 32) - 1


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word


_OPERATIONS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "add": ("u32", lambda old, new: old + new & _MASK),
    "min": ("s32", lambda old, new: min(old, new, key=_signed)),
    "max": ("u32", max),
    "inc": ("u32", lambda old, new: 0 if old >= new else old + 1),
    "dec": ("u32", lambda old, new: new if old == 0 or old > new else old - 1),
    "and": ("u32", lambda old, new: old & new),
    "or": ("u32", lambda old, new: old | new),
    "xor": ("u32", lambda old, new: old ^ new),
}
_OLD = [0, 5, 6, _MASK, 0x80000000, 4, 0xF0F0, 7, 1, 2, 3, 4]
_COME = [5, 5, 5, 2, 0xFFFFFFFF, 5, 0xFF00, 0]


def _reductions() -> Iterator[Kernel]:
    """A box of 4 by 2 in a tensor of 4 by 3; only the last tensor differs in the way that it is read."""
    places = tile((0, 1), (4, 2))
    for name, (type, operation) in _OPERATIONS.items():
        tensor = Tensor((4, 3), [*_OLD[8:], *_OLD[:8]])
        yield _reduce(name, tensor, type, places, operation, "tile", (0, 1), {"box": "2x4"})
    tensor = Tensor((4, 2, 2, 2), list(range(32)))
    places = columns(tensor, (0, 1, 0, 0), 4, 2, (0, 0), (0, 0))
    yield _reduce(
        "im2col", tensor, "u32", places, _OPERATIONS["xor"][1], "im2col_no_offs", (0, 1, 0, 0),
        {"lower": "0/0", "upper": "0/0", "channels": 4, "pixels": 2}, "xor",
    )


def _reduce(
    name: str, tensor: Tensor, type: str, places: Sequence[Sequence[int]],
    operation: Callable[[int, int], int], mode: str, start: Sequence[int], more: dict[str, object],
    opcode: str = "",
) -> Kernel:
    body = (
        f"cp.reduce.async.bulk.tensor.{len(start)}d.global.shared::cta.{opcode or name}.{mode}.bulk_group"
        f" [%map, {coordinates(start)}], [%box];\n{DONE}"
    )
    spec = tensor.spec(f"{type}:[{','.join(map(hex, tensor.words))}]", **more)
    return Kernel(
        f"reduce_{name}", body, "element by element, as for atom", _COME, given={"map": spec},
        left={"map": tensor.written(places, _COME, operation)},
    )


# -- four rows, pairs of blocks -----------------------------------------------------------------

_ROWS = (4, 2, 5, 0, 9)
"""As the figure of the manual: a column, and four rows, the last of which is outside."""


def _gather() -> Kernel:
    tensor = counted(16, 8, first=1)
    places = [index for row in _ROWS[1:] for index in tile((_ROWS[0], row), (4, 1))]
    return _load(
        "gather", tensor, places, LOAD.format(2, "shared::cta", "tile::gather4"), _ROWS, {"box": "1x4"},
        "four elements of rows 2, 5, 0 and 9; there is no row 9",
    )


def _scatter() -> Kernel:
    places = [index for row in _ROWS[1:] for index in tile((_ROWS[0], row), (4, 1))]
    return _store(
        "scatter", Tensor((16, 8), [0] * 128), places, 2, "tile::scatter4", _ROWS, {"box": "1x4"}
    )


def _scatter_add() -> Kernel:
    rows = (0, 2, 0, 1, 9)
    places = [index for row in rows[1:] for index in tile((0, row), (4, 1))]
    tensor = Tensor((4, 3), _OLD)
    body = (
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group"
        f" [%map, {coordinates(rows)}], [%box];\n{DONE}"
    )
    come = [*_COME, *_COME]
    spec = tensor.spec(f"u32:[{','.join(map(hex, tensor.words))}]", box="1x4")
    return Kernel(
        "scatter_add", body, "rows 2, 0 and 1; there is no row 9", come, given={"map": spec},
        left={"map": tensor.written(places, come, _OPERATIONS["add"][1])},
    )


def _pair() -> Kernel:
    """Block 1 loads into its own memory and tells the mbarrier of block 0, which tells block 1."""
    tensor = counted(8, 2)
    body = "\n".join((
        "setp.eq.u32 %p1, %rank, 1;\nselp.u32 %r1, 0, 16, %p1;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], %r1;",
        f"@%p1 {LOAD.format(2, 'shared::cluster', 'tile')}.cta_group::2"
        " [%box], [%map, {2, 1}], [%farbar];", wait(), MEET,
    ))
    return Kernel(
        "pair", body, "the data are in block 1, the bytes are counted in block 0", [99] * 4,
        [[99] * 4, tensor.read(tile((2, 1), (4, 1)))],
        given={"map": tensor.spec("u32:arange(16)", box="1x4")}, arrivals=1, cluster=2,
    )


def _pairs() -> Kernel:
    """Block 1 loads for blocks 0, 2 and 3; of each pair the odd block is told, as its mbarrier is."""
    tensor = counted(8, 2)
    body = "\n".join((
        "shl.b32 %r2, %rank, 3;\nshr.u32 %r1, 0x20001000, %r2;\nand.b32 %r1, %r1, 0xff;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], %r1;",
        "mov.b16 %h1, 13;\nsetp.eq.u32 %p1, %rank, 1;",
        f"@%p1 {LOAD.format(2, 'shared::cluster', 'tile')}.multicast::cluster.cta_group::2"
        " [%box], [%map, {2, 1}], [%bar], %h1;", wait(), MEET,
    ))
    came = tensor.read(tile((2, 1), (4, 1)))
    return Kernel(
        "pairs", body, "block 1 counts 16 bytes, block 3 counts 32", [99] * 4,
        [came, [99] * 4, came, came], given={"map": tensor.spec("u32:arange(16)", box="1x4")}, arrivals=1,
        cluster=4,
    )
