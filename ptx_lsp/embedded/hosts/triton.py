"""`inline_asm_elementwise` of Triton, and those of Pallas and PyTorch, which are the same.

With `pack`, elements of less than 32 bits are packed in registers: then the constraints do not describe the
arguments one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded import python_blocks
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.python_blocks import Draft, llvm_block, llvm_operands
from ptx_lsp.embedded.python_strings import PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern

_NAMES = lazy_pattern(rb"\b(?:inline_asm_elementwise|elementwise_inline_asm)\b(?=\s*\()")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `inline_asm_elementwise(asm, constraints, args, dtype, is_pure, pack)`."""
    return python_blocks.blocks(
        text,
        "triton",
        _NAMES,
        lambda call: call.argument(0, "asm_str", "asm"),
        lambda call: call.argument(1, "constraints"),
        _block,
    )


def _block(strings: PythonStrings, draft: Draft) -> Block | None:
    found = llvm_operands(strings, draft, draft.argument(2, "args"))
    pure = draft.argument(4, "is_pure")
    is_pure = (
        pure.type == "true" if pure is not None else "asm_str" in draft.inner.named
    )  # of PyTorch
    return llvm_block("triton", draft, found, not is_pure)


HOST = Host("triton", ("python",), (b"inline_asm",), blocks)
