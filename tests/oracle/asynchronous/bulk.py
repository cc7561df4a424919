"""Kernels for bulk copies and reductions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.oracle.asynchronous.kernel import File, Kernel, bytes_of, wait, words, words_of

_TELLS = "mbarrier::complete_tx::bytes"
_DONE = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
_EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], {};"
_POLICY = "createpolicy.fractional.L2::evict_first.b64 %l9, 1.0;"


def files() -> Iterator[File]:
    reductions = list(_reductions())
    ordered = [one for one in reductions if ".relaxed" in one.body]
    yield File(
        "async_bulk", "bulk copies, and reductions in shared memory or with an order", "9.3", "sm_90a",
        [_into(), _ignored(), _to_several(), _between(), _out_of(), *_reduced_between(), *ordered],
    )
    yield File(
        "async_bulk_reduce", "bulk reductions in global memory", "8.3", "sm_90a",
        [one for one in reductions if one not in ordered],
    )
    yield File(
        "async_bulk_masks", "bulk copies of some bytes of each 16", "9.3", "sm_100a",
        [_masked("", ""), _masked(".relaxed.sys", ".b128")],
    )
    yield File(
        "async_bulk_newest", "bulk copies, reductions and hints of PTX 9.4", "9.4", "sm_107a",
        [_to_many(), _reduction("noftz_f32", ".add.noftz.f32", _FLOATS), _hints()],
    )


def _into() -> Kernel:
    """Global memory to that of the block: each copy comes from another place."""
    body = "\n".join((
        _EXPECT.format(64), _POLICY,
        f"cp.async.bulk.weak.shared::cta.global.{_TELLS} [%box+32], [%src], 32, [%bar];",
        "add.u64 %l1, %src, 64;",
        f"cp.async.bulk.relaxed.gpu.shared::cta.global.{_TELLS}.L2::cache_hint.b128"
        " [%box], [%l1], 16, [%bar], %l9;",
        "mov.b32 %r1, 16;",
        f"cp.async.bulk.shared::cluster.global.{_TELLS} [%box+64], [%l1+16], %r1, [%bar];",
        wait(),
    ))
    after = [*range(16, 20), *[9] * 4, *range(8), *range(20, 24)]
    return Kernel(
        "into", body, "32, 16 and 16 bytes, and no byte more", [9] * 20, [after],
        given={"src": "u32:arange(32)"}, arrivals=1,
    )


def _ignored() -> Kernel:
    """The last 4 of 48 bytes lie outside of the buffer; what is ignored is overwritten, since it may be
    anything.
    """
    relaxed = "cp.async.bulk.relaxed.sys.shared::cta.global"
    body = "\n".join((
        _EXPECT.format(96), "mov.b32 %r1, 0;",
        f"cp.async.bulk.weak.shared::cta.global.{_TELLS}.ignore_oob [%box], [%src], 48, 0, 4, [%bar];",
        f"{relaxed}.{_TELLS}.b128.ignore_oob [%box+48], [%src], 48, 6, 4, [%bar];",
        wait(),
        "st.shared.u32 [box+44], %r1;\nst.shared.u32 [box+48], %r1;\nst.shared.u16 [box+52], %r1;",
        "st.shared.u32 [box+92], %r1;",
    ))
    numbers = [0x01010101 * at for at in range(1, 12)]
    after = [*numbers, 0, 0, 0x02020000, *numbers[2:], 0]
    return Kernel(
        "ignored", body, "all bytes but 4 at the end, then but 6 at the beginning as well", [9] * 24, [after],
        given={"src": words(numbers)}, arrivals=1,
    )


def _to_several() -> Kernel:
    """Block 1 of four copies to the blocks of a mask; each has the data in the same place, and the bytes."""
    body = "\n".join((
        "shr.u32 %r1, 0xd, %rank;\nand.b32 %r1, %r1, 1;\nshl.b32 %r1, %r1, 5;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], %r1;",
        "mov.b16 %h1, 13;\nsetp.eq.u32 %p1, %rank, 1;",
        f"@%p1 cp.async.bulk.weak.shared::cluster.global.{_TELLS}.multicast::cluster"
        " [%box+16], [%src+16], 16, [%bar], %h1;",
        f"@%p1 cp.async.bulk.relaxed.cluster.shared::cluster.global.{_TELLS}.multicast::cluster.b128"
        " [%box+48], [%src], 16, [%bar], %h1;",
        wait(),
    ))
    came = [9] * 4 + [4, 5, 6, 7] + [9] * 4 + [0, 1, 2, 3]
    return Kernel(
        "to_several", body, "blocks 0, 2 and 3 wait for 32 bytes, block 1 for none", [9] * 16,
        [came, [9] * 16, came, came], given={"src": "u32:arange(8)"}, arrivals=1, cluster=4,
    )


def _between() -> Kernel:
    """From a block to the other one, which is told."""
    body = "\n".join((
        _EXPECT.format(48),
        "st.shared.u32 [box+4], %rank;\nfence.proxy.async.shared::cta;",
        f"cp.async.bulk.weak.shared::cluster.shared::cta.{_TELLS} [%far+32], [%box], 32, [%farbar];",
        f"cp.async.bulk.relaxed.cluster.shared::cluster.shared::cta.{_TELLS}.b128"
        " [%far+64], [%box+16], 16, [%farbar];",
        wait(),
    ))
    after = [[0, rank, *range(2, 8), 0, 1 - rank, *range(2, 8), *range(4, 8)] for rank in range(2)]
    return Kernel(
        "between", body, "word 1 is the rank of the block that it comes from", list(range(20)), after,
        arrivals=1, cluster=2,
    )


def _out_of() -> Kernel:
    body = "\n".join((
        _POLICY,
        "cp.async.bulk.weak.global.shared::cta.bulk_group.L2::cache_hint [%to+16], [%box], 16, %l9;",
        "cp.async.bulk.relaxed.gpu.global.shared::cta.bulk_group.b128 [%to+32], [%box+32], 32;",
        _DONE,
    ))
    return Kernel(
        "out_of", body, "16 and 32 bytes, and no byte more", list(range(16)), given={"to": "u32:full(20,77)"},
        left={"to": [*[77] * 4, *range(4), *range(8, 16), *[77] * 4]},
    )


def _masked(order: str, type: str) -> Kernel:
    body = "\n".join((
        "mov.b16 %h1, 0x8421;",
        f"cp.async.bulk{order}.global.shared::cta.bulk_group.cp_mask{type} [%to], [%box], 32, %h1;", _DONE,
    ))
    before = [0x03020100 + 0x04040404 * at for at in range(8)]
    data = bytes_of(before)
    left = bytes_of([0xEEEEEEEE] * 8)
    for at in range(32):
        if at % 16 in (0, 5, 10, 15):
            left[at] = data[at]
    return Kernel(
        f"masked{type.replace('.', '_')}", body, "bytes 0, 5, 10 and 15 of each 16", before,
        given={"to": "u32:full(8,0xeeeeeeee)"}, left={"to": words_of(left)},
    )


def _to_many() -> Kernel:
    """A mask of 32 bits, of which the upper ones name no block."""
    body = "\n".join((
        "and.b32 %r1, %rank, 1;\nshl.b32 %r1, %r1, 4;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], %r1;",
        "mov.b32 %r2, 0xa;\nsetp.eq.u32 %p1, %rank, 0;",
        f"@%p1 cp.async.bulk.shared::cluster.global.{_TELLS}.multicast::cluster::32b"
        " [%box], [%src], 16, [%bar], %r2;",
        wait(),
    ))
    after = [list(range(4)) if rank % 2 else [9] * 4 for rank in range(4)]
    return Kernel(
        "to_many", body, "blocks 1 and 3 are in the mask", [9] * 4, after, given={"src": "u32:arange(4)"},
        arrivals=1, cluster=4,
    )


def _hints() -> Kernel:
    body = "\n".join((
        "cp.async.bulk.prefetch.L2.global.L2::evict_last [%data], 64;",
        "applypriority.async.bulk.global.bulk_group.L2::evict_normal [%data], 64;",
        "cp.async.bulk.global.shared::cta.bulk_group [%data+16], [%box], 16;", _DONE,
    ))
    return Kernel(
        "hints", body, "caches may be told of data; they stay as they are", [9] * 4,
        given={"data": "u32:arange(16)"}, left={"data": [0, 1, 2, 3, 9, 9, 9, 9, *range(8, 16)]},
    )


# -- reductions ---------------------------------------------------------------------------------

Case = tuple[int, int, int]
"""What stands there, what comes, and what stands there then."""

_TOP, _ALL = 1 << 31, (1 << 32) - 1
_INTEGERS: list[tuple[str, list[Case]]] = [
    (".add.u32", [(_ALL, 2, 1), (5, 6, 11), (0, 0, 0), (_TOP, _TOP, 0)]),
    (".add.s32", [(_ALL, 2, 1), (5, _ALL, 4), (0, 7, 7), (_TOP, _ALL, _TOP - 1)]),
    (".min.u32", [(_ALL, 2, 2), (5, 6, 5), (0, _TOP, 0), (_TOP, 1, 1)]),
    (".max.u32", [(_ALL, 2, _ALL), (5, 6, 6), (0, _TOP, _TOP), (_TOP, 1, _TOP)]),
    (".min.s32", [(_ALL, 2, _ALL), (5, 6, 5), (0, _TOP, _TOP), (_TOP, 1, _TOP)]),
    (".max.s32", [(_ALL, 2, 2), (5, 6, 6), (0, _TOP, 0), (_TOP, 1, 1)]),
    (".inc.u32", [(4, 5, 5), (5, 5, 0), (6, 5, 0), (_ALL, _ALL, 0)]),
    (".dec.u32", [(4, 5, 3), (0, 5, 5), (6, 5, 5), (5, 5, 4)]),
    (".and.b32", [(0xFF00FF00, 0x0FF00FF0, 0x0F000F00), (12, 10, 8), (_ALL, 5, 5), (0, _ALL, 0)]),
    (".or.b32", [(0xFF00FF00, 0x0FF00FF0, 0xFFF0FFF0), (12, 10, 14), (0, 5, 5), (0, _ALL, _ALL)]),
    (".xor.b32", [(0xFF00FF00, 0x0FF00FF0, 0xF0F0F0F0), (12, 10, 6), (5, 5, 0), (0, _ALL, _ALL)]),
]
_WIDE_ALL, _WIDE_TOP = (1 << 64) - 1, 1 << 63
_WIDE: list[tuple[str, list[Case]]] = [
    (".add.u64", [(_ALL, 1, 1 << 32), (_WIDE_ALL, 2, 1)]),
    (".min.u64", [(_WIDE_ALL, 1 << 32, 1 << 32), (1 << 32, 5, 5)]),
    (".max.s64", [(_WIDE_ALL, 0, 0), (_WIDE_TOP, 1 << 32, 1 << 32)]),
    (".min.s64", [(_WIDE_ALL, 0, _WIDE_ALL), (1 << 32, _ALL, _ALL)]),
    (".max.u64", [(_WIDE_ALL, 0, _WIDE_ALL), (1 << 32, _ALL, 1 << 32)]),
    (".and.b64", [(_WIDE_ALL, 5 << 40, 5 << 40), (12 << 32, 10 << 32, 8 << 32)]),
    (".or.b64", [(5, 5 << 40, 5 << 40 | 5), (12 << 32, 10 << 32, 14 << 32)]),
    (".xor.b64", [(_WIDE_ALL, 1 << 63, _WIDE_TOP - 1), (12 << 32, 10 << 32, 6 << 32)]),
    (".add.f64", [(0x3FF0000000000000, 0x3CA0000000000000, 0x3FF0000000000000), (1, 1, 2)]),
]
_FLOATS: list[Case] = [
    (0x3F800000, 0x33800000, 0x3F800000),  # 1 + 2^-24, half way: the even one
    (0x3F800001, 0x33800000, 0x3F800002),
    (1, 1, 2),  # subnormal numbers
    (0x7F7FFFFF, 0x7F7FFFFF, 0x7F800000),
]
_FLUSHED: list[Case] = [
    (0x3F800001, 0x33800000, 0x3F800002), (1, 1, 0), (0x80800001, 0x00800000, 0x80000000),
    (0x80000001, 0x80000001, 0x80000000),
]
_HALVES: list[Case] = [
    (0x6800, 0x3C00, 0x6800), (0x6801, 0x3C00, 0x6802), (1, 1, 2), (0x7BFF, 0x7BFF, 0x7C00),
    (0x3C00, 0xBC00, 0), (0x4000, 0x4200, 0x4500), (0x8001, 1, 0), (0xFC00, 0x3C00, 0xFC00),
]
_BRAINS: list[Case] = [
    (0x4380, 0x3F80, 0x4380), (0x4381, 0x3F80, 0x4382), (1, 1, 2), (0x7F7F, 0x7F7F, 0x7F80),
    (0x3F80, 0xBF80, 0), (0x4000, 0x4040, 0x40A0), (0x8001, 1, 0), (0xFF80, 0x3F80, 0xFF80),
]
_HALF_LEAST: list[Case] = [
    (0x3C00, 0xBC00, 0xBC00), (0x4000, 0x3C00, 0x3C00), (0x0001, 0x8001, 0x8001), (0x7C00, 0x7BFF, 0x7BFF),
    (0xC000, 0xBC00, 0xC000), (0x0002, 0x0001, 0x0001), (0x4200, 0x4200, 0x4200), (0xFC00, 0x0000, 0xFC00),
]
_BRAIN_MOST: list[Case] = [
    (0x3F80, 0xBF80, 0x3F80), (0x4000, 0x3F80, 0x4000), (0x0001, 0x8001, 0x0001), (0x7F80, 0x7F7F, 0x7F80),
    (0xC000, 0xBF80, 0xBF80), (0x0002, 0x0001, 0x0002), (0x4040, 0x4040, 0x4040), (0xFF80, 0x0000, 0x0000),
]


def _reductions() -> Iterator[Kernel]:
    for name, cases in [*_INTEGERS, *_WIDE]:
        order = ".relaxed.gpu" if "xor" in name else ""
        yield _reduction(name[1:].replace(".", "_"), name, cases, order)
    yield _reduction("add_f32", ".add.f32", _FLUSHED, why="subnormal numbers are zeros of their sign")
    yield _reduction("noftz_f16", ".add.noftz.f16", _HALVES, ".relaxed.sys")
    yield _reduction("noftz_bf16", ".add.noftz.bf16", _BRAINS)
    yield _reduction("min_f16", ".min.f16", _HALF_LEAST)
    yield _reduction("max_bf16", ".max.bf16", _BRAIN_MOST)


def _reduction(
    name: str, operation: str, cases: Sequence[Case], order: str = "",
    why: str = "subnormal numbers are kept",
) -> Kernel:
    size = 16 // len(cases)
    body = "\n".join((
        f"cp.reduce.async.bulk{order}.global.shared::cta.bulk_group{operation} [%to], [%box], 16;", _DONE,
    ))
    old, come, new = (
        words_of(b"".join(case[at].to_bytes(size, "little") for case in cases)) for at in range(3)
    )
    return Kernel(
        name, body, f"element by element, as for atom; {why}", come,
        given={"to": f"u32:[{','.join(map(hex, old))}]"}, left={"to": new},
    )


def _reduced_between() -> Iterator[Kernel]:
    """The same in the shared memory of the other block; all operations in a kernel, 16 bytes each."""
    wide = [one for one in _WIDE if one[0] == ".add.u64"]
    lines: list[str] = []
    old, come, new = list[int](), list[int](), list[int]()
    cases = [*_INTEGERS, *wide]
    for at, (name, numbers) in enumerate(cases):
        size = 16 // len(numbers)
        for part, into in enumerate((old, come, new)):
            into += words_of(b"".join(case[part].to_bytes(size, "little") for case in numbers))
        order = ".relaxed.cluster" if at % 2 else ""
        lines.append(
            f"cp.reduce.async.bulk{order}.shared::cluster.shared::cta.{_TELLS}{name}"
            f" [%far+{16 * at}], [%box+{16 * (at + len(cases))}], 16, [%farbar];"
        )
    body = "\n".join((_EXPECT.format(16 * len(cases)), *lines, wait()))
    yield Kernel(
        "reduced_between", body, "element by element, as for atom", [*old, *come], [[*new, *come]] * 2,
        arrivals=1, cluster=2,
    )
