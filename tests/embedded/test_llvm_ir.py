"""Inline assembly in LLVM IR."""

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

TRIPLE = 'target triple = "nvptx64-nvidia-cuda"\n'
CALL = """; call void asm "x", ""()
@s = constant [3 x i8] c"asm"
%r = call { i32, <2 x i32> } asm sideeffect alignstack
    "mov.u32 $0, %tid.x;\\0A\\09// \\22a\\22 $$x ${1:x}, $3", "=r,=&r,l,n,~{memory}"(
    ptr addrspace(1) %p, i32 -7) #0, !srcloc !2
"""


def test_a_call() -> None:
    block = block_in(CALL, ".ll")
    assert block.text.data == b'mov.u32 $0, %tid.x;\n\t// "a" $x $1, -7'
    assert operands_of(block) == [
        ("$0", ".b32", "write", ""),
        ("$1", ".b32", "write", ""),
        ("$2", ".b64", "read", "ptr addrspace(1) %p"),
        ("$3", None, "read", "i32 -7"),
    ]
    assert block.is_volatile
    assert block.clobbers_memory
    check_places(read(CALL, ".ll"))


@pytest.mark.parametrize(
    ("triple", "count"),
    [("nvptx64-nvidia-cuda", 1), ("x86_64-pc-linux-gnu", 0), ("amdgcn-amd-amdhsa", 0)],
)
def test_the_triple_tells_whose_assembly_it_is(triple: str, count: int) -> None:
    text = f'target triple = "{triple}"\ncall void asm "fence.sc.gl;", ""()'
    assert len(read(text, ".ll").blocks) == count


@pytest.mark.parametrize(
    "call",
    [
        'call i32 asm "bswap $0", "=r,r,~{dirflag},~{fpsr},~{flags}"(i32 %x)',
        'call void asm sideeffect "s_waitcnt lgkmcnt(0)", ""()',
        'call i32 asm "v_mov_b32 $0, $1", "=v,v"(i32 %x)',
        'call i64 asm "fence.i", "=r"()',
    ],
)
def test_other_machines_have_no_findings(call: str) -> None:
    assert findings(call, ".ll") == []


def test_findings_stand_in_the_string() -> None:
    text = 'call i32 asm "fence.sc.gl;\\0Amov.u32 $0, q;", "=r"()'
    assert wrong(text, ".ll") == {".gl", "q"}


def test_with_the_triple_a_block_is_ptx_in_any_case() -> None:
    call = 'call void asm "frobnicate;", ""()'
    assert findings(call, ".ll") == []
    assert findings(TRIPLE + call, ".ll") != []


@pytest.mark.parametrize(
    "text", ['asm "', 'asm "x" "y"', "asm", 'module asm "x", "y"', 'asm "x", y', 'asm "x", "y']
)
def test_no_block(text: str) -> None:
    assert not read(text, ".ll").blocks


def test_edits_are_written_with_escapes() -> None:
    assert (
        check_edits('call void asm "ret;\\0A $0 \\5C $$ ${1:x}", "r,r"(i32 1, i32 2)', ".ll") > 100
    )
