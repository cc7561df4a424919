"""`asm` in CUDA sources that are strings in Python, as CuPy, NVRTC, PyTorch and many generators take them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded.block import Block, through
from ptx_lsp.embedded.c_asm import KEYWORDS, asm_statement, macros_of
from ptx_lsp.embedded.c_tokens import tokens
from ptx_lsp.embedded.guards import Guards
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.mapped_text import Builder, MappedText
from ptx_lsp.embedded.python_strings import Part, PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD = lazy_pattern(rb"asm")
_STATEMENT = lazy_pattern(rb"\b(?:__asm__|__asm|asm)\b[\s\w]*\(")
_PARTS_OF_STRINGS = (
    "string_content",
    "string_start",
    "string",
    "escape_sequence",
    "escape_interpolation",
)
_STRINGS = ("string", "concatenated_string", "parenthesized_expression", "binary_operator")


def blocks(text: HostText) -> Iterator[Block]:
    """The `asm` statements in strings, except in documentation."""
    if text.tree is None:
        return
    strings = PythonStrings(text.source.data)
    root = text.tree.root_node
    end = 0
    for match in _WORD.finditer(text.source.data):
        if match.start() < end:
            continue
        node = root.descendant_for_byte_range(*match.span())
        if node is None or node.type not in _PARTS_OF_STRINGS:
            continue
        while node is not None and node.type != "string":
            node = node.parent
        if node is None:
            continue
        whole = _whole(node)
        end = whole.end_byte
        above = whole.parent
        if above is not None and above.type == "expression_statement":
            continue
        source = _source(strings, whole)
        if source is not None and _STATEMENT.search(source.data) is not None:
            yield from _blocks_of(source)


def _whole(string: Node) -> Node:
    """The expression of strings that a string is part of."""
    node = string
    while (above := node.parent) is not None:
        if above.type == "attribute" and above.parent is not None and above.parent.type == "call":
            name = above.child_by_field_name("attribute")
            if (
                name is None
                or name.text != b"format"
                or above.child_by_field_name("object") != node
            ):
                break
            above = above.parent
        elif above.type not in _STRINGS:
            break
        node = above
    return node


def _source(strings: PythonStrings, node: Node) -> MappedText | None:
    above = node.parent
    if above is not None and above.type == "assignment" and node.type in _STRINGS:
        name = above.child_by_field_name("left")
        if name is not None and name.type == "identifier":
            use = re.search(rb"\b%b\s*(\.format\(|%%)" % re.escape(name.text or b""), strings.data)
            if use is not None:
                return strings.formatted(node, use[1] == b"%")
    return strings.text((Part(node),), has_statements=False)


def _blocks_of(source: MappedText) -> Iterator[Block]:
    data = source.data
    macros = macros_of(data)
    guards: Guards | None = None
    end = 0
    for token in tokens(data):
        if (
            token.kind != "word"
            or token.span.start < end
            or data[slice(*token.span)] not in KEYWORDS
        ):
            continue
        block = asm_statement(data, token.span, "cuda-in-python", "python", macros)
        if block is None or data[block.span.end - 1 : block.span.end] != b")":
            continue
        end = block.span.end
        guards = guards if guards is not None else Guards(data)
        found = through(block, source)
        yield found._replace(
            text=_with_statements(found.text), guard=guards.at(block.start), is_context_free=False
        )


def _with_statements(text: MappedText) -> MappedText:
    """A text in which holes between statements stand for statements."""
    if not text.holes:
        return text
    built = Builder()
    ends = [piece.start for piece in text.pieces[1:]] + [len(text.data)]
    for piece, end in zip(text.pieces, ends, strict=True):
        data = text.data[piece.start : end]
        if piece.kind == "hole":
            built.hole(data, piece.host, piece.encode)
        else:
            built.add(data, piece.host, piece.kind, piece.encode)
    return built.text()


HOST = Host("cuda-in-python", ("python",), (b"asm",), blocks)
