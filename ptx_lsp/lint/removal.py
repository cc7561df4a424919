"""A fix that takes a piece of the text away."""

from __future__ import annotations

from ptx_lsp.lint.diagnostic import Remedy, Replacement
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes

_BLANK = b" \t"


def remove(function: Function, node: nodes.Directive) -> Remedy:
    """Takes a directive away, with its line where nothing else stands there."""
    return Remedy(f"Remove `{node.name.text}`", (removal(function, node),))


def removal(function: Function, node: nodes.Directive) -> Replacement:
    """The edit alone."""
    data = function.module.document.source.data
    base = function.item.start
    start, end = function.span(node)
    first, last = start, end
    while first > base and data[first - 1] in _BLANK:
        first -= 1
    while last < len(data) and data[last] in _BLANK:
        last += 1
    line_end = next((word for word in (b"\n", b"\r\n") if data.startswith(word, last)), None)
    if data[first - 1 : first] == b"\n" and line_end is not None:
        return Replacement(function.between(first, last + len(line_end)), "")
    if last == end:
        return Replacement(function.between(first, end), "")
    return Replacement(function.between(start, last), "")
