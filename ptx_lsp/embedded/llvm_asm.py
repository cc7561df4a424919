"""Inline assembly in LLVM IR: `call i32 asm sideeffect "mov.u32 $0, %tid.x;", "=r"()`.

It is read from tokens, so that parts of a file, which Julia has in strings, can be read, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ptx_lsp.embedded.block import Block, Clobber, Operand
from ptx_lsp.embedded.llvm_constraints import Passed, constraints, llvm_template, memory_edit
from ptx_lsp.embedded.mapped_text import Builder, MappedText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Edit, Span

_TOKEN: Final = lazy_pattern(
    rb"(?P<space>(?:\s|;[^\n]*)+)|(?P<string>\"[^\"]*(?:\"|\Z))|(?P<word>[-\w$.]+|[%@!#][-\w$.]+)|(?P<other>.)",
    re.S,
)
_KEYWORD: Final = lazy_pattern(rb"\basm\b")
_QUALIFIERS: Final = (b"sideeffect", b"alignstack", b"inteldialect", b"unwind")
_ESCAPE: Final = lazy_pattern(rb"\\(?:(?P<hex>[0-9a-fA-F]{2})|\\)")
_NOT_IN_ARGUMENTS: Final = (b"=", b"call", b"define", b"ret")
_OPENING: Final = (b"(", b"[", b"{", b"<")
_CLOSING: Final = (b")", b"]", b"}", b">")
_CONSTANT: Final = lazy_pattern(r"i\d+ (-?\d+)")
_UNWRITTEN: Final = lazy_pattern(r"[\x00-\x1f\"\\\x7f]")


class _Token(NamedTuple):
    kind: str
    span: Span
    text: bytes


class AsmCall(NamedTuple):
    """A call of inline assembly."""

    keyword: Span
    end: int
    template: Span
    constraints: Span
    """The range between the quotes, as that of the template."""
    is_volatile: bool
    passed: tuple[Passed, ...] | None
    """The arguments; None if there are none, as for an alias or a pointer."""


def asm_calls(data: bytes) -> Iterator[AsmCall]:
    """The calls of inline assembly in LLVM IR. Only lines with a keyword are split into tokens."""
    for match in _KEYWORD.finditer(data):
        before = b""
        for token in _tokens(data, data.rfind(b"\n", 0, match.start()) + 1):
            if token.span.end >= match.end():
                if token.span == match.span() and before != b"module":
                    call = _call(data, token.span, _tokens(data, match.end()))
                    if call is not None:
                        yield call
                break
            before = token.text


def _tokens(data: bytes, start: int) -> Iterator[_Token]:
    for match in _TOKEN.finditer(data, start):
        if match.lastgroup != "space":
            yield _Token(match.lastgroup or "", Span(*match.span()), match[0])


def _call(data: bytes, keyword: Span, tokens: Iterator[_Token]) -> AsmCall | None:
    is_volatile = False
    token = next(tokens, None)
    while token is not None and token.text in _QUALIFIERS:
        is_volatile |= token.text == b"sideeffect"
        token = next(tokens, None)
    comma, letters, opening = next(tokens, None), next(tokens, None), next(tokens, None)
    if token is None or comma is None or letters is None or comma.text != b",":
        return None
    if not _is_closed(token) or not _is_closed(letters):
        return None
    passed, end = None, letters.span.end
    if opening is not None and opening.text == b"(":
        found = _arguments(data, opening.span.end, tokens)
        if found is not None:
            passed, end = found
    return AsmCall(keyword, end, _inner(token), _inner(letters), is_volatile, passed)


def _is_closed(token: _Token) -> bool:
    return token.kind == "string" and len(token.text) > 1 and token.text.endswith(b'"')


def _inner(token: _Token) -> Span:
    return Span(token.span.start + 1, token.span.end - 1)


def _arguments(
    data: bytes, start: int, tokens: Iterator[_Token]
) -> tuple[tuple[Passed, ...], int] | None:
    """The arguments from the opening parenthesis on, and the end of the closing one, if there is one."""
    found: list[Passed] = []
    depth = 1
    for token in tokens:
        if token.text in _NOT_IN_ARGUMENTS:
            return None
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if not depth or (depth == 1 and token.text == b","):
            _add(found, data, start, token.span.start)
            start = token.span.end
        if not depth:
            return tuple(found), token.span.end
    return None


def _add(found: list[Passed], data: bytes, start: int, end: int) -> None:
    """Adds an argument without the spaces around it."""
    written = data[start:end]
    start += len(written) - len(written.lstrip())
    if written.strip():
        span = Span(start, start + len(written.strip()))
        found.append(Passed(written.strip().decode("utf-8", "replace"), span))


def asm_block(
    data: bytes, call: AsmCall, host: str, language: str, outer: MappedText | None = None
) -> Block:
    """The block of a call. Its places are those in `data`, or in what `outer` comes from, which is the text
    of the IR then.
    """
    letters, template = _string(data, call.constraints), _string(data, call.template)
    described = constraints(letters, call.passed)
    operands = tuple(_with_value(one) for one in described.operands)
    text = llvm_template(template, operands)
    block = Block(
        host,
        language,
        call.keyword.start,
        call.end - call.keyword.start,
        call.keyword,
        text,
        call.template,
        operands,
        described.clobbers,
        call.is_volatile,
        operands_known=described.are_known,
        memory_edit=memory_edit(call.constraints),
        volatile_edit=Edit(call.keyword.end, call.keyword.end, b" sideeffect"),
    )
    return block if outer is None else _through(block, outer)


def _with_value(operand: Operand) -> Operand:
    """An operand with the value of its argument, if it is a constant."""
    found = _CONSTANT.fullmatch(operand.expression) if operand.constraint in ("n", "i") else None
    return operand._replace(value=found[1]) if found is not None else operand


def _through(block: Block, outer: MappedText) -> Block:
    """A block whose places are those in the host that `outer` comes from."""
    whole = outer.host_span(block.span)
    return block._replace(
        start=whole.start,
        length=whole.end - whole.start,
        keyword=outer.host_span(block.keyword),
        text=block.text.through(outer),
        template=outer.host_span(block.template),
        operands=tuple(_operand_through(one, outer) for one in block.operands),
        clobbers=tuple(Clobber(one.name, outer.host_span(one.span)) for one in block.clobbers),
        memory_edit=_edit_through(block.memory_edit, outer),
        volatile_edit=_edit_through(block.volatile_edit, outer),
    )


def _edit_through(edit: Edit | None, outer: MappedText) -> Edit | None:
    if edit is None:
        return None
    at = outer.host_span(Span(edit.start, edit.end))
    return Edit(at.start, at.end, edit.replacement)


def _operand_through(operand: Operand, outer: MappedText) -> Operand:
    return operand._replace(
        constraint_span=outer.host_span(operand.constraint_span),
        expression_span=outer.host_span(operand.expression_span),
    )


def _string(data: bytes, content: Span) -> MappedText:
    """The text of a string."""
    builder = Builder()
    start, end = content
    for match in _ESCAPE.finditer(data, start, end):
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", escaped)
        new = b"\\" if match["hex"] is None else bytes([int(match["hex"], 16)])
        builder.add(new, Span(*match.span()), "replaced", escaped)
        start = match.end()
    if end > start:
        builder.add(data[start:end], Span(start, end), "same", escaped)
    return builder.text()


def escaped(text: str) -> str:
    """Text as LLVM IR writes it in a string."""
    return _UNWRITTEN.sub(lambda match: f"\\{ord(match[0]):02X}", text)
