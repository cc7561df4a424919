"""`inline_asm_elementwise` of Triton, and `elementwise_inline_asm` of Pallas, which is the same.

With `pack`, elements of less than 32 bits are packed in registers: then the constraints do not describe the
arguments one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded import python_blocks
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.python_blocks import Draft, llvm_block, llvm_operands
from ptx_lsp.embedded.python_strings import PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = lazy_pattern(rb"\b(?:inline_asm_elementwise|elementwise_inline_asm)\b(?=\s*\()")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)`."""
    return python_blocks.blocks(
        text,
        "triton",
        _NAMES,
        lambda call: call.argument(0, "asm"),
        lambda call: call.argument(1, "constraints"),
        _block,
    )


def _block(strings: PythonStrings, draft: Draft) -> Block | None:
    call = draft.call
    inputs: Node | None = call.argument(2, "args")
    found = llvm_operands(strings, draft, inputs)
    pure = call.argument(4, "is_pure")
    is_pure = pure is not None and pure.type == "true"
    return llvm_block("triton", draft, found, not is_pure)


HOST = Host("triton", ("python",), (b"inline_asm",), blocks)
