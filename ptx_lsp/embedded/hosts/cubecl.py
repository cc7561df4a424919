"""`gpu_asm!` of CubeCL in Rust: placeholders stand for operands or for constants, in braces or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.embedded.block import Block, Clobber, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.mapped_text import Encode
from ptx_lsp.embedded.rust_syntax import (
    MacroCall,
    data_of,
    inside,
    is_string,
    joined,
    macro_blocks,
    span_of,
)
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Span

_CALL = lazy_pattern(rb"\b(gpu_asm)\s*!")
_BRACES = lazy_pattern(rb"\{\{|\}\}|\{[^{}]*\}")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of `gpu_asm!`."""
    return macro_blocks(text, "cubecl", _CALL, _block)


def _block(text: HostText, call: MacroCall) -> Block | None:
    data = text.source.data
    template = [nodes for nodes in call.arguments if is_string(nodes)]
    if not template:
        return None
    options = {
        data_of(option)
        for nodes in call.arguments
        if data_of(nodes[0]) == b"options" and len(nodes) == 2
        for option in inside(nodes[1])
    }
    written = joined(data, template).with_holes(
        _BRACES, lambda match: len(match[0]) > 2 or match[0] == b"{}"
    )
    forgets = options.isdisjoint((b"nomem", b"readonly"))
    return relative(
        Block(
            "cubecl",
            text.language,
            call.keyword.start,
            call.end - call.keyword.start,
            call.keyword,
            written.replaced(_BRACES, _brace).with_encoding(_braces_doubled),
            Span(span_of(template[0]).start, span_of(template[-1]).end),
            clobbers=(Clobber("memory", call.keyword),) if forgets else (),
            is_volatile=b"pure" not in options,
            operands_known=False,
            is_ptx=True,
        )
    )


def _brace(match: re.Match[bytes]) -> bytes:
    return match[0][:1]


def _braces_doubled(encode: Encode) -> Encode:
    return lambda text: encode(text.replace("{", "{{").replace("}", "}}"))


HOST = Host("cubecl", ("rust",), (b"gpu_asm",), blocks)
