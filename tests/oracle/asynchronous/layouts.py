"""Kernels for copies along the width, of interleaved channels, and of elements of 4 and 6 bits with padding.

Where the elements lie is written here a second time, pixel by pixel and byte by byte. What is only in figures
of the manual is as docs/executor.md says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from math import prod

from tests.oracle.asynchronous.kernel import File, Kernel, wait, words_of
from tests.oracle.asynchronous.tensors import (
    DONE,
    EXPECT,
    LOAD,
    STORE,
    Tensor,
    coordinates,
    corner,
    counted,
    sizes,
    tile,
)


def _replaced(old: int, new: int) -> int:
    del old
    return new


def _added(old: int, new: int) -> int:
    return old + new


_COMBINE = {"store": _replaced, "add": _added}
_REDUCE = "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.{}.bulk_group"


def files() -> Iterator[File]:
    yield File(
        "async_tensor_wide", "pixels along the width, with halos", "8.6", "sm_100a", list(_wide_loads()),
    )
    yield File(
        "async_tensor_wide_stores", "stores of pixels along the width", "9.4", "sm_107a",
        list(_wide_stores()),
    )
    yield File(
        "async_tensor_slices", "interleaved channels", "8.3", "sm_90a",
        [*_slice_loads(), *_slice_columns(), *_slice_stores()],
    )
    yield File(
        "async_tensor_padded", "elements of 4 and 6 bits, with padding in shared memory", "8.7", "sm_100a",
        [*_padded_loads(), *_padded_stores()],
    )


# -- along the width ----------------------------------------------------------------------------

_TABLES = {
    "32B": "01234567 10325476",
    "64B": "01234567 10325476 23016745 32107654",
    "128B": "01234567 10325476 23016745 32107654 45670123 54761032 67452301 76543210",
}
"""Which 16 bytes of each line of 128 go where, from "Swizzling Modes"."""


def _swizzled(box: Sequence[int], mode: str, table: str = "") -> list[int]:
    """Words of a box as they lie in shared memory."""
    lines = (table or _TABLES[mode]).split()
    found: list[int] = []
    for at in range(0, len(box), 4):
        line, piece = divmod(at // 4, 8)
        source = 32 * line + 4 * int(lines[line % len(lines)][piece])
        found += box[source : source + 4]
    return found


def _walk(
    tensor: Tensor, start: Sequence[int], lower: int, upper: int, step: int, offset: int
) -> Iterator[tuple[int, ...]]:
    """The pixels of one row of each image, from one on: W, H, D, N. Behind the end of the bounding box comes
    its beginning in the next image.
    """
    width, *row, image = start
    width += offset
    while True:
        yield width, *row, image
        width += step
        if width > tensor.sizes[1] - 1 + upper + offset:
            width, image = lower + offset, image + 1


def _wide(
    tensor: Tensor, start: Sequence[int], lower: int, upper: int, *, pixels: int, halo: int = 0,
    offset: int = 0, step: int = 1, channels: int = 4, groups: int = 1,
) -> list[tuple[int, ...]]:
    """The coordinates of the elements: the pixels, and behind them `halo` for each group of them."""
    def walk(skipped: int, count: int) -> list[tuple[int, ...]]:
        found = _walk(tensor, start[1:], lower, upper, step, offset)
        return list(islice(found, skipped, skipped + count))

    each = pixels // groups
    halos = [walk(each * (group + 1), halo) for group in range(groups)]
    order = walk(0, pixels) + [halos[group][at] for at in range(halo) for group in range(groups)]
    return [(start[0] + channel, *pixel) for pixel in order for channel in range(channels)]


def _wide_loads() -> Iterator[Kernel]:
    """Also with a first pixel left of the bounding box, and with the steps of the manual's examples."""
    for rank, target in ((3, "cta"), (4, "cluster"), (5, "cta")):
        shape = (*(8, 5, 4, 3, 3)[:rank - 1], 3)
        start = (*(4, 3, 2, 1)[:rank - 1], 0)
        yield _wide_load(
            f"wide_{rank}d", counted(*shape, first=1), start, -1, 0, target, pixels=10, halo=2, offset=1
        )
    images = counted(4, 9, 3, 9, first=1)
    for buffer, (halo, offset) in enumerate(((1, 0), (0, 1)), 1):
        yield _wide_load(
            f"wide_example_1_{buffer}", images, (0, -1, 2, 7), -1, 0, "cta", pixels=12 - halo, halo=halo,
            offset=offset, step=2,
        )
    images = counted(4, 7, 3, 9, first=1)
    for offset in range(3):
        yield _wide_load(
            f"wide_example_2_{offset + 1}", images, (0, -1, 2, 7), -1, -1, "cta", pixels=12, offset=offset,
            step=3,
        )
    images = counted(4, 6, 2, 3, first=1)
    yield _wide_load("wide_left", images, (0, -2, 1, 0), 1, -1, "cta", pixels=12)
    yield _wide_load("wide_left_step", images, (0, -3, 1, 0), 1, -1, "cta", pixels=12, step=2)
    images = counted(4, 9, 3, 12, first=1)
    for name, target, halo, offset in (("wide128", "cta", 2, 0), ("wide128_offset", "cluster", 1, 3)):
        yield _wide_load(
            name, images, (0, 3, 2, 0), -1, 0, target, groups=4, pixels=128, halo=halo, offset=offset
        )


def _wide_load(
    name: str, tensor: Tensor, start: Sequence[int], lower: int, upper: int, target: str, *, pixels: int,
    halo: int = 0, offset: int = 0, step: int = 1, groups: int = 1,
) -> Kernel:
    places = _wide(
        tensor, start, lower, upper, pixels=pixels, halo=halo, offset=offset, step=step, groups=groups
    )
    mode = "im2col::w::128" if groups > 1 else "im2col::w"
    opcode = LOAD.format(len(start), f"shared::{target}", mode)
    body = "\n".join((
        EXPECT.format(4 * len(places)), f"mov.b16 %h0, {halo};\nmov.b16 %h1, {offset};",
        f"{opcode} [%box], [%map, {coordinates(start)}], [%bar], {{%h0, %h1}};", wait(),
    ))
    steps = sizes([1, step, *[1] * (len(start) - 2)])
    spec = tensor.spec(
        f"u32:arange(1,{len(tensor.words) + 1})", lower=lower, upper=upper, channels=4, steps=steps,
        pixels=1 if groups > 1 else pixels, wide="W128" if groups > 1 else "W", swizzle="64B",
    )
    return Kernel(
        name, body, "along the width, then in the next image, and a halo", [99] * (len(places) + 1),
        [[*_swizzled(tensor.read(places), "64B"), 99]], given={"map": spec}, arrivals=1,
    )


def _wide_stores() -> Iterator[Kernel]:
    """Pixels of two images, and pixels behind the last image, which are left out."""
    for rank, start in ((3, (4, 3, 0)), (4, (0, 1, 1, 1)), (5, (4, 2, 1, 0, 0))):
        shape = (*(8, 5, 3, 2)[:rank - 1], 2)
        tensor = Tensor(shape, [7] * prod(shape))
        places = _wide(tensor, start, 1, -1, pixels=6)
        for name, opcode in (("store", STORE), ("add", _REDUCE.format("{}", "add", "{}"))):
            come = list(range(1, len(places) + 1))
            body = f"{opcode.format(rank, 'im2col_no_offs::w')} [%map, {coordinates(start)}], [%box];\n{DONE}"
            more = {"lower": 1, "upper": -1, "channels": 4, "pixels": 6, "wide": "W", "swizzle": "64B"}
            yield Kernel(
                f"wide_{name}_{rank}d", body, "what is outside of the tensor is left out",
                _swizzled(come, "64B"),
                given={"map": tensor.spec(f"u32:full({len(tensor.words)},7)", **more)},
                left={"map": tensor.written(places, come, _COMBINE[name])},
            )


# -- interleaved channels -----------------------------------------------------------------------


class _Slices:
    """Words in slices of channels; `sizes` are W, H, D, slices and N, of 3 to 5 dimensions."""

    def __init__(self, sizes: Sequence[int], width: int) -> None:
        self.sizes, self.width = tuple(sizes), width
        self.tensor = counted(width, *sizes, first=1)

    def words(self, slices: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """The coordinates of all words of slices."""
        return [(word, *one) for one in slices for word in range(self.width)]

    def spec(self, values: str, **more: object) -> str:
        return self.tensor.spec(values, interleave=f"{4 * self.width}B", **more)


_SLICE_SHAPE = (6, 4, 3)


def _sliced(rank: int, width: int) -> _Slices:
    """W, H, D as far as there are so many dimensions, then 3 slices and 2 images."""
    return _Slices((*_SLICE_SHAPE[: rank - 2], 3, 2), width)


def _slice_loads() -> Iterator[Kernel]:
    """One slice of all pixels of a box, with a step in the width, too; the last images are outside."""
    for rank in (3, 4, 5):
        for width in (4, 8):
            slices = _sliced(rank, width)
            start, box = (*(-1, 2, 1)[: rank - 2], 1, 1), (*(4, 3, 2)[: rank - 2], 1, 2)
            steps = (2, *[1] * (rank - 1))
            places = slices.words(tile(start, box, steps))
            found = slices.tensor.read(places)
            more: dict[str, object] = {"box": sizes(box), "steps": sizes(steps)}
            if width == 8:
                more["swizzle"], found = "32B", _swizzled(found, "32B")
            yield _load(
                f"slices_{4 * width}_{rank}d", LOAD.format(rank, "shared::cluster", "tile"), start, found,
                slices.spec(f"u32:arange(1,{len(slices.tensor.words) + 1})", **more),
                "a slice of channels of each pixel, zeros outside of the tensor",
            )


def _column_slices(slices: _Slices, start: Sequence[int], pixels: int) -> list[tuple[int, ...]]:
    """As `columns`, for a bounding box from 0 on that ends before the last pixel of each row."""
    spatial = slices.sizes[:-2]
    axes = [range(size - 1) for size in spatial]
    order = [
        (*at[::-1], image) for image in range(slices.sizes[-1] + 3) for at in product(*axes[::-1])
    ]
    first = order.index((*start[:-2], start[-1]))
    return [(*pixel[:-1], start[-2], pixel[-1]) for pixel in order[first : first + pixels]]


def _slice_columns() -> Iterator[Kernel]:
    """Channels and offsets in columns: a pixel has one slice, however many channels the map says."""
    for rank, width in ((3, 4), (4, 8), (5, 4)):
        slices = _sliced(rank, width)
        start = (*(3, 1, 1)[: rank - 2], 2, 0)
        offsets = (1, 0, 1)[: rank - 2]
        pixels = [
            (*(at + by for at, by in zip(one[:-2], offsets, strict=True)), *one[-2:])
            for one in _column_slices(slices, start, 8)
        ]
        found = slices.tensor.read(slices.words(pixels))
        zeros = corner([0] * (rank - 2))
        more: dict[str, object] = {
            "lower": zeros, "upper": corner([-1] * (rank - 2)), "channels": 16, "pixels": 8,
        }
        if width == 8:
            more["swizzle"], found = "32B", _swizzled(found, "32B")
        moves = "".join(f"mov.b16 %h{at}, {offset};\n" for at, offset in enumerate(offsets))
        info = ", ".join(f"%h{at}" for at in range(rank - 2))
        yield _load(
            f"slice_columns_{rank}d", LOAD.format(rank, "shared::cluster", "im2col"), start, found,
            slices.spec(f"u32:arange(1,{len(slices.tensor.words) + 1})", **more),
            "a slice of channels of each pixel in order", moves, f", {{{info}}}",
        )


def _slice_stores() -> Iterator[Kernel]:
    slices = _sliced(4, 4)
    tensor = Tensor(slices.tensor.sizes, [7] * len(slices.tensor.words))
    start, box = (4, 2, 1, 1), (4, 3, 1, 1)
    columns = _column_slices(slices, (3, 1, 2, 0), 10)
    for name, opcode, mode, first, places, more in (
        ("tile", STORE, "tile", start, tile(start, box), {"box": sizes(box)}),
        ("columns", STORE, "im2col_no_offs", (3, 1, 2, 0), columns,
         {"lower": "0/0", "upper": "-1/-1", "channels": 4, "pixels": 10}),
        ("add", _REDUCE.format("{}", "add", "{}"), "tile", start, tile(start, box), {"box": sizes(box)}),
    ):
        come = list(range(1, 4 * len(places) + 1))
        yield Kernel(
            f"slice_store_{name}", f"{opcode.format(4, mode)} [%map, {coordinates(first)}], [%box];\n{DONE}",
            "what is outside of the tensor is left out", come,
            given={"map": slices.spec(f"u32:full({len(tensor.words)},7)", **more)},
            left={"map": tensor.written(slices.words(places), come, _COMBINE.get(name, _replaced))},
        )


def _load(
    name: str, opcode: str, start: Sequence[int], found: Sequence[int], spec: str, why: str, before: str = "",
    info: str = "", count: int = 0,
) -> Kernel:
    """A load of these words, `count` bytes of them from the tensor (0: all)."""
    body = "\n".join((
        EXPECT.format(count or 4 * len(found)),
        f"{before}{opcode} [%box], [%map, {coordinates(start)}], [%bar]{info};", wait(),
    ))
    return Kernel(
        name, body, why, [_OLD] * (len(found) + 1), [[*found, _OLD]], given={"map": spec}, arrivals=1
    )


_OLD = 0x63636363
"""A word of shared memory that stays."""

# -- elements of 4 and 6 bits -------------------------------------------------------------------


class _Packed:
    """Rows of 256 elements of 4 or 6 bits, in the bytes 1, 2, 3 and so on; `type` is that of loads."""

    def __init__(self, bits: int, rows: int) -> None:
        self.bits, self.rows = bits, rows
        self.type = {4: "b4x16_p64", 6: "b6x16_p32"}[bits]
        self.row_bytes = 256 * bits // 8
        self.data = bytes(at % 251 for at in range(rows * self.row_bytes))

    def unpacked(self, row: int, first: int) -> bytes:
        """128 elements of a row in shared memory: each 16 of them, and padding up to 16 bytes."""
        each, found = 2 * self.bits, b""
        for at in range(first, first + 128, 16):
            begin = row * self.row_bytes + at * self.bits // 8
            inside = 0 <= row < self.rows and 0 <= at < 256
            piece = self.data[begin : begin + each] if inside else bytes(each)
            found += piece + bytes([_OLD & 0xFF]) * (16 - each)
        return found

    def spec(self, shape: str, **more: object) -> str:
        listed = ",".join(map(str, self.data))
        words = "".join(f",{key}={value}" for key, value in more.items())
        return f"tensor(u8:[{listed}],shape={shape},type={self.type}{words})"


_ATOMS = {"16B": "", "32B": "01234567 23016745 45670123 67452301", "64B": "01234567 45670123"}


def _padded_loads() -> Iterator[Kernel]:
    """The padding in shared memory keeps what was there; it counts no bytes."""
    for bits in (4, 6):
        packed = _Packed(bits, 3)
        count = 2 * 128 * bits // 8
        shape = f"3x{packed.row_bytes}"
        for name, column, row, swizzle, atomicity in (
            ("", 128, 1, "none", "16B"), ("outside", 256, 0, "none", "16B"), ("below", 0, 2, "none", "16B"),
            ("swizzled", 0, 0, "128B", "16B"), ("atoms", 128, 0, "128B", "32B"),
        ):
            found = words_of(packed.unpacked(row, column) + packed.unpacked(row + 1, column))
            if swizzle != "none":
                found = _swizzled(found, swizzle, _ATOMS[atomicity])
            yield _load(
                "_".join(filter(None, (packed.type, name))), LOAD.format(2, "shared::cluster", "tile"),
                (column, row), found,
                packed.spec(shape, box="2x128", swizzle=swizzle, atomicity=atomicity),
                "16 elements, then padding, which is not written", count=count,
            )
        rows = (128, 2, 0, 3, 1)
        found = words_of(b"".join(packed.unpacked(row, 128) for row in rows[1:]))
        yield _load(
            f"{packed.type}_gather", LOAD.format(2, "shared::cluster", "tile::gather4"), rows, found,
            packed.spec(shape, box="1x128"), "rows 2, 0, 3, which is outside, and 1", count=2 * count,
        )
        found = words_of(b"".join(packed.unpacked(row, 128) for row in (1, 2, 3)))
        yield _load(
            f"{packed.type}_columns", LOAD.format(3, "shared::cluster", "im2col"), (128, 1, 0), found,
            packed.spec(f"1x{shape}", lower=0, upper=0, channels=128, pixels=3), "three pixels, one outside",
            "mov.b16 %h0, 0;\n", ", {%h0}", count=3 * count // 2,
        )


def _padded_stores() -> Iterator[Kernel]:
    """The lower 6 bits of each byte."""
    packed = _Packed(6, 3)
    for name, mode, start, rows, more in (
        ("store", "tile", (128, 1), (1, 2), {"box": "2x128"}),
        ("store_below", "tile", (0, 2), (2, 3), {"box": "2x128"}),
        ("store_half", "tile", (64, 0), (0,), {"box": "1x64"}),
        ("scatter", "tile::scatter4", (0, 2, 4, 0, 1), (2, 4, 0, 1), {"box": "1x128"}),
        ("store_swizzled", "tile", (0, 0), (0, 1), {"box": "2x128", "swizzle": "128B"}),
    ):
        row = int(more["box"].partition("x")[2])
        come = [(37 * at + 11) % 256 for at in range(row * len(rows))]
        data = bytearray(packed.data)
        for at, value in enumerate(come):
            line, element = rows[at // row], start[0] + at % row
            if line < packed.rows:
                _put(data, 8 * line * packed.row_bytes + 6 * element, value & 63)
        before = words_of(bytes(come))
        if "swizzle" in more:
            before = _swizzled(before, more["swizzle"])
        yield Kernel(
            f"b6p2x16_{name}", f"{STORE.format(2, mode)} [%map, {coordinates(start)}], [%box];\n{DONE}",
            "the lower 6 bits of each byte, without gaps", before,
            given={"map": packed.spec(f"3x{packed.row_bytes}", **more).replace("b6x16_p32", "b6p2x16")},
            left={"map": list(data)},
        )


def _put(data: bytearray, at: int, value: int) -> None:
    """Replaces 6 bits from bit `at` on."""
    for bit in range(6):
        byte, place = divmod(at + bit, 8)
        data[byte] = data[byte] & ~(1 << place) | (value >> bit & 1) << place
