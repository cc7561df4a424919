"""`ir.InlineAsm` of llvmlite, which Numba's extensions for CUDA use."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded import python_blocks
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.python_blocks import Draft, flag, llvm_block, llvm_operands
from ptx_lsp.embedded.python_strings import PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern

_NAMES = lazy_pattern(rb"\bInlineAsm\b(?=\s*\()")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `InlineAsm(type, template, constraints, side_effect)`."""
    return python_blocks.blocks(
        text,
        "numba",
        _NAMES,
        lambda call: call.argument(1, "asm"),
        lambda call: call.argument(2, "constraint"),
        _block,
    )


def _block(strings: PythonStrings, draft: Draft) -> Block | None:
    found = llvm_operands(strings, draft, None)
    return llvm_block("numba", draft, found, flag(draft, False, 3, "side_effect"))


HOST = Host("numba", ("python",), (b"InlineAsm",), blocks)
