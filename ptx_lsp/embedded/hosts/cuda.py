"""`asm` in CUDA, C and C++."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.c_asm import asm_statement, macros_of
from ptx_lsp.embedded.guards import Guards
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_KEYWORD = lazy_pattern(rb"\b(?:__asm__|__asm|asm)\b")
_TEXTS = (
    "char_literal", "comment", "raw_string_content", "raw_string_literal", "string_content", "string_literal",
)  # fmt: skip
"""Nodes in which a keyword is only text."""


def blocks(text: HostText) -> Iterator[Block]:
    """The `asm` statements outside of comments and strings, also those in the definitions of macros."""
    data, root = text.source.data, text.tree.root_node if text.tree is not None else None
    macros = macros_of(data)

    def is_text(start: int, end: int) -> bool:
        return root is not None and _is_text(root, Span(start, end))

    guards = Guards(data, lambda offset: is_text(offset, offset + 1))
    end = 0
    for match in _KEYWORD.finditer(data):
        keyword = Span(*match.span())
        if keyword.start < end or is_text(*keyword):
            continue
        block = text.known.get(("cuda", keyword.start))
        if block is None:
            block = asm_statement(data, keyword, "cuda", text.language, macros)
        if block is not None and not _is_symbol(data, block):
            end = block.span.end
            yield block._replace(guard=guards.at(block.start))


def _is_symbol(data: bytes, block: Block) -> bool:
    """Whether it is the name of a declared symbol in the object file: `int f() asm("g");`."""
    before = data[max(0, block.start - 80) : block.start].rstrip()[-1:]
    is_after_declarator = before == b")" or before.isalnum() or before == b"_"
    return is_after_declarator and _SYMBOL.fullmatch(block.text.data) is not None


_SYMBOL = lazy_pattern(rb"[\w.$@]+")


def _is_text(root: Node, keyword: Span) -> bool:
    node = root.descendant_for_byte_range(*keyword)
    return node is not None and node.type in _TEXTS


HOST = Host("cuda", ("cuda", "cpp"), (b"asm",), blocks)
