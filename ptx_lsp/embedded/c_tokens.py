"""The tokens of C and C++, and the text of string literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from ptx_lsp.embedded.mapped_text import Builder
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

TokenKind: TypeAlias = Literal["string", "raw", "word", "number", "other"]

_TOKEN = lazy_pattern(
    rb"(?P<space>(?:\s|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))+)"
    rb"|(?P<raw>(?:u8|[uUL])?R\"(?P<mark>[^\s()\\]{0,16})\((?P<content>.*?)(?:\)(?P=mark)\"|\Z))"
    rb"|(?P<string>(?:u8|[uUL])?\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\Z))"
    rb"|(?P<character>'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z))"
    rb"|(?P<word>[A-Za-z_]\w*)"
    rb"|(?P<number>\.?\d(?:[eEpP][+-]|['\w.])*)"
    rb"|(?P<other>::|.)",
    re.S,
)
_CONTINUATION = lazy_pattern(rb"\\\r?\n")
_ESCAPE = lazy_pattern(
    rb"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]+)|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    rb"|(?P<line>\r?\n)|(?P<one>.))",
    re.S,
)
_NAMED = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v",
}  # fmt: skip


class Token(NamedTuple):
    """A token and its range in the text. Characters in single quotes are `other`."""

    kind: TokenKind
    span: Span
    content: Span
    """The range between the quotes of a string; otherwise the same as `span`."""


def tokens(data: bytes, start: int = 0) -> Iterator[Token]:
    """The tokens from `start` on. Comments, spaces and continued lines are none."""
    for match in _TOKEN.finditer(data, start):
        span = Span(*match.span())
        match match.lastgroup:
            case "space":
                continue
            case "raw":
                yield Token("raw", span, Span(*match.span("content")))
            case "string":
                first = data.index(b'"', span.start) + 1
                is_closed = span.end > first and data[span.end - 1] == 0x22
                yield Token("string", span, Span(first, span.end - is_closed))
            case "word":
                yield Token("word", span, span)
            case "number":
                yield Token("number", span, span)
            case _:
                yield Token("other", span, span)


def add_literal(builder: Builder, data: bytes, token: Token) -> None:
    """Adds the text of a string literal."""
    start, end = token.content
    if token.kind == "raw":
        if end > start:
            builder.add(data[start:end], token.content, "same", raw)
        return
    for match in _ESCAPE.finditer(data, start, end):
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", escaped)
        builder.add(_unescaped(match), Span(*match.span()), "replaced", escaped)
        start = match.end()
    if end > start:
        builder.add(data[start:end], Span(start, end), "same", escaped)


def _unescaped(match: re.Match[bytes]) -> bytes:
    one = match["one"]
    if one is not None:
        return _NAMED.get(one, one)
    if match["line"] is not None:
        return b""
    if match["octal"] is not None:
        return bytes([int(match["octal"], 8) & 0xFF])
    if match["hex"] is not None:
        return bytes([int(match["hex"], 16) & 0xFF])
    return chr(min(int(match["u"] or match["U"], 16), 0x10FFFF)).encode("utf-8", "replace")


def escaped(text: str) -> str:
    """Text in the form of an ordinary literal."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(plain, written)
    return text


def raw(text: str) -> str | None:
    """Text in the form of a raw literal; None if it might end it."""
    return None if ')"' in text else text


