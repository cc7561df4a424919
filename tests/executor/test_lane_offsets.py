"""Full warps of which each lane has so much more than the first one: addresses, widened and narrowed."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.native.hot import NativeMode
from tests.executor.test_native import both

Block = tuple[int, int, int]
_COUNT = 4096


def kernel(body: str) -> str:
    """`%rd1` and `%rd2` are in the middle of buffers, `%r1` to `%r3` the position of a thread, `%r4` its
    number in the grid.
    """
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<30>;
    .reg .b64 %rd<30>;
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    add.u64 %rd1, %rd1, {2 * _COUNT};
    add.u64 %rd2, %rd2, {2 * _COUNT};
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    mov.u32 %r5, %ntid.x;
    mov.u32 %r6, %ntid.y;
    mad.lo.u32 %r4, %r3, %r6, %r2;
    mad.lo.u32 %r4, %r4, %r5, %r1;
    mov.u32 %r7, %ntid.z;
    mul.lo.u32 %r8, %r5, %r6;
    mul.lo.u32 %r8, %r8, %r7;
    mov.u32 %r9, %ctaid.x;
    mad.lo.u32 %r4, %r9, %r8, %r4;
    mov.u32 %r10, %laneid;
{body}
    ret;
}}
"""


_STEPS = (
    "add.u32 {d}, {a}, {b};", "sub.u32 {d}, {a}, {b};", "mul.lo.u32 {d}, {a}, {c};", "shl.b32 {d}, {a}, {c};",
    "add.u32 {d}, {a}, {c};", "mad.lo.u32 {d}, {a}, {c}, {b};", "xor.b32 {d}, {a}, {b};",
    "sub.u32 {d}, {c}, {a};", "mul.lo.u32 {d}, {a}, {b};", "and.b32 {d}, {a}, {c};", "shr.u32 {d}, {a}, {c};",
    "cvt.u32.u16 {d}, {h};", "cvt.s32.s8 {d}, {h};", "selp.b32 {d}, {a}, {b}, %p1;", "max.s32 {d}, {a}, {b};",
)
_WIDE = (
    "mul.wide.u32 {w}, {a}, 4;", "mul.wide.s32 {w}, {a}, 4;", "cvt.u64.u32 {w}, {a};",
    "cvt.s64.s32 {w}, {a};", "mad.wide.s32 {w}, {a}, -4, %rd20;", "mul.wide.s32 {w}, {a}, {c};",
)
_CONSTANTS = (0, 1, 2, 3, 4, 8, 31, 0x7FFFFFF0, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0)


@pytest.mark.parametrize("seed", range(24))
def test_random_indices(seed: int) -> None:
    """Values of 32 bits, wider ones, and accesses at addresses made of them, which always are in range."""
    choose = np.random.default_rng(seed)
    block = ((64, 1, 1), (32, 3, 1), (16, 4, 2), (8, 8, 1), (40, 2, 1), (96, 1, 1))[seed % 6]

    def pick(texts: tuple[str, ...]) -> str:
        a, b, d = (f"%r{choose.integers(*one)}" for one in ((1, 15), (1, 15), (11, 15)))
        w, c = f"%rd{choose.integers(20, 24)}", choose.choice(_CONSTANTS)
        return str(choose.choice(texts)).format(a=a, b=b, d=d, w=w, c=c, h="%h1")

    lines = ["mov.u64 %rd20, 64;", "setp.lt.u32 %p1, %r1, 9;", "cvt.u64.u32 %rd19, %r4;", ".reg .b16 %h<3>;"]
    lines += [f"mov.u32 %r{one}, {'%r1' if one == 11 else one};" for one in range(11, 15)]
    lines += [f"mov.u64 %rd{one}, {one};" for one in range(21, 24)]
    for number in range(14):
        lines.append(pick(_STEPS))
        lines.append("cvt.u16.u32 %h1, %r11;")
        if number % 2:
            lines.append(pick(_WIDE))
        if number % 4 == 3:
            size = int(choose.choice([2, 4, 8]))
            lines += [f"and.b64 %rd10, %rd{choose.integers(20, 24)}, {0xFF8 | -size & 7};"]
            if choose.integers(2):  # else the access is as regular as the register
                lines.append(f"mul.wide.s32 %rd10, %r10, {size};")
            loaded = {2: "u16 %r12", 4: "u32 %r12", 8: "u64 %rd12"}[size]
            guard = str(choose.choice(["", "@%p1 "]))
            lines += ["add.u64 %rd11, %rd2, %rd10;", f"{guard}ld.global.{loaded}, [%rd11];"]
    lines += ["shl.b32 %r20, %r4, 2;", "mul.wide.u32 %rd13, %r4, 4;", "add.u64 %rd13, %rd1, %rd13;"]
    lines += [f"cvt.u32.u64 %r{one}, %rd{one};" for one in range(20, 24)]
    lines += [f"xor.b32 %r11, %r11, %r{one};" for one in (12, 13, 14, 20, 21, 22, 23)]
    lines += ["st.global.u32 [%rd13], %r11;", "st.global.u32 [%rd13+-4096], %r12;"]
    numbers = choose.integers(0, 1 << 32, 2 * _COUNT).astype(np.uint32)
    _, left = both(kernel("\n".join(lines)), "k", 2, block, [np.zeros(2 * _COUNT, np.uint32), numbers])
    assert left == 0


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 4, 1), (4, 4, 4), (48, 2, 1)])
@pytest.mark.parametrize("moved", [
    "mul.lo.u32 %r20, %r4, 4;",
    "sub.u32 %r20, 96, %r1; mul.lo.u32 %r20, %r20, 4;",
    "mad.lo.u32 %r20, %r2, 64, %r1; shl.b32 %r20, %r20, 2;",
    "mad.lo.u32 %r20, %r1, 128, %r2; and.b32 %r20, %r20, 2044;",
    "mul.lo.u32 %r20, %r2, 4;",
    "mul.lo.u32 %r20, %r3, 16;",
    "mul.lo.u32 %r20, %r1, 8;",
    "mul.lo.u32 %r20, %r1, 16;",
])
def test_accesses_of_each_pattern(block: Block, moved: str) -> None:
    """Shared and global memory, one element and several."""
    body = f"""
    {moved}
    mov.u32 %r21, tile;
    add.u32 %r21, %r21, %r20;
    st.shared.u32 [%r21], %r4;
    bar.sync 0;
    ld.shared.u32 %r22, [%r21];
    cvt.u64.u32 %rd10, %r20;
    add.u64 %rd11, %rd2, %rd10;
    add.u64 %rd12, %rd1, %rd10;
    ld.global.u32 %r23, [%rd11+-64];
    and.b64 %rd13, %rd11, -16;
    ld.global.v4.u32 {{%r24, %r25, %r26, %r27}}, [%rd13];
    add.u32 %r22, %r22, %r23;
    xor.b32 %r22, %r22, %r27;
    st.global.u32 [%rd12], %r22;
    and.b64 %rd14, %rd12, -8;
    st.global.v2.u32 [%rd14+4096], {{%r25, %r22}};"""
    numbers = np.random.default_rng(5).integers(0, 1 << 32, 2 * _COUNT).astype(np.uint32)
    both(kernel(body), "k", 1, block, [np.zeros(2 * _COUNT, np.uint32), numbers])


@pytest.mark.parametrize("shift", [-2064, -2052, -2048, 1932, 1920, 1924, 2, 0xFFFF0000, -0x80000000])
@pytest.mark.parametrize("access", [
    "ld.global.u32 %r20, [%rd11];", "st.global.u32 [%rd11], %r4;", "ld.global.u16 %r20, [%rd11];",
    "st.global.u32 [%rd12], %r4; st.global.u32 [%rd11], %r4;",
])
@pytest.mark.parametrize("index", ["%r1", "%r10", "%r22"])
def test_accesses_that_leave_memory(shift: int, access: str, index: str) -> None:
    """Whether an access of a whole warp is in range, to the byte: the same error, and the same memory."""
    body = f"""
    sub.u32 %r22, 31, %r10;
    mul.wide.u32 %rd10, {index}, 4;
    add.u64 %rd11, %rd2, %rd10;
    add.s64 %rd11, %rd11, {shift};
    add.u64 %rd12, %rd1, %rd10;
    {access}"""
    found: list[tuple[str, object, bytes]] = []
    modes: tuple[NativeMode, ...] = ("off", "always")
    text = kernel(body).replace(str(2 * _COUNT), "2048")
    for mode in modes:
        out, message, lanes = np.zeros(1024, np.uint32), "", ()
        try:
            launch(text, entry="k", grid=2, block=64, args=[out, np.zeros(1024, np.uint32)], native=mode)
        except ExecutionError as error:
            message, lanes = str(error), error.lanes
        found.append((message, lanes, out.tobytes()))
    assert found[0] == found[1]


def test_sums_that_wrap_around_within_a_warp() -> None:
    """A wider index is not that of the first lane and so much more."""
    body = """
    add.u32 %r11, %r1, 0xFFFFFFF0;
    mul.wide.u32 %rd10, %r11, 4;
    and.b64 %rd10, %rd10, 2044;
    add.u64 %rd11, %rd2, %rd10;
    ld.global.u32 %r20, [%rd11];
    add.u32 %r12, %r1, 0x7FFFFFF8;
    cvt.s64.s32 %rd12, %r12;
    shr.u64 %rd13, %rd12, 40;
    cvt.u32.u64 %r21, %rd13;
    xor.b32 %r20, %r20, %r21;
    mul.wide.u32 %rd14, %r4, 4;
    add.u64 %rd15, %rd1, %rd14;
    st.global.u32 [%rd15], %r20;"""
    numbers = np.arange(2 * _COUNT, dtype=np.uint32)
    _, left = both(kernel(body), "k", 2, 64, [np.zeros(2 * _COUNT, np.uint32), numbers])
    assert left == 0
