"""Tokens and strings of MLIR's textual form. https://mlir.llvm.org/docs/LangRef"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from ptx_lsp.embedded.mapped_text import Builder, MappedText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

_TOKEN: Final = lazy_pattern(
    rb"(?P<space>(?:\s|//[^\n]*)+)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")"
    rb"|(?P<word>[%#@!^]?[A-Za-z_$][\w.$]*(?::\d+|#\d+)?|%\d+(?:#\d+)?)|(?P<other>->|-?\d[\w.]*|.)",
    re.S,
)
_ESCAPE: Final = lazy_pattern(rb"\\(?:(?P<hex>[0-9a-fA-F]{2})|(?P<one>[nt\"\\]))")
_NAMED: Final = {b"n": b"\n", b"t": b"\t"}
_OPENING: Final = (b"(", b"[", b"{", b"<")
_CLOSING: Final = (b")", b"]", b"}", b">")
_UNWRITTEN: Final = lazy_pattern(r"[\x00-\x1f\"\\\x7f]")
Kind: TypeAlias = Literal["string", "word", "other"]


class Token(NamedTuple):
    """A token and its range. Comments and spaces are none."""

    kind: Kind
    span: Span
    text: bytes


def tokens(data: bytes, start: int = 0) -> Iterator[Token]:
    """The tokens from `start` on."""
    for match in _TOKEN.finditer(data, start):
        match match.lastgroup:
            case "space":
                continue
            case "string":
                yield Token("string", Span(*match.span()), match[0])
            case "word":
                yield Token("word", Span(*match.span()), match[0])
            case _:
                yield Token("other", Span(*match.span()), match[0])


def operations(data: bytes, names: re.Pattern[bytes]) -> Iterator[Token]:
    """The names of operations, in quotes or not. Only lines with such a name are split into tokens."""
    for match in names.finditer(data):
        for token in tokens(data, data.rfind(b"\n", 0, match.start()) + 1):
            if token.span.end >= match.end():
                if token.text.strip(b'"') == match[0] and token.span.start <= match.start():
                    yield token
                break


class Reader:
    """Reads the tokens of one operation. `end` is after the last one taken."""

    def __init__(self, data: bytes, start: int) -> None:
        self._tokens = tokens(data, start)
        self._waiting: Token | None = None
        self.end = start

    def peek(self) -> Token | None:
        """The next token, which stays."""
        if self._waiting is None:
            self._waiting = next(self._tokens, None)
        return self._waiting

    def take(self, text: bytes | None = None) -> Token | None:
        """The next token; None if there is none, or not this one, which stays then."""
        token = self.peek()
        if token is None or (text is not None and token.text != text):
            return None
        self._waiting = None
        self.end = token.span.end
        return token

    def bracketed(self) -> list[list[Token]]:
        """The parts between commas up to the bracket that closes the open one."""
        found: list[list[Token]] = [[]]
        depth = 1
        while (token := self.take()) is not None:
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if not depth:
                break
            if depth == 1 and token.text == b",":
                found.append([])
            else:
                found[-1].append(token)
        return [one for one in found if one]

    def values(self) -> list[Token]:
        """The values such as `%a, %b`, if some follow."""
        found: list[Token] = []
        while (token := self.peek()) is not None and token.text[:1] == b"%":
            found.append(token)
            self.take()
            if self.take(b",") is None:
                break
        return found

    def type(self) -> list[Token]:
        """The tokens of one type."""
        found: list[Token] = []
        depth = 0
        while (token := self.peek()) is not None:
            if not depth and (token.text in (b",", b"->", b":") or token.text in _CLOSING):
                break
            if not depth and found and token.text not in _OPENING:
                break
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            found.append(token)
            self.take()
        return found


def string(data: bytes, token: Token) -> MappedText:
    """The text of a string."""
    builder = Builder()
    start, end = token.span.start + 1, token.span.end - 1
    for match in _ESCAPE.finditer(data, start, end):
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", escaped)
        one = match["one"]
        new = bytes([int(match["hex"], 16)]) if one is None else _NAMED.get(one, one)
        builder.add(new, Span(*match.span()), "replaced", escaped)
        start = match.end()
    if end > start:
        builder.add(data[start:end], Span(start, end), "same", escaped)
    return builder.text()


def escaped(text: str) -> str:
    """Text as MLIR writes it in a string."""
    return _UNWRITTEN.sub(lambda match: f"\\{ord(match[0]):02X}", text)
