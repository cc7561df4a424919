"""Tokens, string expressions and bracketed arguments of Mojo, which has no grammar for tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from ptx_lsp.embedded.mapped_text import Builder, MappedText, unwritable
from ptx_lsp.embedded.python_literals import add_text, encoder, literal_kind
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

_TOKEN: Final = lazy_pattern(
    rb"(?P<space>(?:\s|#[^\n]*|\\\r?\n)+)"
    rb"|(?P<string>[rR]?(?:\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''(?:[^\\]|\\.)*?(?:'''|\Z)"
    rb"|\"(?:[^\"\\\n]|\\.)*(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]|\\.)*(?:'|(?=\n)|\Z)))"
    rb"|(?P<word>[A-Za-z_]\w*)|(?P<other>[\d.]+\w*|.)",
    re.S,
)
_OPENING: Final = (b"(", b"[", b"{")
_CLOSING: Final = (b")", b"]", b"}")
_MOST_DEEP: Final = 8
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


def bracketed(source: Iterable[Token]) -> tuple[list[list[Token]], int | None]:
    """The arguments up to the bracket that closes the open one, and its end; None if it is missing."""
    found: list[list[Token]] = [[]]
    depth = 1
    for token in source:
        if token.kind == "other":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if not depth:
                return [one for one in found if one], token.span.end
            if depth == 1 and token.text == b",":
                found.append([])
                continue
        found[-1].append(token)
    return [one for one in found if one], None


def span_of(argument: list[Token]) -> Span:
    """The range of tokens."""
    return Span(argument[0].span.start, argument[-1].span.end)


class Strings:
    """Reads string expressions in `data`. Names have the text of the definition above them."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.has_literal = False
        self.has_names = False

    def text(self, expression: list[Token]) -> MappedText:
        """The text of an expression. Parts that are unknown are holes."""
        builder = Builder()
        self._add(builder, expression, None, 0)
        return builder.text()

    def _add(self, builder: Builder, expression: list[Token], at: Span | None, depth: int) -> None:
        for term in _terms(_chosen(expression)):
            inner = _without_parentheses(term)
            if all(token.kind == "string" for token in term):
                for token in term:
                    self._add_literal(builder, token, at)
            elif inner is not None and depth < _MOST_DEEP:
                self._add(builder, inner, at, depth + 1)
            elif not (
                len(term) == 1
                and depth < _MOST_DEEP
                and self._add_name(builder, term[0], at, depth)
            ):
                span = span_of(term)
                builder.hole(self._data[slice(*span)], at or span, unwritable)

    def _add_literal(self, builder: Builder, token: Token, at: Span | None) -> None:
        self.has_literal = True
        opening = _QUOTES.match(token.text)
        mark = opening[0] if opening is not None else b'"'
        kind = literal_kind(mark)
        quotes = kind.quotes.encode()
        is_closed = len(token.text) >= len(mark) + len(quotes) and token.text.endswith(quotes)
        content = Span(token.span.start + len(mark), token.span.end - len(quotes) * is_closed)
        if at is None:
            add_text(builder, self._data, content, kind, encoder(kind))
            return
        inner = Builder()
        add_text(inner, self._data, content, kind, encoder(kind))
        builder.add(inner.text().data, at, "replaced", unwritable)

    def _add_name(self, builder: Builder, name: Token, at: Span | None, depth: int) -> bool:
        """Adds the text that a name stands for; False if it is unknown."""
        if name.kind != "word":
            return False
        value = _definition(self._data, name)
        if value is None:
            return False
        self.has_names = True
        self._add(builder, value, at or name.span, depth + 1)
        return True


_QUOTES: Final = lazy_pattern(rb"[rR]?(?:\"\"\"|'''|\"|')")


def _chosen(expression: list[Token]) -> list[Token]:
    """The first alternative of `a if condition else b`, otherwise the expression."""
    depth = 0
    for number, token in enumerate(expression):
        if token.kind == "other":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        elif not depth and number and token.text == b"if":
            return expression[:number]
    return expression


def _terms(expression: list[Token]) -> list[list[Token]]:
    """The terms of a sum."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in expression:
        if token.kind == "other":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
            if not depth and token.text == b"+":
                found.append([])
                continue
        found[-1].append(token)
    return [one for one in found if one]


def _without_parentheses(term: list[Token]) -> list[Token] | None:
    """The expression in parentheses that a term is; None if it is something else."""
    if len(term) < 3 or term[0].text != b"(" or term[-1].text != b")":
        return None
    inside, end = bracketed(term[1:])
    return inside[0] if end == term[-1].span.end and len(inside) == 1 else None


def _definition(data: bytes, name: Token) -> list[Token] | None:
    """The string expression that the last definition above a name gives it."""
    pattern = rb"^[ \t]*(?:(?:comptime|alias|var)[ \t]+)?%b[ \t]*(?::[^=\n]*)?=(?!=)" % re.escape(
        name.text
    )
    found = [match.end() for match in re.finditer(pattern, data[: name.span.start], re.MULTILINE)]
    if not found:
        return None
    value: list[Token] = []
    depth = 0
    for token in tokens(data, found[-1]):
        if token.kind == "other":
            depth += (token.text in _OPENING) - (token.text in _CLOSING)
        elif (
            value and not depth and value[-1].text not in (b"+", *_OPENING) and token.kind == "word"
        ):
            break
        value.append(token)
        if depth < 0 or token.span.start > name.span.start:
            return None
        if not depth and _ends_line(data, token.span.end):
            break
    return value if any(token.kind == "string" for token in value) else None


def _ends_line(data: bytes, end: int) -> bool:
    rest = data[end : end + 200].lstrip(b" \t")
    return not rest or rest[:1] in (b"\n", b"\r", b"#")
