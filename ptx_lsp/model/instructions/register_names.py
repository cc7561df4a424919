"""The registers that an instruction names, as a debugger calls them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.model.body import instruction_names
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Predefined, Register
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

_COMPONENT = re.compile(rb"\.[xyzw]\b")


def register_names(function: Function, node: nodes.Instruction) -> Iterator[tuple[Span, str]]:
    """The places and names of the registers and special registers in an instruction, in text order. Of a
    vector the name is the register's, `%v` in `%v.x`; of a special register the component's, `%tid.x`.
    """
    data = function.module.document.source.data
    for name in instruction_names(node):
        symbol, span = function.resolve(name), function.span(name)
        if isinstance(symbol, Register):
            yield span, symbol.name
        elif isinstance(symbol, Predefined) and symbol.kind == "special register":
            component = _COMPONENT.match(data, span.end)
            end = component.end() if component else span.end
            yield Span(span.start, end), data[span.start : end].decode()
