"""What is read as a plain header is what the tree gives."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.plain_header import plain_header
from ptx_lsp.text import Source
from tests.strength import seeds

PARTS = (
    ".version 8.0", ".version 7.8 ", "\t.version  6.3", ".version 8", ".version 8.", ".version 8.0.1",
    ".version x", ".version", ".version 8.0 // new", ".version 0x8.0", ".version 8.0 ;",
    ".target sm_90", ".target sm_90a, debug", ".target sm_70,map_f64_to_f32 , debug", ".target", ".target ,",
    ".target sm_90,", ".target sm_90 debug", ".target _", ".target %a", ".target $a", ".target 90", ", debug",
    ".target .entry", ".target entry", ".target s\u00e9",
    ".address_size 64", ".address_size  32", ".address_size 16", ".address_size 64.0", ".address_size 64,",
    ".address_size\t64", ".address_size 64 64", ".address_size64", "8.0", "64", "sm_90",
    "", "  ", "\t", "// a", " // .version 1.0 /*", "/* a comment */", "/*", "*/", '"', "# 1", "}", ";",
    '.file 1 "a.cu"', '\t.file\t1 "a.cu", 17, 512', '.file 1 "a', '.file x "a"', '.file 01 "a"',
    '.file 1 "a" b',
    ".extern .shared .align 16 .b8 smem[];", ".global .u32 x, y;", ".visible .global .align 4 .u32 x[4];",
    ".common .global .f64 z", ".const .b16 t[0];", ".weak .global .pred p;", ".global .align 3 .s8 _[2];",
    ".shared .f16 h;", ".global .u32 WARP_SZ;", ".global .u32 a[];", ".extern .weak .global .u32 b;",
    ".global .v4 .f32 c;", ".global .u32 d = 1;", ".section .debug_str", "{", "$L_str:", ".b8 0",
    ".section\t.debug_info {\n.b32 4726\n.b8 1,2, 255 // x\n$L__x:\n.b64 $L__x-$L__y\n.b32 .debug_loc+4\n}",
    ".section .debug_loc\t{\t}", ".section .debug_loc\n{\n.b8 256\n}", ".section .debug_loc {\n.b16 65536\n}",
    ".section .debug_loc {\n.b8 x\n}", ".section .debug_loc {\n.b32 WARP_SZ\n}", ".section .a {\n.b8 1\n}",
    ".section .debug_loc {\n.b64 a, 1\n}", ".section .debug_loc {\n_:\n}", ".section .debug_loc { .b8 1 }",
    ".section .debug_loc {\n.b64 a+1\n.b32 b\n-c\n}", ".section .debug_loc {\n.b8 1\n,2\n}",
    ".section .debug_loc {\n.b64 1-2\n.b64 a-1\n}", ".section .debug_loc {\na: .b8 1\n}",
    "\x0c", "\x1a", "\x85", "\xa0", ".global .u32 x;", ".visible", ".pragma \"a\";",
)  # fmt: skip


def _check(text: str) -> bool:
    """Whether a text was read; then as its tree."""
    found = plain_header(text)
    if found is None:
        return False
    expected = list(Document.parse(Source(text.encode("latin-1"))).items)
    assert [(start, end) for start, end, _ in found] == [(one.start, one.end) for one in expected], text
    for (_, _, node), item in zip(found, expected, strict=True):
        assert node is not None
        assert item.problems == ()
        assert item.alone
        assert nodes.is_same(node, item.node), text
    return True


@pytest.mark.parametrize("part", PARTS)
def test_a_line(part: str) -> None:
    _check(part)
    _check(f"{part}\n")
    _check(f"{part}\r\n")


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_lines(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        ends = chance.choices(("\n", "\r\n", "\r", " "), (8, 2, 1, 1), k=4)
        _check("".join(part + end for part, end in zip(chance.choices(PARTS, k=4), ends, strict=True)))


def test_the_headers_of_compilers_are_read() -> None:
    assert _check("//\n// Made\n//\n\n.version 8.7\n.target sm_90a\n.address_size 64\n\n\t// .globl\tf\n")
    data = ".b8 1\n" * 1000
    assert _check(f'.file 1 "a.cu"\n.section .debug_info {{\n{data}}}\n.extern .shared .align 16 .b8 s[];\n')
    assert _check(".version 8.7\r\n.target sm_90a, debug\r\n.address_size 64\r\n")
