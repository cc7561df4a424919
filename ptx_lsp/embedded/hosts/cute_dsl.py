"""`llvm.inline_asm` of MLIR's LLVM dialect in Python, as in the CuTe DSL and Mosaic GPU of JAX."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded import python_blocks
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.python_blocks import Draft, flag, llvm_block, llvm_operands
from ptx_lsp.embedded.python_strings import PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern

_NAMES = lazy_pattern(rb"\binline_asm\b(?=\s*\()")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `inline_asm(result, operands, template, constraints, ...)`."""
    return python_blocks.blocks(
        text,
        "cute-dsl",
        _NAMES,
        lambda call: call.argument(2, "asm_string"),
        lambda call: call.argument(3, "constraints"),
        _block,
    )


def _block(strings: PythonStrings, draft: Draft) -> Block | None:
    found = llvm_operands(strings, draft, draft.argument(1, "operands_", "operands"))
    return llvm_block("cute-dsl", draft, found, flag(draft, False, 4, "has_side_effects"))


HOST = Host("cute-dsl", ("python",), (b"inline_asm",), blocks)
