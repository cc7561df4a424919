"""Accesses at a variable: which, how far from it, how many bytes."""

from __future__ import annotations

import pytest

from ptx_lsp.model.instructions.access import accesses
from ptx_lsp.model.module import Module

MODULE = """.version 9.5
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[64];
.global .align 16 .b8 data[64];
.entry kernel()
{{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .reg .f32 %f<4>;
    {}
    ret;
}}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [tile+16];", [("tile", 16, 16)]),
        ("st.shared.u16 [tile+-0x4], 1;", [("tile", -4, 2)]),
        ("st.global.f64 [data-8], 0d0000000000000000;", [("data", -8, 8)]),
        ("atom.global.cas.b64 %d1, [data], %d2, %d3;", [("data", 0, 8)]),
        ("red.global.v2.f32.add [data], {%f0, %f1};", [("data", 0, 8)]),
        ("ld.shared.b32 %r0, [%r1+4];", []),  # of a register
        ("ld.shared.b99 %r0, [tile];", []),  # no such type
        ("mov.u32 %r0, tile;", []),
    ],
)
def test_access(line: str, expected: list[tuple[str, int, int]]) -> None:
    (function,) = Module.parse(MODULE.format(line)).functions
    found = [(one.variable.name, one.offset, one.size) for one in accesses(function)]
    assert found == expected
