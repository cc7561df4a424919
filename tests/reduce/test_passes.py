"""Each pass alone, on a text in which it can do all that it can do. All candidates are interesting."""

from __future__ import annotations

import pytest

from ptx_lsp.reduce.reduction_pass import Pass, all_passes
from tests.reduce.reductions import HEADER, reduced

KERNEL = ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %r<3>;\n.reg .pred %p;\n"
END = "}\n"
CASES = {
    "comments": ("// one\n.entry k() /* two */ { ret; // three\n}\n", ".entry k()   { ret; \n}\n"),
    "blanks": (
        ".entry  k()\n\n{  add.u32   %r0,\t%r1, 1; }",
        ".entry k()\n{\n    add.u32 %r0, %r1, 1;\n}\n",
    ),
    "debug data": (
        '.file 1 "a.cu"\n.entry k()\n{\n.loc 1 1 1\n.pragma "nounroll";\nret;\n}\n.section .debug_x { }\n',
        ".entry k()\n{\nret;\n}\n",
    ),
    "options of `.target`": (
        ".version 8.5\n.target sm_90, debug\n",
        ".version 8.5\n.target sm_90\n",
    ),
    "functions": (".func f()\n{\nret;\n}\n.entry k()\n{\ncall f;\n}\n.alias g, f;\n", ""),
    "variables": (
        ".global .u32 v;\n.entry k()\n{\n.reg .b32 %r;\nld.global.u32 %r, [v];\nret;\n}\n",
        ".entry k()\n{\n.reg .b32 %r;\nret;\n}\n",
    ),
    "basic blocks": (
        KERNEL + "@%p bra L;\nadd.u32 %r0, %r1, 1;\nL:\nret;\n" + END,
        KERNEL + END,
    ),
    "scopes": (KERNEL + "{\nret;\n}\n" + END, KERNEL + END),
    "braces": (KERNEL + "{\n{\nret;\n}\n}\n" + END, KERNEL + "ret;\n" + END),
    "bodies of functions": (KERNEL + "ret;\n" + END, ".visible .entry k(.param .u64 a)\n{\n}\n"),
    "instructions": (KERNEL + "add.u32 %r0, %r1, 1;\nL:\nret;\n" + END, KERNEL + "L:\n" + END),
    "unused declarations": (
        ".global .u32 u, v, w;\n.entry k()\n{\n.reg .b32 %r, %s;\n.reg .b64 %d<2>;\n"
        "ld.global.u32 %r, [v];\n}\n",
        ".global .u32 v ;\n.entry k()\n{\n.reg .b32 %r ;\nld.global.u32 %r, [v];\n}\n",
    ),
    "labels": (
        KERNEL + "L:\nM:\nbra M;\nP: .callprototype _ ();\n" + END,
        KERNEL + "M:\nbra M;\n" + END,
    ),
    "initial values": (".global .u32 v[2] = {1, 2};\n", ".global .u32 v[2] ;\n"),
    "parameters": (
        ".func f(.param .u32 a, .param .u32 b)\n{\n.reg .b32 %r;\nld.param.u32 %r, [b];\nret;\n}\n"
        ".entry k(.param .u32 p)\n{\n.param .b32 x;\ncall f, (x, x);\n}\n",
        ".func f()\n{\n.reg .b32 %r;\nret;\n}\n.entry k()\n{\n.param .b32 x;\ncall f, ();\n}\n",
    ),
    "results of functions": (
        ".func (.param .u32 r) f()\n{\nst.param.u32 [r], 0;\nret;\n}\n"
        ".entry k()\n{\n.param .b32 x;\ncall (x), f;\n}\n",
        ".func f()\n{\nret;\n}\n.entry k()\n{\n.param .b32 x;\ncall f;\n}\n",
    ),
    "directives": (
        ".address_size 64\n.visible .global .align 8 .u32 v;\n"
        ".visible .entry k(.param .u64 .ptr .align 8 a)\n"
        ".maxntid 8\n{\nret;\n}\n",
        ".version 8.5\n.target sm_90\n.global .u32 v;\n.entry k(.param .u64 a)\n{\nret;\n}\n",
    ),
    "other statements": (
        ".alias f, g;\n.entry k()\n{\nret;\n}\n",
        ".version 8.5\n.target sm_90\n.entry k()\n{\nret;\n}\n",
    ),
    "lines": ("junk\n.entry k()\n{\n}\n", ".version 8.5\n.target sm_90\n"),
    "guards": (KERNEL + "@!%p ret;\n" + END, KERNEL + " ret;\n" + END),
    "results": (KERNEL + "add.u32 %r0, %r1, %r2;\n" + END, KERNEL + "mov.b32 %r0, 0;\n" + END),
    "operands to constants": (
        KERNEL + "add.u32 %r0, %r1, %r2;\n" + END,
        KERNEL + "add.u32 %r0, 0, 0;\n" + END,
    ),
    "operands to operands of their definition": (
        KERNEL + "add.u32 %r1, %r0, 1;\nmul.lo.u32 %r2, %r1, 7;\n" + END,
        KERNEL + "add.u32 %r1, %r0, 1;\nmul.lo.u32 %r2, %r0, 7;\n" + END,
    ),
    "operands to the first register": (
        KERNEL + "add.u32 %r2, %r1, %r2;\n" + END,
        KERNEL + "add.u32 %r1, %r1, %r1;\n" + END,
    ),
    "discarded results": (
        KERNEL + "atom.global.add.u32 %r0, [a], 1;\n" + END,
        KERNEL + "atom.global.add.u32 _, [a], 1;\n" + END,
    ),
    "expressions": (
        KERNEL + "ld.param.u32 %r0, [a+4];\n" + END,
        KERNEL + "ld.param.u32 %r0, [a];\n" + END,
    ),
    "trailing operands": (KERNEL + "bar.sync 0, 32;\n" + END, KERNEL + "bar.sync 0;\n" + END),
    "modifiers": (
        KERNEL + "add.sat.s32 %r0, %r1, 1;\n" + END,
        KERNEL + "add.s32 %r0, %r1, 1;\n" + END,
    ),
    "pairs of modifiers": (
        KERNEL + "ld.relaxed.gpu.global.u32 %r0, [0];\n" + END,
        KERNEL + "ld.global.u32 %r0, [0];\n" + END,
    ),
    "simpler modifiers": (KERNEL + "fence.sc.sys;\n" + END, KERNEL + "fence.sc.cta;\n" + END),
    "vectors": (
        KERNEL + "ld.param.v2.u32 {%r0, %r1}, [a];\n" + END,
        KERNEL + "ld.param.u32 %r0, [a];\n" + END,
    ),
    "types": (
        ".entry k()\n{\n.reg .b32 %r<2>;\nadd.u32 %r0, %r1, 1;\n}\n",
        ".entry k()\n{\n.reg .b16 %r<2>;\nadd.u16 %r0, %r1, 1;\n}\n",
    ),
    "numbers to zero": (
        KERNEL + "add.u32 %r0, %r1, 77;\n" + END,
        KERNEL + "add.u32 %r0, %r1, 0;\n" + END,
    ),
    "numbers to one": (".global .u32 v[77];\n", ".global .u32 v[1];\n"),
    "halves of numbers": (".global .u32 v[77];\n", ".global .u32 v[1];\n"),
    "target": ("", ".version 8.5\n.target sm_75\n.address_size 64\n"),
    "numbers of registers": (
        ".entry k()\n{\n.reg .b32 %r<9>;\nadd.u32 %r7, %r3, 1;\n}\n",
        ".entry k()\n{\n.reg .b32 %r<2>;\nadd.u32 %r0, %r1, 1;\n}\n",
    ),
    "names": (
        ".global .u32 variable;\n.entry kernel(.param .u64 kernel_param_0)\n{\n.reg .b32 %result;\nlabel:\n"
        "ld.global.u32 %result, [variable];\nbra label;\n}\n",
        ".global .u32 v;\n.entry k(.param .u64 p)\n{\n.reg .b32 %r;\nL:\nld.global.u32 %r, [v];\nbra L;\n}\n",
    ),
    "tokens": (
        ".version 8.5\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n",
        ".version 8.5\n.target sm_90\n",
    ),
}


@pytest.mark.parametrize("tried", all_passes(), ids=lambda one: one.name)
def test_pass(tried: Pass) -> None:
    before, after = CASES[tried.name]
    text = before if before.startswith(".version") else HEADER + before
    result = reduced(text, lambda data: True, passes=[tried]).decode()
    expected = after if after.startswith(".version") else HEADER + after
    assert result.split() == expected.split()
    assert tried.is_layout or b"".join(result.encode().split()) != b"".join(text.encode().split())


def test_blanks_are_as_expected() -> None:
    before, after = CASES["blanks"]
    blanks = [one for one in all_passes() if one.is_layout]
    assert reduced(HEADER + before, lambda data: True, passes=blanks).decode() == HEADER + after


def test_every_pass_is_tested() -> None:
    assert CASES.keys() == {one.name for one in all_passes()}
