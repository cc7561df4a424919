"""`nvvm.inline_ptx` in MLIR. https://mlir.llvm.org/docs/Dialects/NVVMDialect/#nvvminline_ptx-nvvminlineptxop"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptx_lsp.embedded.block import Access, Block, Operand, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.mapped_text import Encode, MappedText
from ptx_lsp.embedded.mlir_syntax import Reader, Token, operations, string
from ptx_lsp.embedded.mlir_values import constant
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Span

_REGISTER_TYPES: Final = {
    b"i1": ".pred", b"i16": ".b16", b"f16": ".b16", b"bf16": ".b16", b"i32": ".b32", b"i64": ".b64",
    b"f32": ".f32", b"f64": ".f64", b"i128": ".b128",
}  # fmt: skip
_OPERATION: Final = lazy_pattern(rb"\bnvvm\.inline_ptx\b")
_POINTER: Final = b"!llvm.ptr"
_NARROW_POINTER: Final = [b"!llvm.ptr", b"<", b"3", b">"]
"""Pointers to shared memory have 32 bits."""
_NUMBERED: Final = lazy_pattern(rb"[$%](\d+)")
_NAMED: Final = lazy_pattern(rb"\{(\$(?:rw|w|r)\d+)\}")
_WRITTEN: Final = lazy_pattern(r"\$((?:rw|w|r)\d+)")


def blocks(text: HostText) -> Iterator[Block]:
    """The operations `nvvm.inline_ptx "..." ro(...) rw(...) -> ...`."""
    data = text.source.data
    for token in operations(data, _OPERATION):
        block = _block(data, token, text.language) if token.kind == "word" else None
        if block is not None:
            yield block


def _block(data: bytes, keyword: Token, language: str) -> Block | None:
    reader = Reader(data, keyword.span.end)
    template = reader.take()
    if template is None or template.kind != "string":
        return None
    reads, updates = _operands(data, reader)
    results: list[list[Token]] = []
    end = reader.end
    if reader.take(b"->") is not None:
        results.append(reader.type())
        while reader.take(b",") is not None:
            results.append(reader.type())
        end = reader.end
    written = [_result(one) for one in results if one]
    text = string(data, template)
    groups: list[tuple[str, list[Operand]]] = [("rw", updates), ("w", written), ("r", reads)]
    operands = _named(groups) if _NAMED.search(text.data) is not None else _numbered(groups)
    return relative(
        Block(
            "nvvm-mlir",
            language,
            keyword.span.start,
            end - keyword.span.start,
            keyword.span,
            _with_operands(text, operands),
            template.span,
            operands,
            is_volatile=True,
            is_ptx=True,
            is_context_free=False,
        )
    )


def _operands(data: bytes, reader: Reader) -> tuple[list[Operand], list[Operand]]:
    """The operands that are read, and those that are read and written."""
    reads: list[Operand] = []
    updates: list[Operand] = []
    while (token := reader.peek()) is not None and token.text in (b"ro", b"rw", b"(", b",", b"{"):
        if token.text == b",":
            reader.take()
            if reader.take(b"predicate") is None or reader.take(b"=") is None:
                break
            reader.values()
        elif token.text == b"{":
            reader.take()
            reader.bracketed()
        else:
            is_update = token.text == b"rw"
            if token.text != b"(":
                reader.take()
            if reader.take(b"(") is None:
                break
            (updates if is_update else reads).extend(
                _list(data, reader, "both" if is_update else "read")
            )
    return reads, updates


def _list(data: bytes, reader: Reader, access: Access) -> list[Operand]:
    """The operands of a list `%a, %b : i32, i32)`."""
    values = reader.values()
    types: list[list[Token]] = []
    if reader.take(b":") is not None:
        types.append(reader.type())
        while reader.take(b",") is not None:
            types.append(reader.type())
    reader.take(b")")
    found: list[Operand] = []
    for number, value in enumerate(values):
        type = types[number] if number < len(types) else []
        name = value.text.decode("utf-8", "replace")
        known = constant(data, name, value.span.start) if access == "read" else None
        place = _span(type) if type else Span(value.span.end, value.span.end)
        found.append(
            Operand(
                "",
                None if known is not None else _register(type),
                access,
                _written(type),
                place,
                name,
                value.span,
                value=known,
            )
        )
    return found


def _result(type: list[Token]) -> Operand:
    span = _span(type)
    return Operand("", _register(type), "write", _written(type), span, "", Span(span.end, span.end))


def _register(type: list[Token]) -> str | None:
    """The type of the register for a type; None if it is unknown."""
    texts = [one.text for one in type]
    if texts[:1] == [_POINTER]:
        return ".b32" if texts == _NARROW_POINTER else ".b64"
    return _REGISTER_TYPES.get(texts[0]) if len(texts) == 1 else None


def _written(type: list[Token]) -> str:
    return b"".join(one.text for one in type).decode("utf-8", "replace")


def _span(type: list[Token]) -> Span:
    return Span(type[0].span.start, type[-1].span.end)


def _named(groups: list[tuple[str, list[Operand]]]) -> tuple[Operand, ...]:
    """The operands with names such as `$r0`."""
    return tuple(
        one._replace(name=f"${prefix}{number}")
        for prefix, group in groups
        for number, one in enumerate(group)
    )


def _numbered(groups: list[tuple[str, list[Operand]]]) -> tuple[Operand, ...]:
    """The operands with names such as `$0`."""
    operands = [one for _, group in groups for one in group]
    return tuple(one._replace(name=f"${number}") for number, one in enumerate(operands))


def _with_operands(text: MappedText, operands: tuple[Operand, ...]) -> MappedText:
    values = {one.name.encode(): one.value.encode() for one in operands if one.value is not None}
    if _NAMED.search(text.data) is not None:
        text = text.replaced(_NAMED, lambda match: values.get(match[1], match[1]))
        return text.with_encoding(_with_braces)
    return text.replaced(_NUMBERED, lambda match: values.get(b"$" + match[1], b"$" + match[1]))


def _with_braces(encode: Encode) -> Encode:
    return lambda text: encode(_WRITTEN.sub(r"{$\1}", text))


HOST = Host("nvvm-mlir", ("mlir",), (b"inline_ptx",), blocks)
