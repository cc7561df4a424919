"""Inlay hints: live registers, operand types, values of literals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, TypeAlias

from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.facts import is_computed
from ptx_lsp.ide.cursor.literal import decoded
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.nodes import Node
from ptx_lsp.syntax.walk import children
from ptx_lsp.text import Span

HintSort: TypeAlias = Literal["pressure", "type", "literal"]

_RECENT = 100
"""A literal gets no hint if it occurs in this number of instructions before."""
_SOON = 20_000
"""The pressure of functions up to this many instructions is computed for hints alone."""


class Shown(NamedTuple):
    """The requested hints. Types are shown for operands whose declared type differs from the instruction's
    (`different`), or for all.
    """

    pressure: bool = True
    types: Literal["off", "different", "all"] = "different"
    literals: bool = True


class InlayHint(NamedTuple):
    """Text shown at an offset. `tooltip` gives the kind of figure."""

    offset: int
    text: str
    sort: HintSort
    tooltip: str = ""


def inlay_hints(
    module: Module, span: Span | None = None, shown: Shown | None = None
) -> tuple[InlayHint, ...]:
    """The hints of a file, or of the part `span`, in order."""
    wanted = shown if shown is not None else Shown()
    first, last = span if span is not None else (0, len(module.document.source.data))
    found: list[InlayHint] = []
    for function in module.functions:
        if function.item.end < first or function.item.start > last:
            continue
        item, instructions = function.item, function.body.instructions
        begin = bisect_left(instructions, first, key=lambda one: item.span(one).end)
        end = bisect_left(instructions, last, key=lambda one: item.offset(one.start))
        if wanted.pressure:
            found += _pressure(function, begin, end)
        if wanted.literals:
            found += _literals(function, begin, end)
        for one in instructions[begin:end]:
            if wanted.types != "off":
                found += _types(function, one, wanted.types == "all")
    return tuple(sorted(one for one in found if first <= one.offset <= last))


def _pressure(function: Function, begin: int, end: int) -> Iterator[InlayHint]:
    """At the end of each line with instructions: the maximum number of live 32-bit registers there."""
    if len(function.body.instructions) > _SOON and not is_computed(register_pressure, function):
        return
    known = register_pressure(function)
    source = function.module.document.source
    by_line: dict[int, int] = {}
    for number in range(begin, end):
        node = function.body.instructions[number]
        line = source.line_of(function.item.offset(node.start))
        by_line[line] = max(by_line.get(line, 0), known.units[number])
    for line, units in by_line.items():
        if not units:
            continue
        is_peak = units == known.peak
        text = f"▲ {units} live (peak)" if is_peak else f"{units} live"
        tooltip = (
            "32-bit registers live after this instruction in the PTX: an estimate of "
            "what ptxas will need"
        )
        yield InlayHint(source.line_span(line).end, text, "pressure", tooltip)


def _literals(function: Function, begin: int, end: int) -> Iterator[InlayHint]:
    """After an exact float: its value, unless the same literal is among the last `_RECENT` instructions."""
    last: dict[str, int] = {}
    first = max(0, begin - _RECENT)
    for at, instruction in enumerate(function.body.instructions[first:end], first):
        for operand in instruction.operands:
            for number in _numbers(operand):
                value = decoded(number)
                if value is not None:
                    if at >= begin and at - last.get(number.text, -_RECENT - 1) > _RECENT:
                        yield InlayHint(function.span(number).end, f"= {value}", "literal")
                    last[number.text] = at


def _numbers(operand: Node) -> Iterator[nodes.Number]:
    if isinstance(operand, nodes.Number):
        yield operand
    elif isinstance(operand, nodes.Vector | nodes.Group | nodes.Address):
        for inner in children(operand):
            yield from _numbers(inner)


def _types(
    function: Function, instruction: nodes.Instruction, every: bool
) -> Iterator[InlayHint]:
    """After a register: its declared type."""
    match = None
    if not every:
        match = resolve(instruction.opcode.text).match(arguments(function, instruction))
        if match is None:
            return
    for index, operand in enumerate(instruction.operands):
        if not isinstance(operand, nodes.Name):
            continue
        symbol = function.resolve(operand)
        if not isinstance(symbol, Register) or symbol.vector > 1:
            continue
        wanted = match.places[index][1].type if match and index < len(match.places) else ""
        if every or (isinstance(wanted, str) and wanted and symbol.type not in wanted.split("|")):
            end = function.span(operand).end
            tooltip = f"`{symbol.name}` is declared as `{symbol.type}`"
            yield InlayHint(end, f": {symbol.type}", "type", tooltip)
