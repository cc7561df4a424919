"""The edits after which a block clobbers memory, and is volatile."""

from __future__ import annotations

import pytest

from ptx_lsp.embedded.block import Block
from ptx_lsp.text import Edit
from tests.embedded.reading import block_in

CALLS = {
    "llvm-ir": (".ll", 'call i32 asm "ret;", "=r"()'),
    "llvm-ir, no operands": (".ll", 'call void asm "ret;", ""()'),
    "julia": (".jl", 'f() = @asmcall("ret;", "=r", false, UInt32)'),
    "julia without side effects": (".jl", 'f() = @asmcall("ret;", "", UInt32)'),
    "llvmcall": (".jl", 'Base.llvmcall("""\n  call i32 asm "ret;", "=r"()\n  """, T)'),
    "mlir": (".mlir", '%0 = llvm.inline_asm "ret;", "=r" : () -> i32'),
    "triton": (
        ".mlir",
        'tt.elementwise_inline_asm "ret;" {constraints = "=r", pure = true} %a : i32',
    ),
    "mojo": (".mojo", 'inlined_assembly["ret;", T, constraints="=r", has_side_effect=False]()'),
    "rust": (".rs", 'asm!("ret;", out(reg32) x, options(pure, nomem, nostack));'),
    "rust, last": (".rs", 'asm!("ret;", out(reg32) x, options(pure, readonly));'),
    "rust, first": (".rs", 'asm!("ret;", out(reg32) x, options(nomem, pure));'),
}


def _edited(text: str, block: Block, edit: Edit | None) -> str:
    assert edit is not None
    data = text.encode()
    start, end = block.start + edit.start, block.start + edit.end
    return (data[:start] + edit.replacement + data[end:]).decode()


@pytest.mark.parametrize(("suffix", "text"), CALLS.values(), ids=CALLS)
def test_edits(suffix: str, text: str) -> None:
    block = block_in(text, suffix)
    assert not block.is_volatile
    assert not block.clobbers_memory
    clobbering = block_in(_edited(text, block, block.memory_edit), suffix)
    assert clobbering.clobbers_memory
    assert not clobbering.is_volatile
    made = _edited(text, block, block.volatile_edit)
    volatile = block_in(made, suffix)
    assert volatile.is_volatile
    assert not volatile.clobbers_memory
    both = block_in(_edited(made, volatile, volatile.memory_edit), suffix)
    assert both.is_volatile
    assert both.clobbers_memory
    assert [one.name for one in both.operands] == [one.name for one in block.operands]


def test_the_clobber_of_cuda_oxide() -> None:
    text = 'ptx_asm!("ret;", out("=r") x,);'
    block = block_in(text, ".rs")
    assert block_in(_edited(text, block, block.memory_edit), ".rs").clobbers_memory
    assert block_in(text.replace("x,", "x, options(register_only)"), ".rs").memory_edit is None
