"""Whether an instruction reads or writes the symbol that a name in it refers to."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import AccessMode, Operand
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

Use: TypeAlias = Literal["declaration", "read", "write", "both", "other"]
"""How a name is used; `other`: a jump to it, a call of it, its address."""


def use_in(function: Function, instruction: nodes.Instruction, name: nodes.Name) -> Use:
    """The access to the register or memory that `name`, a part of `instruction`, refers to."""
    symbol = function.resolve(name)
    guard = instruction.guard
    if guard is not None and guard.start <= name.start < guard.end:
        return "read"
    match = resolve(instruction.opcode.text).match(arguments(function, instruction))
    for index, operand in enumerate(instruction.operands):
        if operand.start <= name.start < operand.end:
            if match is None:
                found = _unknown(operand, index, len(instruction.operands))
            elif index < len(match.places):
                found = _in_operand(match, *match.places[index], operand, name)
            else:
                found = "read"
            if isinstance(symbol, Register):
                is_address = isinstance(operand, nodes.Address)
                return "read" if found == "none" or is_address else found
            return _of_memory(operand, found)
    return "other"


def _unknown(operand: nodes.Operand, index: int, count: int) -> AccessMode:
    """The access of an opcode that the table does not have: the first of several operands is written."""
    is_written = index == 0 and count > 1 and not isinstance(operand, nodes.Address)
    return "write" if is_written else "read"


def _in_operand(
    match: Match, place: Place, wanted: Operand, operand: nodes.Operand, name: nodes.Name
) -> AccessMode:
    match operand:
        case nodes.Address():
            return wanted.access if operand.items and operand.items[0].start == name.start else "read"
        case nodes.Pair(left=left, right=right):
            if right is name or right.start == name.start:
                return match.candidate.operand(Place(place.pair)).access
            return _in_operand(match, place, wanted, left, name)
        case nodes.Vector(items=items) | nodes.Group(items=items) if place.parts:
            for index, item in enumerate(items):
                if item.start <= name.start < item.end:
                    part = place.parts[min(index, len(place.parts) - 1)]
                    return _in_operand(match, part, match.candidate.operand(part), item, name)
            return "read"
        case _:
            return wanted.access


def _of_memory(operand: nodes.Operand, found: AccessMode) -> Use:
    """The name of a variable is its address, except in brackets."""
    if not isinstance(operand, nodes.Address) or found == "none":
        return "other"
    return found
