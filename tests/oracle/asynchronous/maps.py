"""Kernels in which operands or instructions replace what a tensor map says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tests.oracle.asynchronous.kernel import File, Kernel, wait
from tests.oracle.asynchronous.tensors import (
    DONE,
    EXPECT,
    LOAD,
    STORE,
    Tensor,
    coordinates,
    counted,
    sizes,
    tile,
)

_DATA = 33000
"""Words of a buffer that operands move a tensor into: more than 128 KiB behind the place of the tensor."""
_MOVED = 64
"""At which byte of it the tensor then begins."""
_ADDRESS = ".override::global_address"


def files() -> Iterator[File]:
    yield File(
        "async_overrides", "addresses, sizes and strides of tensors that operands give", "9.4", "sm_107a",
        [*_loads(), *_stores(), *_hints(), *_reports()],
    )
    yield File(
        "async_replace", "changes to tensor maps", "8.3", "sm_90a",
        [*_replaced(), _in_place()],
    )
    yield File(
        "async_replace_newer", "changes of swizzling and to elements of 4 bits", "8.7", "sm_100a",
        list(_newer()),
    )
    yield File("async_replace_newest", "swizzling of 96 bytes", "9.4", "sm_107a", list(_newest()))


# -- overrides ----------------------------------------------------------------------------------


def _moved(shape: Sequence[int], strides: Sequence[int], index: Sequence[int]) -> int | None:
    """The word of the buffer at the coordinates of a tensor with these sizes, and strides in words."""
    if not all(0 <= at < size for at, size in zip(index, shape, strict=True)):
        return None
    return _MOVED // 4 + sum(at * by for at, by in zip(index, (1, *strides), strict=True))


_NEW_SHAPE = (6, 2, 3)
_NEW_STRIDES = (12, 40)
"""Of a tensor of three dimensions, in words; those of operands are in 16 bytes."""


def _attributes(rank: int) -> tuple[str, str, tuple[int, ...], tuple[int, ...]]:
    """Instructions that load operands, the operands, the sizes and the strides that they mean."""
    shape, strides = _NEW_SHAPE[:rank], _NEW_STRIDES[: rank - 1]
    lines = [f"mov.b16 %h{at}, {size};" for at, size in enumerate(shape)]
    lines += [f"mov.b32 %r{at + 4}, {stride // 4};" for at, stride in enumerate(strides)]
    lines.append("mov.b16 %h5, 0;")
    vectors = [f"{{{', '.join(f'%h{at}' for at in range(rank))}}}"]
    if strides:
        vectors += [f"{{{', '.join(f'%r{at + 4}' for at in range(len(strides)))}}}", "%h5"]
    return "\n".join(lines), ", ".join(vectors), shape, strides


def _whole(rank: int) -> str:
    return f"{_ADDRESS}.override::global_dim{'_stride' if rank > 1 else ''}"


def _loads() -> Iterator[Kernel]:
    """From a buffer that the tensor map does not know."""
    small = counted(8, 4)
    for target, cluster in (("shared::cta", 1), ("shared::cluster", 2)):
        place = target.removeprefix("shared::")
        index = tile((2, 1), (4, 2))
        yield _load(
            f"moved_{place}", 2, target, _ADDRESS, "", "%l1", (2, 1), index, (8, 4), (8,), small, cluster
        )
        for rank in (1, 2, 3):
            more, operands, shape, strides = _attributes(rank)
            box = (8, 3, 4)[:rank]
            tensor = counted(*(8, 4, 4)[:rank])
            yield _load(
                f"resized_{place}_{rank}d", rank, target, _whole(rank), more, f"%l1, {operands}", (0,) * rank,
                tile((0,) * rank, box), shape, strides, tensor, cluster, box,
            )


def _load(
    name: str, rank: int, target: str, override: str, more: str, operands: str, start: Sequence[int],
    places: Sequence[Sequence[int]], shape: Sequence[int], strides: Sequence[int], tensor: Tensor,
    cluster: int, box: Sequence[int] = (4, 2),
) -> Kernel:
    """With two blocks, block 0 loads for both."""
    opcode = LOAD.format(rank, target, "tile")
    many, mask = (".multicast::cluster::32b", ", 3") if cluster > 1 else ("", "")
    body = "\n".join((
        EXPECT.format(4 * len(places)), f"add.u64 %l1, %data, {_MOVED};", more, "setp.eq.u32 %p1, %rank, 0;",
        f"@%p1 {opcode}{many}{override}"
        f" [%box], [%map, {operands}, {coordinates(start)}], [%bar]{mask};", wait(),
    ))
    found = [_moved(shape, strides, one) for one in places]
    after = [0 if one is None else one for one in found]
    return Kernel(
        name, body, "from the other address; 0 outside of the tensor", [99] * len(places), [after] * cluster,
        given={"map": tensor.spec(f"u32:full({len(tensor.words)},5)", box=sizes(box)),
               "data": f"u32:arange({_DATA})"},
        arrivals=1, cluster=cluster,
    )


def _stores() -> Iterator[Kernel]:
    """Stores and reductions into a buffer that the tensor map does not know."""
    for name, opcode, base in (
        ("store", STORE, 0),
        ("add", "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.add.{}.bulk_group", 7),
    ):
        places = tile((2, 1), (4, 2))
        yield _store(
            f"{name}_moved", opcode.format(2, "tile") + _ADDRESS, "", "%l1", (2, 1), places, (8, 4), (8,),
            base,
        )
        for rank in (1, 2, 3):
            more, operands, shape, strides = _attributes(rank)
            start, box = (0,) * rank, (8, 3, 4)[:rank]
            yield _store(
                f"{name}_resized_{rank}d", opcode.format(rank, "tile") + _whole(rank), more,
                f"%l1, {operands}", start, tile(start, box), shape, strides, base, box,
            )


def _store(
    name: str, opcode: str, more: str, operands: str, start: Sequence[int], places: Sequence[Sequence[int]],
    shape: Sequence[int], strides: Sequence[int], base: int, box: Sequence[int] = (4, 2),
) -> Kernel:
    """`base` is what stands in the buffer, and is added where not zero."""
    body = "\n".join((
        f"add.u64 %l1, %data, {_MOVED};", more,
        f"{opcode} [%map, {operands}, {coordinates(start)}], [%box];", DONE,
    ))
    before = list(range(1, len(places) + 1))
    data = [base] * _DATA
    for index, word in zip(places, before, strict=True):
        at = _moved(shape, strides, index)
        if at is not None:
            data[at] = word + base
    tensor = Tensor((8, 4, 4)[: len(start)], [5] * prod((8, 4, 4)[: len(start)]))
    return Kernel(
        name, body, "at the other address, as far as it is inside of the tensor", before,
        given={"map": tensor.spec(f"u32:full({len(tensor.words)},5)", box=sizes(box)),
               "data": f"u32:full({_DATA},{base})"},
        left={"map": tensor.words, "data": data},
    )


def _hints() -> Iterator[Kernel]:
    """Prefetches and priorities change nothing; in all of their forms."""
    for name, opcode in (
        ("prefetch", "cp.async.bulk.prefetch.tensor.{}d.L2.global.tile"),
        ("prefetch_last", "cp.async.bulk.prefetch.tensor.{}d.L2.global.tile.L2::evict_last"),
        ("priority", "applypriority.async.bulk.tensor.{}d.global.tile.bulk_group.L2::evict_normal"),
    ):
        for rank in (1, 2):
            more, operands, _, _ = _attributes(rank)
            start = coordinates((0,) * rank)
            tensor = counted(*(8, 4)[:rank])
            box = (4, 1)[:rank]
            body = "\n".join((
                f"add.u64 %l1, %data, {_MOVED};", more, f"{opcode.format(rank)} [%map, {start}];",
                f"{opcode.format(rank)}{_ADDRESS} [%map, %l1, {start}];",
                f"{opcode.format(rank)}{_whole(rank)} [%map, %l1, {operands}, {start}];",
                f"{STORE.format(rank, 'tile')} [%map, {start}], [%box];", DONE,
            ))
            yield Kernel(
                f"{name}_{rank}d", body, "the tensor stays as it is but for a box", [70, 71, 72, 73],
                given={"map": tensor.spec(f"u32:arange({len(tensor.words)})", box=sizes(box)),
                       "data": f"u32:arange({_DATA})"},
                left={"map": [70, 71, 72, 73, *tensor.words[4:]]},
            )


def _reports() -> Iterator[Kernel]:
    """A box in which all 16 bytes are -0, reported only by the pattern for such elements."""
    for name, report, bad in (
        ("80000000", "validity::per_16bytes::80000000", 1), ("8", "validity::per_16bytes::8", 0),
    ):
        body = "\n".join((
            EXPECT.format(32),
            f"{LOAD.format(1, 'shared::cluster', 'tile')}.mbarrier::report::{report}"
            " [%box], [%map, {0}], [%bar];",
            wait(),
            "mbarrier.test_wait.parity.phase_type::primary.shared::cta.b64 %p1|%p2, [bar], 0;",
            "selp.u32 %r0, 1, 0, %p2;\nst.shared.u32 [box+32], %r0;",
        ))
        tensor = Tensor((8,), [])
        yield Kernel(
            f"box_report_{name}", body, "what a copy reports of its data", [99] * 9,
            [[0x80000000] * 8 + [bad]], given={"map": tensor.spec("u32:full(8,0x80000000)", box="8")},
            arrivals=1, layout=".layout::v1",
        )


# -- tensormap.replace --------------------------------------------------------------------------

_COPY_MAP = """
.shared .align 128 .b8 changed[128];
""" + "\n".join(f"ld.u64 %l1, [%map+{at}];\nst.shared.u64 [changed+{at}], %l1;" for at in range(0, 128, 8))
"""A copy of the tensor map in shared memory."""

_PUBLISH = """
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned \
[%space], [changed], 128;
fence.proxy.tensormap::generic.acquire.gpu [%space], 128;
"""
"""The changed tensor map in global memory, where copies may use it."""


def _replace(
    name: str, fields: Sequence[str], tensor: Tensor, more: dict[str, object], load: str,
    start: Sequence[int], after: Sequence[int], why: str, *, values: str = "", bytes: int = 0,
) -> Kernel:
    """Changes fields of a tensor map in shared memory, then loads with it. `fields` are `FIELD operands`."""
    body = "\n".join((
        _COPY_MAP.strip(), *(_change(one, ".shared::cta", "changed") for one in fields), _PUBLISH.strip(),
        EXPECT.format(bytes or 4 * len(after)),
        f"{load} [%box], [%space, {coordinates(start)}], [%bar];", wait(),
    ))
    spec = tensor.spec(values or f"u32:arange({len(tensor.words)})", **more)
    return Kernel(
        name, body, why, [99] * (len(after) + 1), [[*after, 99]],
        given={"map": spec, "space": "u32:zeros(32)", "data": "u32:arange(500,700)"}, arrivals=1,
    )


def _change(field: str, space: str, place: str) -> str:
    name, _, operands = field.partition(" ")
    width = "b64" if name in ("global_address", "global_stride") else "b32"
    return f"tensormap.replace.tile.{name}{space}.b1024.{width} [{place}], {operands};"


_LOAD_1D = LOAD.format(1, "shared::cluster", "tile")
_LOAD_2D = LOAD.format(2, "shared::cluster", "tile")


def _replaced() -> Iterator[Kernel]:
    tensor, start = counted(8, 4), (4, 1)
    places = tile(start, (4, 2))

    def kernel(name: str, fields: Sequence[str], after: Sequence[int], why: str) -> Kernel:
        return _replace(name, fields, tensor, {"box": "2x4"}, _LOAD_2D, start, after, why)

    yield kernel(
        "global_address", ["global_address %data"], [500 + one for one in tensor.read(places)],
        "from another buffer",
    )
    yield kernel("box_dim", ["box_dim 1, 3"], tensor.read(tile(start, (4, 3))), "a box of three rows")
    yield kernel(
        "global_dim", ["global_dim 0, 6"], [12, 13, 0, 0, 20, 21, 0, 0], "rows of 6, still 8 words apart"
    )
    yield kernel(
        "element_stride", ["box_dim 1, 4", "element_stride 1, 3"], tensor.read(tile(start, (4, 4), (1, 3))),
        "every third row of four, of which one is there",
    )
    yield kernel(
        "global_stride", ["global_stride 0, 48"], [x + 12 * y for x, y in places], "rows 48 bytes apart"
    )
    yield _replace(
        "rank", ["rank 0"], tensor, {"box": "2x4"}, _LOAD_1D, (3,), [3, 4, 5, 6],
        "a tensor of one dimension: its first row",
    )
    yield _replace(
        "elemtype", ["elemtype 1"], counted(8), {"box": "8"}, _LOAD_1D, (2,), [1, 2, 3, 0],
        ".u16: 16 bytes from byte 4 on, where the tensor has 16",
    )
    yield _replace(
        "swizzle_mode", ["swizzle_mode 2"], counted(16, 8), {"box": "8x16"}, _LOAD_2D, (0, 0),
        _swizzled("01234567 10325476 23016745 32107654"), "64 bytes: the table of the mode",
    )
    slices = counted(4, 3, 2, 2)
    yield _replace(
        "interleave_layout_1", [
            "interleave_layout 1", "rank 2", "global_dim 0, 3", "global_dim 1, 2", "global_dim 2, 2",
            "global_stride 0, 48", "global_stride 1, 96", "box_dim 0, 2", "box_dim 1, 1", "box_dim 2, 2",
        ],
        slices, {"box": "1x1x1x4"}, LOAD.format(3, "shared::cluster", "tile"), (1, 1, 0),
        slices.read([(word, width, 1, image) for image in (0, 1) for width in (1, 2) for word in range(4)]),
        "the second slice of 16 bytes of two pixels in two images",
    )
    yield _replace(
        "interleave_layout", ["interleave_layout 0"], counted(8, 8), {"box": "8x8", "swizzle": "32B"},
        _LOAD_2D, (0, 0), _swizzled("01234567 10325476"), "not interleaved, and swizzled, as before",
    )


def _swizzled(table: str) -> list[int]:
    """The words of lines of 128 bytes by a table of "Swizzling Modes"."""
    return [
        32 * line + 4 * int(piece) + word
        for line, pieces in enumerate(table.split()) for piece in pieces for word in range(4)
    ]


def _in_place() -> Kernel:
    """In global memory, by its state space and by generic addresses. OOB-NaN is a NaN of unknown bits."""
    body = "\n".join((
        *(f"ld.u64 %l1, [%map+{at}];\nst.global.u64 [%space+{at}], %l1;" for at in range(0, 128, 8)),
        _change("fill_mode 1", "", "%space"), _change("global_dim 0, 6", ".global", "%space"),
        "fence.proxy.tensormap::generic.release.gpu;",
        "fence.proxy.tensormap::generic.acquire.gpu [%space], 128;",
        EXPECT.format(16), f"{_LOAD_1D} [%box], [%space, {{4}}], [%bar];", wait(),
        *(
            f"ld.shared.f32 %f1, [box+{at}];\ntestp.notanumber.f32 %p1, %f1;\n"
            f"selp.u32 %r1, 1, 0, %p1;\nst.shared.u32 [box+{at}], %r1;" for at in (8, 12)
        ),
    ))
    return Kernel(
        "fill_mode", body, "4 and 5 as .f32, then NaN behind 6 elements", [99] * 5,
        [[0x40800000, 0x40A00000, 1, 1, 99]],
        given={"map": "tensor(f32:arange(8),box=4)", "space": "u32:zeros(32)"}, arrivals=1,
    )


def _newer() -> Iterator[Kernel]:
    for number, table in ((1, "01234567 23016745 45670123 67452301"), (3, "01234567 45670123")):
        lines = len(table.split())
        yield _replace(
            f"swizzle_atomicity_{number}", [f"swizzle_atomicity {number}"], counted(32, lines),
            {"box": f"{lines}x32", "swizzle": "128B"}, _LOAD_2D, (0, 0), _swizzled(table),
            "the table of the mode",
        )
    yield _replace(
        "elemtype_small", ["elemtype 13"], counted(32), {"box": "32"}, _LOAD_1D, (16,), [2, 3, 0, 0],
        ".b4x16: 32 elements are 16 bytes, of which the first 8 are left out",
    )
    for number, count, name in ((14, 2, ".b4x16_p64"), (15, 3, ".b6x16_p32")):
        after = [
            count * piece + word if word < count else 99 for piece in range(8) for word in range(4)
        ]
        yield _replace(
            f"elemtype_{number}", [f"elemtype {number}", "global_dim 0, 128", "box_dim 0, 128"],
            counted(8 * count), {"box": str(8 * count)}, _LOAD_1D, (0,), after,
            f"{name}: behind {4 * count} bytes are {16 - 4 * count} of padding, which are not written",
            bytes=32 * count,
        )


def _newest() -> Iterator[Kernel]:
    yield _replace(
        "swizzle_96B", ["swizzle_mode 4"], counted(16, 4), {"box": "4x16", "swizzle": "128B"}, _LOAD_2D,
        (0, 0), _swizzled("01234567 10325476"), "the table of the mode",
    )
