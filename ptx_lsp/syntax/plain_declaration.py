"""Reads declarations of one variable without an initial value, on a line of its own, without a tree."""

from __future__ import annotations

import sys

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_DECLARATION: Final = lazy_pattern(
    r"(?:(?P<linkage>\.(?:extern|visible|weak|common)) +)?(?P<space>\.(?:global|shared|const)) +"
    r"(?:\.align +(?P<alignment>[1-9][0-9]{0,3}) +)?(?P<type>\.(?:b|u|s|f)(?:8|16|32|64)) +"
    r"(?P<name>[A-Za-z][A-Za-z0-9_$]*|_[A-Za-z0-9_$]+)(?P<array>\[(?P<size>[1-9][0-9]{0,8})?\])?;"
)
_TYPES: Final = frozenset({".b8", ".b16", ".b32", ".b64", ".u8", ".u16", ".u32", ".u64", ".f32", ".f64"})


def plain_declaration(line: str) -> nodes.Declaration | None:
    """The declaration that is all of a line; None if the tree has to decide."""
    found = _DECLARATION.fullmatch(line)
    if found is None or found["type"] not in _TYPES:
        return None

    def name(group: str) -> nodes.Name:
        return nodes.Name(*found.span(group), sys.intern(found[group]))

    def number(group: str) -> nodes.Number:
        return nodes.Number(*found.span(group), found[group], "integer")

    size = number("size") if found["size"] is not None else None
    dimensions = (size,) if found["array"] is not None else ()
    end = len(line) - 1
    declarator = nodes.Declarator(found.start("name"), end, name("name"), None, dimensions, None)
    linkage = (name("linkage"),) if found["linkage"] is not None else ()
    alignment = number("alignment") if found["alignment"] is not None else None
    return nodes.Declaration(
        0, len(line), linkage, name("space"), None, (name("type"),), None, alignment, (), (declarator,)
    )
