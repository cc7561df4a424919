"""The string literals of Python: how their text is read, and how text is written into them."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from ptx_lsp.embedded.mapped_text import Builder, Encode
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMED = {
    b"\\": b"\\", b"'": b"'", b'"': b'"', b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r",
    b"t": b"\t", b"v": b"\v",
}  # fmt: skip
_ESCAPE = rb"\\(?:(?P<line>\r\n?|\n)|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})|(?P<one>[\\'\"abfnrtv])"
_UNICODE = rb"|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|N\{(?P<N>[^}\"'\n]+)\}"
_BRACES = rb"|(?P<brace>\{\{|\}\})"
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f]")
_NEWLINE = rb"|(?P<newline>\r\n?)"


class LiteralKind(NamedTuple):
    """The prefix and the quotes of a literal."""

    is_raw: bool
    is_bytes: bool
    is_formatted: bool
    quotes: str
    """One or three."""


def literal_kind(opening: bytes) -> LiteralKind:
    """The kind of the literal with a prefix and quotes such as `rb'`."""
    written = opening.decode("latin-1")
    prefix = written.rstrip("\"'").lower()
    quotes = written[len(prefix) :] or '"'  # the grammar takes backquotes for a literal
    return LiteralKind("r" in prefix, "b" in prefix, "f" in prefix or "t" in prefix, quotes)


def add_text(builder: Builder, data: bytes, span: Span, kind: LiteralKind, encode: Encode) -> None:
    """Adds the text of a part of a literal."""
    start = span.start
    for match in _pattern(kind).finditer(data, *span):
        new = _replacement(match, kind)
        if new is None:
            continue
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", encode)
        builder.add(new, Span(*match.span()), "replaced", encode)
        start = match.end()
    if span.end > start:
        builder.add(data[start : span.end], Span(start, span.end), "same", encode)


@cache
def _pattern(kind: LiteralKind) -> re.Pattern[bytes]:
    escapes = b"(?!)(?:" if kind.is_raw else _ESCAPE + (b"" if kind.is_bytes else _UNICODE)
    return lazy_pattern(escapes + b")" + _NEWLINE + (_BRACES if kind.is_formatted else b""))


def _replacement(match: re.Match[bytes], kind: LiteralKind) -> bytes | None:
    found = {name: part for name, part in match.groupdict().items() if part is not None}
    name, part = next(iter(found.items()))
    match name:
        case "line":
            return b""
        case "newline":
            return b"\n"
        case "brace":
            return part[:1]
        case "one":
            return _NAMED[part]
        case "N":
            try:
                return unicodedata.lookup(part.decode("ascii", "replace")).encode()
            except KeyError:
                return None
        case _:
            code = int(part, 8 if name == "octal" else 16)
            if kind.is_bytes:
                return bytes([code & 0xFF])
            return chr(code).encode("utf-8", "replace") if code <= 0x10FFFF else None


@cache
def encoder(kind: LiteralKind) -> Encode:
    """How text is written into a literal; None where it cannot stand in one of this kind."""
    quote = kind.quotes[0]
    is_long = len(kind.quotes) == 3

    def encode(text: str) -> str | None:
        if kind.is_raw:
            if quote in text or text.endswith("\\") or _CONTROL.search(text):
                return None
            if ("\n" in text and not is_long) or (kind.is_bytes and not text.isascii()):
                return None
            return _braces_doubled(text) if kind.is_formatted else text
        text = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
        text = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
        if not is_long:
            text = text.replace("\n", "\\n").replace("\t", "\\t")
        if kind.is_bytes:
            text = "".join(chr(byte) if byte < 0x80 else f"\\x{byte:02x}" for byte in text.encode())
        return _braces_doubled(text) if kind.is_formatted else text

    return encode


def _braces_doubled(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def unwritable(text: str) -> str | None:
    """The encoding of places where text cannot be written."""
    return None


def literal_parts(node: Node) -> tuple[LiteralKind, list[Span | Node]]:
    """The kind of a literal, and its parts in order: ranges of text, and expressions to interpolate."""
    first, last = node.children[0], node.children[-1]
    kind = literal_kind(first.text or b'"')
    end = last.start_byte if last.type == "string_end" else node.end_byte
    parts: list[Span | Node] = []
    start = first.end_byte
    for child in node.children:
        if child.type == "interpolation" and kind.is_formatted:
            if child.start_byte > start:
                parts.append(Span(start, child.start_byte))
            parts.append(child)
            start = child.end_byte
    if end > start:
        parts.append(Span(start, end))
    return kind, parts
