"""Inline assembly in MLIR: `llvm.inline_asm`, and `tt.elementwise_inline_asm` of Triton."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptx_lsp.embedded.block import Block, Operand, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.llvm_constraints import Passed, constraints, llvm_template, memory_edit
from ptx_lsp.embedded.mlir_syntax import Reader, Token, operations, string
from ptx_lsp.embedded.mlir_values import constant
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Edit, Span

_OPERATIONS: Final = lazy_pattern(rb"\b(?:llvm\.inline_asm|tt\.elementwise_inline_asm)\b")


class _Parts:
    """The parts of an operation, whose names are those of the generic form."""

    def __init__(self) -> None:
        self.strings: dict[bytes, Token] = {}
        self.flags: set[bytes] = set()
        self.values: list[Token] = []
        self.pure: Token | None = None
        """The value of the attribute `pure`."""


def blocks(text: HostText) -> Iterator[Block]:
    """The operations of inline assembly."""
    data = text.source.data
    for token in operations(data, _OPERATIONS):
        name = token.text.strip(b'"')
        block = _block(data, token, name, token.kind == "string", text.language)
        if block is not None:
            yield block


def _block(
    data: bytes, keyword: Token, name: bytes, is_generic: bool, language: str
) -> Block | None:
    reader = Reader(data, keyword.span.end)
    parts = _Parts()
    if is_generic:
        _read_generic(reader, parts)
    else:
        _read(reader, parts)
    template, letters = parts.strings.get(b"asm_string"), parts.strings.get(b"constraints")
    if template is None or letters is None:
        return None
    passed = [Passed(one.text.decode("utf-8", "replace"), one.span) for one in parts.values]
    described = constraints(string(data, letters), passed)
    operands = tuple(_with_value(data, one) for one in described.operands)
    is_triton = name.startswith(b"tt.")
    is_volatile = b"pure" not in parts.flags if is_triton else b"has_side_effects" in parts.flags
    return relative(
        Block(
            "mlir",
            language,
            keyword.span.start,
            reader.end - keyword.span.start,
            keyword.span,
            llvm_template(string(data, template), operands),
            template.span,
            operands,
            described.clobbers,
            is_volatile,
            operands_known=described.are_known,
            memory_edit=memory_edit(Span(letters.span.start + 1, letters.span.end - 1)),
            volatile_edit=_volatile_edit(keyword, parts, is_generic, is_triton),
            is_context_free=False,
        )
    )


def _read(reader: Reader, parts: _Parts) -> None:
    """Reads `has_side_effects asm_dialect = att "template", "constraints" %values : types`, or with a
    dictionary in the place of the constraints.
    """
    while (token := reader.peek()) is not None and token.kind != "string":
        if token.text[:1] in b"%:":
            return
        parts.flags.add(token.text)
        reader.take()
    if token is None:
        return
    parts.strings[b"asm_string"] = token
    reader.take()
    if reader.take(b",") is not None:
        letters = reader.peek()
        if letters is not None and letters.kind == "string":
            parts.strings[b"constraints"] = letters
            reader.take()
    if reader.take(b"{") is not None:
        _add_attributes(reader, parts)
    parts.values = reader.values()


def _read_generic(reader: Reader, parts: _Parts) -> None:
    """Reads `(%values) <{attributes}>`."""
    if reader.take(b"(") is None:
        return
    parts.values = reader.values()
    if reader.take(b")") is None:
        return
    reader.take(b"<")
    if reader.take(b"{") is not None:
        _add_attributes(reader, parts)


def _add_attributes(reader: Reader, parts: _Parts) -> None:
    for one in reader.bracketed():
        if len(one) > 2 and one[2].kind == "string":
            parts.strings[one[0].text] = one[2]
        elif len(one) < 2 or (one[2:3] and one[2].text == b"true"):
            parts.flags.add(one[0].text)
            if one[0].text == b"pure":
                parts.pure = one[-1]


def _volatile_edit(keyword: Token, parts: _Parts, is_generic: bool, is_triton: bool) -> Edit | None:
    if is_triton:
        return Edit(*parts.pure.span, b"false") if parts.pure is not None else None
    return None if is_generic else Edit(keyword.span.end, keyword.span.end, b" has_side_effects")


def _with_value(data: bytes, operand: Operand) -> Operand:
    """An operand that is a constant with its value, if that is known."""
    if operand.type is not None or operand.constraint not in ("n", "i"):
        return operand
    return operand._replace(value=constant(data, operand.expression, operand.expression_span.start))


HOST = Host("mlir", ("mlir",), (b"inline_asm",), blocks)
