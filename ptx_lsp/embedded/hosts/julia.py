"""`@asmcall` of LLVM.jl in Julia."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded.block import Block, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.julia_syntax import arguments, content, is_string, string
from ptx_lsp.embedded.llvm_constraints import Passed, constraints, llvm_template, memory_edit
from ptx_lsp.embedded.mapped_text import MappedText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL = lazy_pattern(rb"@asmcall\b")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of `@asmcall`."""
    assert text.tree is not None
    for match in _CALL.finditer(text.source.data):
        keyword = Span(*match.span())
        node: Node | None = text.tree.root_node.descendant_for_byte_range(*keyword)
        if node is None or node.type != "macro_identifier" or node.start_byte != keyword.start:
            continue
        call = node.parent
        if call is None or call.type != "macrocall_expression":
            continue
        block = text.known.get(("julia", keyword.start))
        if block is None or block.span.end != call.end_byte:
            block = _block(text, keyword, call)
        if block is not None:
            yield block


def _block(text: HostText, keyword: Span, call: Node) -> Block | None:
    data = text.source.data
    passed = arguments(call)
    if not passed or not is_string(passed[0]):
        return None
    template, *rest = passed
    letters: Node | None = None
    if rest and _may_be_constraints(rest[0]):
        letters, *rest = rest
    is_volatile = bool(rest) and rest[0].text == b"true"
    volatile_edit: Edit | None = None
    if rest and rest[0].text == b"false":
        volatile_edit = Edit(rest[0].start_byte, rest[0].end_byte, b"true")
    elif letters is not None and any(one.type == "argument_list" for one in call.children):
        volatile_edit = Edit(letters.end_byte, letters.end_byte, b", true")
    written = content(data, letters) if letters is not None else None
    if rest and rest[0].type == "boolean_literal":
        del rest[0]
    inputs = [
        Passed((node.text or b"").decode("utf-8", "replace"), Span(node.start_byte, node.end_byte))
        for node in rest[2:]
    ]
    has_splat = any(one.text.endswith("...") for one in inputs)
    described = constraints(
        string(data, letters) if letters is not None else MappedText(b"", []),
        None if has_splat else inputs,
    )
    return relative(
        Block(
            "julia",
            text.language,
            keyword.start,
            call.end_byte - keyword.start,
            keyword,
            llvm_template(string(data, template), described.operands),
            Span(template.start_byte, template.end_byte),
            described.operands,
            described.clobbers,
            is_volatile,
            operands_known=described.are_known,
            memory_edit=memory_edit(written) if written is not None else None,
            volatile_edit=volatile_edit,
        )
    )


def _may_be_constraints(node: Node) -> bool:
    """Whether the second argument has the constraints. Otherwise it is a type, or says whether there are side
    effects.
    """
    return is_string(node) or node.type == "interpolation_expression"


HOST = Host("julia", ("julia",), (b"@asmcall",), blocks)
