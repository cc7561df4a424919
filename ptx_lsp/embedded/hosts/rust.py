"""`asm!` in Rust. https://doc.rust-lang.org/reference/inline-assembly.html"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded.block import Access, Block, Clobber, Operand, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.mapped_text import Encode, MappedText, not_removable
from ptx_lsp.embedded.rust_syntax import (
    MacroCall,
    data_of,
    inside,
    is_string,
    joined,
    macro_blocks,
    span_of,
    text_of,
)
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from tree_sitter import Node

_CALL = lazy_pattern(rb"\b(asm)\s*!")
_PLACEHOLDER = lazy_pattern(rb"\{\{|\}\}|\{(?P<name>\w*)\s*(?::[^{}]*)?\}")
_REGISTER_TYPES: Final = {"reg16": ".b16", "reg32": ".b32", "reg64": ".b64"}
_ACCESS: Final[dict[bytes, Access]] = {
    b"in": "read", b"out": "write", b"lateout": "write", b"inout": "both", b"inlateout": "both",
}  # fmt: skip
_CONSTANT: Final = lazy_pattern(r"-?(?:0x[0-9a-fA-F]+|\d+)\Z")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of `asm!`, also those in the definitions of macros."""
    return macro_blocks(text, "rust", _CALL, _block)


def _block(text: HostText, call: MacroCall) -> Block | None:
    data = text.source.data
    count = next(
        (number for number, nodes in enumerate(call.arguments) if number and not is_string(nodes)),
        len(call.arguments),
    )
    if not count:
        return None
    template, rest = call.arguments[:count], call.arguments[count:]
    operands = [one for nodes in rest if (one := _operand(data, nodes)) is not None]
    options = {
        data_of(option): option
        for nodes in rest
        if data_of(nodes[0]) == b"options" and len(nodes) == 2
        for option in inside(nodes[1])
    }
    denied = [options[name] for name in (b"nomem", b"readonly") if name in options]
    named, used = _numbered(operands)
    written = joined(data, template)
    if b"raw" not in options:
        written = _with_operands(written, used)
    return relative(
        Block(
            "rust",
            text.language,
            call.keyword.start,
            call.end - call.keyword.start,
            call.keyword,
            written,
            Span(span_of(template[0]).start, span_of(template[-1]).end),
            tuple(named),
            () if denied else (Clobber("memory", call.keyword),),
            b"pure" not in options,
            b"raw" not in options,
            operands_known=all(_is_known(nodes) for nodes in rest),
            memory_edit=_without(denied[0]) if len(denied) == 1 else None,
            volatile_edit=_without(options[b"pure"]) if b"pure" in options else None,
        )
    )


def _without(option: Node) -> Edit:
    """The edit that removes an option and the comma after it or, if it is the last one, before it."""
    start, end = option.start_byte, option.end_byte
    before, behind = option.prev_sibling, option.next_sibling
    if behind is not None and behind.type == ",":
        after = behind.next_sibling
        end = after.start_byte if after is not None else behind.end_byte
    elif before is not None and before.type == ",":
        start = before.start_byte
    return Edit(start, end, b"")


def _is_known(nodes: list[Node]) -> bool:
    """Whether an argument is one operand, not what a macro or a condition makes of it."""
    return data_of(nodes[0])[:1] not in (b"$", b"#")


def _operand(data: bytes, nodes: list[Node]) -> Operand | None:
    """The operand that an argument declares. Its name is empty if it has none of its own."""
    name = ""
    if len(nodes) > 2 and nodes[1].type == "=":
        name, nodes = f"${data_of(nodes[0]).decode('utf-8', 'replace')}", nodes[2:]
    direction = data_of(nodes[0])
    access = _ACCESS.get(direction)
    if access is not None and len(nodes) > 2 and nodes[1].type == "token_tree":
        passed = nodes[2:]
        register = text_of(data, inside(nodes[1]))
        return Operand(
            name,
            _REGISTER_TYPES.get(register),
            access,
            register,
            Span(nodes[1].start_byte + 1, nodes[1].end_byte - 1),
            text_of(data, passed),
            span_of(passed),
            early_clobber=direction in (b"out", b"inout"),
        )
    if direction in (b"const", b"sym") and len(nodes) > 1:
        passed = text_of(data, nodes[1:])
        is_value = direction == b"const" and _CONSTANT.match(passed) is not None
        return Operand(
            name,
            None,
            "read",
            direction.decode(),
            span_of(nodes[:1]),
            passed,
            span_of(nodes[1:]),
            value=passed if is_value else None,
        )
    return None


def _numbered(operands: list[Operand]) -> tuple[list[Operand], dict[str, bytes]]:
    """The operands with their names, and what stands for them in PTX, by their names and numbers in the
    template.
    """
    named: list[Operand] = []
    used: dict[str, bytes] = {}
    for number, operand in enumerate(operands):
        one = operand if operand.name else operand._replace(name=f"${number}")
        used[str(number)] = used[one.name[1:]] = (one.value or one.name).encode()
        named.append(one)
    return named, used


def _with_operands(text: MappedText, used: dict[str, bytes]) -> MappedText:
    """The template with the names of operands as PTX has them."""
    following = 0
    is_counted = False

    def replacement(match: re.Match[bytes]) -> bytes:
        nonlocal following, is_counted
        name = match["name"]
        if name is None:
            return match[0][:1]
        if not name:
            is_counted = True
            name = str(following).encode()
            following += 1
        key = name.decode("utf-8", "replace")
        return used.get(key, b"$" + name)

    text = text.replaced(_PLACEHOLDER, replacement).with_encoding(_encoding(used))
    if not is_counted:
        return text
    pieces = [  # what follows a removed `{}` would take another operand
        piece._replace(encode=not_removable(piece.encode)) if piece.kind == "replaced" else piece
        for piece in text.pieces
    ]
    return MappedText(text.data, pieces)


def _encoding(used: dict[str, bytes]) -> Callable[[Encode], Encode]:
    def wrap(encode: Encode) -> Encode:
        def written(text: str) -> str | None:
            braces = text.replace("{", "{{").replace("}", "}}")
            return encode(
                _NAME.sub(lambda match: f"{{{match[1]}}}" if match[1] in used else match[0], braces)
            )

        return written

    return wrap


_NAME = lazy_pattern(r"\$(\w+)")
HOST = Host("rust", ("rust",), (b"asm!",), blocks)
