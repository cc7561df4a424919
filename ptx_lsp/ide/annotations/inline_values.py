"""Inline values: the registers whose values a debugger shows at the end of lines while the kernel stands."""

from __future__ import annotations

from bisect import bisect_left

from ptx_lsp.model.instructions.register_names import register_names
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span


class InlineValue(NamedTuple):
    """A register at `span`; `name` is what the debugger knows it by."""

    span: Span
    name: str


def inline_values(module: Module, span: Span, stopped: int) -> tuple[InlineValue, ...]:
    """The registers and special registers that instructions in a part of the file name, once a line and in
    order: those of the function in which the kernel stands, up to the line of the offset `stopped`.
    """
    source = module.document.source
    for function in module.functions:
        if not function.item.start <= stopped < function.item.end:
            continue
        item, instructions = function.item, function.body.instructions
        last = min(span.end, source.line_span(source.line_of(stopped)).end)
        begin = bisect_left(instructions, span.start, key=lambda one: item.span(one).end)
        end = bisect_left(instructions, last, key=lambda one: item.offset(one.start))
        found: dict[tuple[int, str], InlineValue] = {}
        for one in instructions[begin:end]:
            for place, name in register_names(function, one):
                found.setdefault((source.line_of(place.start), name), InlineValue(place, name))
        return tuple(found.values())
    return ()
