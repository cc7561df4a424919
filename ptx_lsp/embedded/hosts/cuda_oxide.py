"""`ptx_asm!` of cuda-oxide in Rust: a template as in CUDA, and operands such as `out("=r") x`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded.block import Access, Block, Clobber, Operand, relative
from ptx_lsp.embedded.c_asm import REGISTER_TYPES
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.mapped_text import Encode, MappedText
from ptx_lsp.embedded.rust_syntax import (
    MacroCall,
    content,
    data_of,
    inside,
    joined,
    macro_blocks,
    span_of,
    text_of,
)
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL = lazy_pattern(rb"\b(ptx_asm)\s*!")
_ACCESS: Final[dict[bytes, Access]] = {b"in": "read", b"out": "write", b"inout": "both"}
_OPERAND = lazy_pattern(rb"%\d+")
_PERCENT = lazy_pattern(rb"%%")
_NO_OPERAND = lazy_pattern(r"%(?!\d)")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of `ptx_asm!`."""
    return macro_blocks(text, "cuda-oxide", _CALL, _block)


def _block(text: HostText, call: MacroCall) -> Block | None:
    data = text.source.data
    if not call.arguments:
        return None
    template, *rest = call.arguments
    operands: list[Operand] = []
    clobbers: list[Clobber] = []
    options: set[bytes] = set()
    are_known = True
    for nodes in rest:
        kind = data_of(nodes[0])
        if len(nodes) < 2 or nodes[1].type != "token_tree":
            are_known = False
        elif kind in _ACCESS:
            operands.append(_operand(data, nodes, f"%{len(operands)}", _ACCESS[kind]))
        elif kind == b"clobber":
            name, span = _string(data, nodes[1])
            clobbers.append(Clobber(name, span))
        elif kind == b"options":
            options.update(map(data_of, inside(nodes[1])))
    end = span_of(call.arguments[-1]).end
    return relative(
        Block(
            "cuda-oxide",
            text.language,
            call.keyword.start,
            call.end - call.keyword.start,
            call.keyword,
            _with_operands(joined(data, [template]), operands),
            span_of(template),
            tuple(operands),
            tuple(clobbers),
            b"register_only" not in options,
            operands_known=are_known,
            memory_edit=None if options else Edit(end, end, b', clobber("memory")'),
            is_ptx=True,
        )
    )


def _operand(data: bytes, nodes: list[Node], name: str, access: Access) -> Operand:
    constraint, _ = _string(data, nodes[1])
    passed = nodes[2:]
    behind = Span(nodes[1].end_byte, nodes[1].end_byte)
    return Operand(
        name,
        REGISTER_TYPES.get(constraint.strip("=+&")),
        access,
        constraint,
        Span(nodes[1].start_byte, nodes[1].end_byte),  # it takes neither `=&r` nor another direction
        text_of(data, passed),
        span_of(passed) if passed else behind,
        early_clobber="&" in constraint,
    )


def _string(data: bytes, tree: Node) -> tuple[str, Span]:
    """The text of a literal in parentheses, and where it stands."""
    nodes = inside(tree)
    span = content(nodes[0]) if nodes and nodes[0].type.endswith("string_literal") else Span(0, 0)
    if not span.end:
        span = Span(tree.start_byte, tree.end_byte)
    return data[slice(*span)].decode("utf-8", "replace"), span


def _with_operands(text: MappedText, operands: list[Operand]) -> MappedText:
    spliced = {one.name.encode() for one in operands if one.constraint == "C"}
    if spliced:
        text = text.with_holes(_OPERAND, lambda match: match[0] in spliced)
    return text.replaced(_PERCENT, _percent).with_encoding(_percent_doubled)


def _percent(match: re.Match[bytes]) -> bytes:
    return b"%"


def _percent_doubled(encode: Encode) -> Encode:
    return lambda text: encode(_NO_OPERAND.sub("%%", text))


HOST = Host("cuda-oxide", ("rust",), (b"ptx_asm",), blocks)
