"""Inline assembly in the LLVM IR of `llvmcall` in Julia."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded.block import Block, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.julia_syntax import arguments, is_string, string
from ptx_lsp.embedded.llvm_asm import asm_block, asm_calls
from ptx_lsp.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL = lazy_pattern(rb"\bllvmcall\b")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of inline assembly in each `llvmcall`."""
    assert text.tree is not None
    data = text.source.data
    for match in _CALL.finditer(data):
        node: Node | None = text.tree.root_node.descendant_for_byte_range(*match.span())
        while node is not None and node.type in ("identifier", "field_expression"):
            node = node.parent
        if node is None or node.type != "call_expression":
            continue
        for literal in _literals(node):
            ir = string(data, literal)
            for call in asm_calls(ir.data):
                block = relative(asm_block(ir.data, call, "llvmcall", text.language, ir))
                yield block._replace(is_context_free=False)


def _literals(call: Node) -> list[Node]:
    """The literals that are the IR: the first argument, or the parts of it."""
    first = arguments(call)[:1]
    if first and first[0].type == "tuple_expression":
        first = first[0].named_children
    return [node for node in first if is_string(node)]


HOST = Host("llvmcall", ("julia",), (b"llvmcall",), blocks)
