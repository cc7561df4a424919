"""Kernels for st.async, red.async, st.bulk, and arrivals at mbarriers of other blocks."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.asynchronous.kernel import MEET, File, Kernel, looked, wait

_OLD = 0xAAAAAAAA
_TELLS = "mbarrier::complete_tx::bytes"


def files() -> Iterator[File]:
    yield File(
        "async_stores", "stores and reductions in the shared memory of another block", "9.2", "sm_90",
        [_stores(), _reductions()],
    )
    yield File(
        "async_arrivals", "arrivals at the mbarrier of another block", "8.3", "sm_90", list(_arrivals()),
    )
    yield File(
        "async_release", "stores and reductions in global memory, st.bulk", "9.2", "sm_100",
        [_released(), _reduced(), _zeros()],
    )


def _stores() -> Kernel:
    """40 bytes come from the other block; words 1 and 11 stay."""
    body = f"""
mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], 40;
add.u32 %r1, %rank, 0x100;
add.u32 %r2, %rank, 0x200;
add.u32 %r3, %rank, 0x300;
st.async.weak.shared::cluster.{_TELLS}.u32 [%far], %r1, [%farbar];
mov.b64 %l1, {{%r2, %r1}};
st.async.cluster.shared::cluster.{_TELLS}.b64 [%far+8], %l1, [%farbar];
mov.b64 %l2, {{%r3, %r2}};
mov.b128 %w0, {{%l2, %l1}};
st.async.weak.shared::cluster.{_TELLS}.b128 [%far+16], %w0, [%farbar];
st.async.shared::cluster.{_TELLS}.v2.s32 [%far+32], {{%r3, %r1}}, [%farbar];
st.async.cluster.shared::cluster.{_TELLS}.u32 [%far+40], %r2, [%farbar];
{wait()}
"""
    after: list[list[int]] = []
    for rank in range(2):
        a, b, c = (one + 1 - rank for one in (0x100, 0x200, 0x300))
        after.append([a, _OLD, b, a, c, b, b, a, c, a, b, _OLD])
    return Kernel(
        "stores", body, "what the other block sent, its rank in the last digit", [_OLD] * 12, after,
        arrivals=1, cluster=2,
    )


def _reductions() -> Kernel:
    """Each with an old value and an operand for which the neighbouring operations give something else."""
    operations = [
        (".inc.u32", 5, 5, 0), (".inc.u32", 4, 5, 5), (".dec.u32", 0, 9, 9), (".dec.u32", 10, 9, 9),
        (".min.s32", 1, 0xFFFFFFFF, 0xFFFFFFFF), (".min.u32", 1, 0xFFFFFFFF, 1),
        (".max.s32", 1, 0xFFFFFFFF, 1), (".max.u32", 1, 0xFFFFFFFF, 0xFFFFFFFF),
        (".and.b32", 0xFF00FF00, 0x0FF00FF0, 0x0F000F00), (".or.b32", 0xFF00FF00, 0x0FF00FF0, 0xFFF0FFF0),
        (".xor.b32", 0xFF00FF00, 0x0FF00FF0, 0xF0F0F0F0), (".add.s32", 0xFFFFFFFF, 3, 2),
    ]
    head = f"red.async.relaxed.cluster.shared::cluster.{_TELLS}"
    lines = [
        f"mov.u32 %r1, {operand:#x};\n{head}{name} [%far+{4 * at}], %r1, [%farbar];"
        for at, (name, _, operand, _) in enumerate(operations)
    ]
    lines.append("add.u32 %r1, %rank, 1;\ncvt.u64.u32 %l1, %r1;")
    lines.append(f"{head}.add.u64 [%far+48], %l1, [%farbar];")
    size = 4 * len(operations) + 8
    expect = f"mbarrier.arrive.expect_tx.shared::cta.b64 %l0, [bar], {size};"
    body = "\n".join((expect, *lines, wait()))
    before = [old for _, old, _, _ in operations] + [0xFFFFFFFF, 7]
    after = [[new for _, _, _, new in operations] + [1 - rank, 8] for rank in range(2)]
    return Kernel(
        "reductions", body, "inc, dec, min, max, and, or, xor and add as for atom; the carry of .u64",
        before, after, arrivals=1, cluster=2,
    )


def _arrivals() -> Iterator[Kernel]:
    """Block 0 acts on the mbarrier of block 1, which waits for three arrivals; `%p1` is true in block 0."""
    first = "setp.eq.u32 %p1, %rank, 0;"
    remote = "@%p1 mbarrier.{}.shared::cluster.b64 _, [%farbar], {};"
    local = "mbarrier.arrive.shared::cta.b64 %l0, [bar];"
    yield Kernel(
        "arrive", "\n".join((
            first, remote.format("arrive.release.cluster", 2), MEET, local, looked(0, 0), local, local,
            looked(1, 0), looked(2, 1),
        )),
        "two of three arrivals come from block 0, then one; of the next three there are two",
        [9] * 3, [[0, 1, 0], [1, 1, 0]], arrivals=3, cluster=2,
    )
    yield Kernel(
        "arrive_drop", "\n".join((
            first, remote.format("arrive_drop.release.cluster", 2), MEET, local, looked(0, 0), local,
            looked(1, 1), local, looked(2, 0), looked(3, 1),
        )),
        "as arrive, and in later phases of block 1 one arrival is enough; before phase 0 all are complete",
        [9] * 4, [[0, 1, 1, 0], [1, 1, 1, 0]], arrivals=3, cluster=2,
    )
    for name, last in (("arrive", 0), ("arrive_drop", 1)):
        yield Kernel(
            f"{name}_expect", "\n".join((
                first, remote.format(f"{name}.expect_tx.release.cluster", 24), MEET, local, local,
                looked(0, 0),
                "@%p1 bra over;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 24;", looked(1, 0),
                local, local, looked(2, 1), "over:",
            )),
            f"phase 0 waits for 24 bytes, phase 1 for {3 - last} arrivals",
            [9] * 3, [[0, 9, 9], [0, 1, last]], arrivals=3, cluster=2,
        )


def _released() -> Kernel:
    body = """
mov.b32 %r1, 0x12345678;
mov.b64 %l1, 0x123456789abcdef0;
mov.b16 %h1, 0xfedc;
mov.f32 %f1, 0f3F800000;
st.async.release.gpu.global.b32 [%out], %r1;
st.async.release.sys.global.s64 [%out+8], %l1;
st.async.mmio.release.sys.global.f32 [%out+16], %f1;
st.async.weak.global.u16 [%out+22], %h1;
"""
    wanted = [0x12345678, 7, 0x9ABCDEF0, 0x12345678, 0x3F800000, 0xFEDC0007, 7]
    return Kernel(
        "released", body, "each in its place, and no byte more", given={"out": "u32:full(7,7)"},
        left={"out": wanted},
    )


def _reduced() -> Kernel:
    body = """
mov.b32 %r1, -3;
mov.b64 %l1, 0x100000001;
red.async.release.gpu.global.add.u32 [%out], %r1;
red.async.release.sys.global.add.s32 [%out+4], %r1;
red.async.release.gpu.global.add.u64 [%out+8], %l1;
red.async.mmio.release.sys.global.add.u32 [%out+16], %r1;
"""
    return Kernel(
        "reduced", body, "the carry goes into the upper half of .u64 alone",
        given={"out": "u32:[5,2,0xffffffff,1,0,8]"}, left={"out": [2, 0xFFFFFFFF, 0, 3, 0xFFFFFFFD, 8]},
    )


def _zeros() -> Kernel:
    body = """
mov.b32 %r1, 8;
mov.b64 %l1, 16;
cvt.u64.u32 %l2, %box;
cvta.shared.u64 %l2, %l2;
st.bulk.weak.shared::cta [%box+8], 8, 0;
st.bulk.weak.shared::cta [%box+24], %r1, 0;
st.bulk.weak [%l2+40], %l1, 0;
"""
    zeros = (2, 3, 6, 7, 10, 11, 12, 13)
    after = [0 if at in zeros else at + 1 for at in range(16)]
    return Kernel("zeros", body, "8, 8 and 16 bytes are zeros", list(range(1, 17)), [after])
