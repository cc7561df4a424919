"""Inline assembly in MLIR."""

from __future__ import annotations

import pytest

from tests.embedded.reading import (
    block_in,
    check_edits,
    check_places,
    findings,
    operands_of,
    read,
    wrong,
)

LLVM = """// %0 = llvm.inline_asm "x", "y"
%c = llvm.mlir.constant(16 : i32) : i32
%r = llvm.inline_asm has_side_effects asm_dialect = att operand_attrs = []
  "@$2 mov.u32 $0, q;\\0A\\09fence.sc.gl; // $3 \\n\\"", "=r,l,b,n,~{memory}" %35, %25,
  %c : (!llvm.ptr<1>, i1, i32) -> i32
"""
TRITON = """%1:2 = tt.elementwise_inline_asm "fence.sc.gl; use $0" {constraints = "=r,=f,r",
  packed_element = 1 : i32, pure = true} %a : tensor<16xi32> -> tensor<16xi32>, tensor<16xf32>"""
GENERIC = """%2 = "llvm.inline_asm"(%a) <{asm_dialect = 0 : i64, asm_string = "fence.sc.gl; use $0",
  constraints = "=r,r", has_side_effects}> : (i32) -> i32"""
NVVM = """%c16 = arith.constant 16 : i32
%3, %4 = nvvm.inline_ptx
  "mov.b32 {$w0}, {$r0}; fence.sc.gl; add.u32 {$rw0}, {$rw0}, {$r1}; mov.b64 {$w1}, {$r2};"
  ro(%a, %c16, %s : f32, i32, !llvm.ptr<3>) rw(%u : i32), predicate = %p -> f32, !llvm.ptr<1>
"""


def test_the_operation_of_llvm() -> None:
    block = block_in(LLVM, ".mlir")
    assert block.text.data == b'@$2 mov.u32 $0, q;\n\tfence.sc.gl; // 16 \n"'
    assert operands_of(block) == [
        ("$0", ".b32", "write", ""),
        ("$1", ".b64", "read", "%35"),
        ("$2", ".pred", "read", "%25"),
        ("$3", None, "read", "%c"),
    ]
    assert block.is_volatile
    assert block.clobbers_memory
    assert wrong(LLVM, ".mlir") == {"q", ".gl"}
    check_places(read(LLVM, ".mlir"))


@pytest.mark.parametrize(
    ("text", "operands", "is_volatile"),
    [(TRITON, ["$0", "$1", "$2"], False), (GENERIC, ["$0", "$1"], True)],
)
def test_the_operation_of_triton_and_the_generic_form(
    text: str, operands: list[str], is_volatile: bool
) -> None:
    block = block_in(text, ".mlir")
    assert block.text.data == b"fence.sc.gl; use $0"
    assert [one.name for one in block.operands] == operands
    assert block.operands[-1].expression == "%a"
    assert block.is_volatile is is_volatile
    assert wrong(text, ".mlir") == {".gl"}
    check_places(read(text, ".mlir"))


def test_the_operation_of_nvvm() -> None:
    block = block_in(NVVM, ".mlir")
    assert block.text.data == (
        b"mov.b32 $w0, $r0; fence.sc.gl; add.u32 $rw0, $rw0, 16; mov.b64 $w1, $r2;"
    )
    assert operands_of(block) == [
        ("$rw0", ".b32", "both", "%u"),
        ("$w0", ".f32", "write", ""),
        ("$w1", ".b64", "write", ""),
        ("$r0", ".f32", "read", "%a"),
        ("$r1", None, "read", "%c16"),
        ("$r2", ".b32", "read", "%s"),
    ]
    assert wrong(NVVM, ".mlir") == {".gl"}
    check_places(read(NVVM, ".mlir"))


def test_operands_of_nvvm_may_have_numbers() -> None:
    block = block_in('%0 = nvvm.inline_ptx "add.f32 $0, %1, $1;" ro(%a : f32) -> f32', ".mlir")
    assert block.text.data == b"add.f32 $0, $1, $1;"
    assert [one.name for one in block.operands] == ["$0", "$1"]


@pytest.mark.parametrize(
    "text",
    [
        'llvm.inline_asm "x"',
        'llvm.inline_asm %a : i32 "x", "y"',
        '"llvm.inline_asm"',
        '"llvm.inline_asm"(%a) <{asm_string = x}>',
        "nvvm.inline_ptx",
        '// CHECK: nvvm.inline_ptx "ret;"',
        'tt.elementwise_inline_asm "ret;" %a',
    ],
)
def test_no_block(text: str) -> None:
    assert not read(text, ".mlir").blocks


@pytest.mark.parametrize("asm", ['"v_mov_b32 $0, $1", "=v,v"', '"exit;", ""', '"bswap $0", "=r,r"'])
def test_other_machines_have_no_findings(asm: str) -> None:
    assert findings(f"llvm.inline_asm {asm} %a : (i32) -> i32", ".mlir") == []


@pytest.mark.parametrize(
    "text",
    [
        'llvm.inline_asm "ret;\\0A $0 \\22 $$ \\\\\\n", "r" %a : (i32) -> ()',
        'nvvm.inline_ptx "mov.b32 {$r0}, {$r0};\\n" ro(%a : i32)',
    ],
)
def test_edits_are_written_with_escapes(text: str) -> None:
    assert check_edits(text, ".mlir") > 100
