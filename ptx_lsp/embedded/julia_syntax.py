"""String literals of Julia. https://docs.julialang.org/en/v1/manual/strings"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded.mapped_text import Builder, Encode, MappedText, unwritable
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPE: Final = lazy_pattern(
    rb"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})"
    rb"|(?:u(?P<u>[0-9a-fA-F]{1,4})|U(?P<U>[0-9a-fA-F]{1,8}))|(?P<line>\r?\n[ \t]*)|(?P<one>.))",
    re.S,
)
_NAMED: Final = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v", b"e": b"\x1b",
}  # fmt: skip
_RAW_ESCAPE: Final = lazy_pattern(rb"(?P<slashes>\\+)(?P<quote>\"|\Z)")
_INDENT: Final = lazy_pattern(rb"[ \t]*")


def arguments(call: Node) -> list[Node]:
    """The arguments of a call of a function or macro."""
    lists = [
        node for node in call.children if node.type in ("argument_list", "macro_argument_list")
    ]
    return [
        one for node in lists[:1] for one in node.named_children if not one.type.endswith("comment")
    ]


def is_string(node: Node) -> bool:
    """Whether a node is a literal whose text is known, up to interpolation."""
    if node.type == "prefixed_string_literal":
        return node.children[0].text == b"raw"
    return node.type == "string_literal"


def string(data: bytes, node: Node) -> MappedText:
    """The text of a literal; of anything else, a hole."""
    builder = Builder()
    if not is_string(node):
        builder.hole(node.text or b"", Span(node.start_byte, node.end_byte), unwritable)
        return builder.text()
    inner, is_triple = _content(data, node)
    is_raw = node.type == "prefixed_string_literal"
    indent = _indentation(data[slice(*inner)]) if is_triple else 0
    start = inner.start
    if is_triple:
        start += len(_first_line(data[slice(*inner)], indent))
    encode: Encode = (_triple_raw if is_triple else _raw) if is_raw else escaped
    for hole in [*_interpolations(data, node), None]:
        end = hole.start_byte if hole is not None else inner.end
        _add(builder, data, Span(start, end), indent if is_triple else None, encode, is_raw)
        if hole is not None:
            builder.hole(hole.text or b"", Span(hole.start_byte, hole.end_byte), unwritable)
            start = hole.end_byte
    return builder.text()


def _interpolations(data: bytes, node: Node) -> list[Node]:
    """The interpolations. The grammar takes the second one of two escaped dollar signs for one, too."""
    found = [one for one in node.children if one.type == "string_interpolation"]
    return [
        one
        for one in found
        if not (
            one.start_byte
            - len(data[node.start_byte : one.start_byte].rstrip(b"\\"))
            - node.start_byte
        )
        % 2
    ]


def content(data: bytes, node: Node) -> Span | None:
    """The range between the quotes of a literal; None if a node is none."""
    return _content(data, node)[0] if is_string(node) else None


def _content(data: bytes, node: Node) -> tuple[Span, bool]:
    """The range between the quotes, and whether there are three on each side."""
    quote = next(one for one in node.children if (one.text or b"").startswith(b'"'))
    mark = data[quote.start_byte : quote.end_byte]
    is_closed = node.end_byte - len(mark) >= quote.end_byte and data.endswith(
        mark, 0, node.end_byte
    )
    return Span(quote.end_byte, node.end_byte - len(mark) * is_closed), len(mark) == 3


def _first_line(content: bytes, indent: int) -> bytes:
    """The beginning of a triple-quoted literal that is no text: a line end, and the indentation after it."""
    end = 2 if content.startswith(b"\r\n") else 1 if content.startswith(b"\n") else 0
    return content[: min(len(content), end + indent)] if end else b""


def _indentation(content: bytes) -> int:
    """The length of the indentation that all lines of a triple-quoted literal share. The first line and blank
    lines do not count, but the last one does.
    """
    *lines, last = content.split(b"\n")[1:] or [b""]
    found: bytes | None = None
    for line in [*(one for one in lines if one.strip()), last]:
        match = _INDENT.match(line)
        own = match[0] if match is not None else b""
        while found is not None and not own.startswith(found):
            found = found[:-1]
        found = own if found is None else found
    return len(found or b"")


def _add(
    builder: Builder, data: bytes, span: Span, indent: int | None, encode: Encode, is_raw: bool
) -> None:
    """Adds part of a literal. The indentation is removed after line ends, unless it is None."""
    start, end = span
    for match in _special(is_raw, indent).finditer(data, start, end):
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", encode)
        builder.add(_replacement(match, is_raw), Span(*match.span()), "replaced", encode)
        start = match.end()
    if end > start:
        builder.add(data[start:end], Span(start, end), "same", encode)


def _special(is_raw: bool, indent: int | None) -> re.Pattern[bytes]:
    """A pattern of what is not written as it is."""
    escapes = _RAW_ESCAPE.pattern if is_raw else _ESCAPE.pattern
    lines = rb"|\n[ \t]{1,%d}" % indent if indent else b""
    return re.compile(escapes + lines, re.S)


def _replacement(match: re.Match[bytes], is_raw: bool) -> bytes:
    text = match[0]
    if text.startswith(b"\n"):
        return b"\n"
    if is_raw:
        return match["slashes"][: len(match["slashes"]) // 2] + match["quote"]
    if match["line"] is not None:
        return b""
    if match["one"] is not None:
        return _NAMED.get(match["one"], match["one"])
    if match["octal"] is not None:
        return bytes([int(match["octal"], 8) & 0xFF])
    if match["hex"] is not None:
        return bytes([int(match["hex"], 16)])
    return chr(min(int(match["u"] or match["U"], 16), 0x10FFFF)).encode("utf-8", "replace")


def escaped(text: str) -> str:
    """Text as an ordinary literal has it."""
    for plain, written in (
        ("\\", "\\\\"), ('"', '\\"'), ("$", "\\$"), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r"),
    ):  # fmt: skip
        text = text.replace(plain, written)
    return text


def _raw(text: str) -> str | None:
    return None if '"' in text or "\\" in text else text


def _triple_raw(text: str) -> str | None:
    """No line ends: they would change the indentation."""
    return None if "\n" in text else _raw(text)
