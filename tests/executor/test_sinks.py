"""`_` in a destination discards that element, and the others are what they are without it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from ptx_lsp.executor import launch

HEAD = """.version 8.1
.target sm_90
.address_size 64
.shared .align 128 .b8 s[4096];
.entry k(.param .u64 out) {
    .reg .b16 %h<9>;
    .reg .b32 %r<19>, %t, %m;
    .reg .b64 %rd<9>;
    .reg .f32 %f<19>;
    .reg .f64 %fd<9>;
    .reg .pred %p<3>;
    ld.param.u64 %rd0, [out];
    mov.u32 %t, %tid.x;
    mov.b32 %m, 0x44444444;
    mad.wide.u32 %rd1, %t, 16, %rd0;
    mov.u32 %r0, s;
    mad.lo.u32 %r0, %t, 16, %r0;
    shl.b32 %r9, %t, 7;
    st.shared.v4.b32 [%r0], {%t, %r9, 0x3C003C00, 0x40004000};
    mov.b16 %h1, 5;
    cvt.rn.f64.u32 %fd1, %t;
    cvt.rn.f32.u32 %f9, %t;
    bar.sync 0;
"""
RESULTS = """
    st.global.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};
    ret;
}
"""
FRAGMENT = "{%r9, %r9, %r9, %r9, %r9, %r9, %r9, %r9}"


def _run(line: str) -> NDArray[np.uint32]:
    """What four registers hold after a line, in each of 32 threads."""
    out = np.zeros(128, np.uint32)
    first = "mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b32 %r3, 3; mov.b32 %r4, 4;"
    launch(f"{HEAD}{first}\n{line}{RESULTS}", entry="k", grid=(1, 1, 1), block=(32, 1, 1), args=[out])
    return out.reshape(32, 4)


@pytest.mark.parametrize(
    "line",
    [
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {D}, [%r0];",
        "ld.shared.v4.b32 {D}, [%r0];",
        "mov.v4.b32 {D}, {%r9, %t, %r0, %t};",
        "atom.global.add.v4.f32 {D}, [%rd0], {0f3F800000, 0f3F800000, 0f3F800000, 0f3F800000};",
        "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {D}, {%r9, %t}, {%t},"
        " {%t, %t, %r9, %r9};",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {D}, {%r9, %t}, {%t, %r9}, {%t, %t, %r9, %r9},"
        " %m, 0x0;",
        "wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {D}, [s];",
        f"wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {{D}}, {FRAGMENT}, {FRAGMENT}, {{%t, %t, %t, %t}};",
    ],
)
@pytest.mark.parametrize("kept", [(0,), (1, 2), (0, 3), (1, 2, 3)])
def test_elements_that_are_kept(line: str, kept: tuple[int, ...]) -> None:
    all_four = "%r1, %r2, %r3, %r4"
    some = ", ".join(f"%r{n + 1}" if n in kept else "_" for n in range(4))
    whole = _run(line.replace("{D}", f"{{{all_four}}}"))
    part = _run(line.replace("{D}", f"{{{some}}}"))
    assert (whole != [1, 2, 3, 4]).any()
    assert (part[:, kept] == whole[:, kept]).all()
    discarded = [n for n in range(4) if n not in kept]
    assert (part[:, discarded] == np.array([1, 2, 3, 4])[discarded]).all()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mov.b64 {_, %r1}, 0x500000006;", 5),
        ("mov.b64 {%r1, _}, 0x500000006;", 6),
        ("mov.b32 %r1, {%h1, _};", 5),
        ("mov.b32 %r1, {_, %h1};", 5 << 16),
        ("lop3.b32 _, %r1, %r1, %r1, 0;", 1),
        ("match.all.sync.b32 _, %r2, -1;", 1),
        ("match.all.sync.b32 _|%p1, %r2, -1; selp.b32 %r1, 7, 8, %p1;", 7),
        ("match.all.sync.b32 %r1|_, %r2, -1;", 0xFFFFFFFF),
        ("shfl.sync.idx.b32 %r1|_, %r2, 3, 31, -1;", 2),
        ("setp.eq.u32 _|%p1, %r1, 2; selp.b32 %r1, 7, 8, %p1;", 7),
        ("atom.shared.add.u32 _, [s+2048], 1; bar.sync 0; ld.shared.u32 %r1, [s+2048];", 32),
    ],
)
def test_other_sinks(line: str, expected: int) -> None:
    assert (_run(line)[:, 0] == expected).all()


def test_wmma_factor() -> None:
    load = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [s];"
    part = load.replace("%r1,", "_,").replace("%r8", "_").replace("%r4", "_")
    assert (_run(part)[:, 1:3] == _run(load)[:, 1:3]).all()
    assert (_run(part)[:, [0, 3]] == [1, 4]).all()
