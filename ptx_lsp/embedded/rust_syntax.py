"""Macro calls and string literals of Rust."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.host import HostText
from ptx_lsp.embedded.mapped_text import Builder, MappedText, not_removable, unwritable
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPE = lazy_pattern(
    rb"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u\{(?P<unicode>[0-9a-fA-F_]{1,16})\}|(?P<line>\r?\n\s*)|(?P<one>.))",
    re.S,
)
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}
_COMMENTS = ("line_comment", "block_comment")
_LITERALS = ("string_literal", "raw_string_literal")


class MacroCall(NamedTuple):
    """A call of a macro."""

    keyword: Span
    """The name of the macro."""
    end: int
    arguments: list[list[Node]]
    """The nodes of each argument."""


def macro_blocks(
    text: HostText,
    host: str,
    pattern: re.Pattern[bytes],
    read: Callable[[HostText, MacroCall], Block | None],
) -> Iterator[Block]:
    """The blocks of the calls of macros: a known one if it still ends where the call does, or by `read`."""
    for call in macro_calls(text, pattern):
        block = text.known.get((host, call.keyword.start))
        if block is None or block.span.end != call.end:
            block = read(text, call)
        if block is not None:
            yield block


def macro_calls(text: HostText, pattern: re.Pattern[bytes]) -> Iterator[MacroCall]:
    """The calls of macros whose name and `!` match, also in the definitions of macros."""
    assert text.tree is not None
    for match in pattern.finditer(text.source.data):
        keyword = Span(*match.span(1))
        node: Node | None = text.tree.root_node.descendant_for_byte_range(*keyword)
        if node is None or node.type != "identifier" or node.end_byte != keyword.end:
            continue
        while (
            node.next_sibling is None
            and node.parent is not None
            and node.parent.type == "scoped_identifier"
        ):
            node = node.parent
        mark = node.next_sibling
        tree = mark.next_sibling if mark is not None and mark.type == "!" else None
        if tree is not None and tree.type == "token_tree":
            yield MacroCall(keyword, tree.end_byte, _arguments(tree))


def inside(tree: Node) -> list[Node]:
    """The nodes between the brackets of a token tree, without comments."""
    return [node for node in tree.children[1:-1] if node.type not in _COMMENTS]


def _arguments(tree: Node) -> list[list[Node]]:
    found: list[list[Node]] = [[]]
    for node in inside(tree):
        if node.type == ",":
            found.append([])
        else:
            found[-1].append(node)
    return [nodes for nodes in found if nodes]


def span_of(nodes: list[Node]) -> Span:
    """The range of adjacent nodes."""
    return Span(nodes[0].start_byte, nodes[-1].end_byte)


def text_of(data: bytes, nodes: list[Node]) -> str:
    """The text of adjacent nodes, as written."""
    return data[slice(*span_of(nodes))].decode("utf-8", "replace") if nodes else ""


def is_string(nodes: list[Node]) -> bool:
    """Whether an argument is a literal, or literals that `concat!` joins."""
    return nodes[0].type in _LITERALS or (data_of(nodes[0]) == b"concat" and len(nodes) == 3)


def data_of(node: Node) -> bytes:
    return node.text or b""


def joined(data: bytes, arguments: list[list[Node]]) -> MappedText:
    """The text of the arguments that are the template of `asm!`, which are its lines."""
    built = Builder()
    before: MappedText | None = None
    for nodes in arguments:
        text = _string(data, nodes)
        if before is not None:
            start = before.pieces[-1].host.end if before.pieces else span_of(nodes).start
            end = text.pieces[0].host.start if text.pieces else start
            built.add(
                b"\n",
                Span(start, end),
                "replaced",
                not_removable(text.encode_at(0) if text.pieces else unwritable),
            )
        built.append(text)
        before = text
    return built.text()


def _string(data: bytes, nodes: list[Node]) -> MappedText:
    builder = Builder()
    _add_string(builder, data, nodes)
    return builder.text()


def _add_string(builder: Builder, data: bytes, nodes: list[Node]) -> None:
    """Adds the text of an argument. What is not a literal is a hole."""
    first = nodes[0]
    if len(nodes) == 1 and first.type in _LITERALS:
        _add_literal(builder, data, first)
    elif len(nodes) == 3 and data_of(first) == b"concat" and nodes[2].type == "token_tree":
        for argument in _arguments(nodes[2]):
            _add_string(builder, data, argument)
    else:
        span = span_of(nodes)
        builder.hole(data[slice(*span)], span, unwritable)


def _add_literal(builder: Builder, data: bytes, literal: Node) -> None:
    start, end = content(literal)
    if literal.type == "raw_string_literal":
        builder.add(data[start:end], Span(start, end), "same", _raw)
        return
    for match in _ESCAPE.finditer(data, start, end):
        if match.start() > start:
            builder.add(data[start : match.start()], Span(start, match.start()), "same", _escaped)
        builder.add(_unescaped(match), Span(*match.span()), "replaced", _escaped)
        start = match.end()
    if end > start:
        builder.add(data[start:end], Span(start, end), "same", _escaped)


def content(literal: Node) -> Span:
    """The range between the quotes of a literal."""
    opening, _, inner = data_of(literal).partition(b'"')  # such as r##
    closing = b'"' + b"#" * opening.count(b"#")
    start = literal.start_byte + len(opening) + 1
    return Span(start, start + len(inner.removesuffix(closing)))


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match["line"] is not None:
        return b""
    if match["hex"] is not None:
        return bytes([int(match["hex"], 16)])
    if match["unicode"] is not None:
        number = int(match["unicode"].replace(b"_", b"") or b"0", 16)
        return chr(min(number, 0x10FFFF)).encode("utf-8", "replace")
    return _NAMED.get(match["one"], match["one"])


def _escaped(text: str) -> str:
    for plain, written in (
        ("\\", "\\\\"),
        ('"', '\\"'),
        ("\n", "\\n"),
        ("\t", "\\t"),
        ("\r", "\\r"),
    ):
        text = text.replace(plain, written)
    return text


def _raw(text: str) -> str | None:
    return None if '"' in text else text
