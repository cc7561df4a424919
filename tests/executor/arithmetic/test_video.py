"""Video instructions with selectors, masks and negations; the expectations follow from the manual."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import launch


def execute(instruction: str, a: int, b: int, c: int) -> int:
    """What an instruction on %a, %b and %c leaves in %d."""
    out = np.zeros(1, np.uint32)
    text = f""".version 8.5
.target sm_90
.address_size 64
.entry k(.param .u64 out)
{{
.reg .u32 %a, %b, %c, %d;
.reg .u64 %p;
mov.u32 %a, {a}; mov.u32 %b, {b}; mov.u32 %c, {c};
{instruction};
ld.param.u64 %p, [out];
st.global.u32 [%p], %d;
ret;
}}
"""
    launch(text, entry="k", grid=1, block=1, args=[out])
    return int(out[0])


@pytest.mark.parametrize(
    ("instruction", "a", "b", "c", "want"),
    [
        ("vadd.s32.u32.s32.sat %d, %a.b0, %b.h0", 0x1FF, 0xFFFF, 0, 254),
        ("vadd.s32.s32.s32 %d, %a.b3, %b.b1", 0x80000000, 0xFF00, 0, (-129) & 0xFFFFFFFF),
        ("vadd.u32.u32.u32 %d.b1, %a.h1, %b.b2, %c", 0x12340000, 0x010000, 0xAABBCCDD, 0xAABB35DD),
        ("vadd.s32.s32.s32.sat %d.h1, %a, %b, %c", 70000, 1, 0x12345678, 0x7FFF5678),
        ("vadd.u32.s32.s32.sat %d.b3, %a, %b, %c", -7 & 0xFFFFFFFF, 1, 0x12345678, 0x00345678),
        ("vsub.s32.s32.s32 %d.b0, %a.b1, %b.b1, %c", 0x0100, 0x0200, 0x11223344, 0x112233FF),
        ("vabsdiff.s32.s32.s32.sat %d.h0, %a.b0, %b.b2, %c", 0x80, 0x7F0000, 0, 255),
        ("vset.s32.u32.lt %d.h1, %a.b0, %b.b0, %c", 0x80, 0x01, 0xFFFFFFFF, 0x0001FFFF),
        ("vshr.s32.s32.u32.clamp %d, %a.h1, %b.b1", 0x80000000, 0x0400, 0, 0xFFFFF800),
        ("vshr.u32.u32.u32.wrap %d, %a, %b.h1", 256, 0x00040000, 0, 16),
        ("vmad.s32.s32.s32 %d, -%a, %b, %c", 5, 6, 10, (-20) & 0xFFFFFFFF),
        ("vmad.s32.s32.s32 %d, -%a, -%b, %c", 5, 6, 10, 40),
        ("vmad.s32.u32.u32 %d, %a, %b, -%c", 5, 6, 100, (-70) & 0xFFFFFFFF),
        ("vmad.s32.s32.u32.sat %d, %a, %b, -%c", 0x7FFFFFFF, 1, 0x80000000, 0x7FFFFFFF),
        ("vmad.u32.u32.u32.shr15 %d, %a.h0, %b.h0, %c", 0x18000, 0x20004, 0x8000, 5),
        ("vadd2.s32.s32.s32 %d.h0, %a, %b, %c", 0x00010002, 0x00030004, 0xAAAABBBB, 0xAAAA0006),
        ("vadd2.u32.u32.u32 %d, %a.h01, %b.h23, %c", 0x00010002, 0x00300040, 0, 0x00420031),
        ("vmin2.s32.u32.u32.add %d.h10, %a.h00, %b.h22, %c", 0x00010005, 0x00030004, 100, 108),
        ("vsub2.s32.u32.u32.add %d.h1, %a, %b, %c", 0x00010000, 0x00030000, 10, 8),
        ("vadd4.u32.u32.u32 %d.b20, %a.b0123, %b.b7777, %c", 0x01020304, 0x10000000, 0xEEEEEEEE, 0xEE13EE11),
        ("vset4.u32.u32.eq.add %d.b310, %a, %b, %c", 0x01020304, 0x01020304, 5, 8),
    ],
)
def test_selectors(instruction: str, a: int, b: int, c: int, want: int) -> None:
    assert hex(execute(instruction, a, b, c)) == hex(want)
