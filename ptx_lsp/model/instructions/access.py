"""Accesses to memory at a variable, or at a known distance from one: `ld.shared.v4.b32 {...}, [a+16]`."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import BINARY, LARGE_VARIABLE, OFFSET, VARIABLE
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import flattened, sparse_instruction_fact
from ptx_lsp.model.symbols import Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final


def _may_be_wrong(shape: Shape) -> bool:
    """Whether an access may be misaligned or out of bounds: one of a single aligned variable, at its start,
    is neither if the size of the variable is a multiple of it.
    """
    size = size_bytes(shape.spelling)
    if size is None:
        return False
    if size == 0 or shape.features & (LARGE_VARIABLE | OFFSET | BINARY):
        return True
    types = [TYPES.get(one.parts[0].type) for one in shape.arguments if one.kind == "address" and one.parts]
    return any(type is not None and type.bytes % size for type in types)


VARIABLE_ACCESS: Final = InstructionWake(
    opcodes=("ld", "ldu", "st", "atom", "red"), features=VARIABLE, where=_may_be_wrong
)
"""An access to memory at a variable, or near one, that `static_accesses` considers."""


class StaticAccess(NamedTuple):
    """One memory access of an instruction; `address` is the operand in brackets, `offset` and `size` are in
    bytes.
    """

    instruction: nodes.Instruction
    address: nodes.Expression
    variable: Variable
    offset: int
    size: int


@sparse_instruction_fact(VARIABLE_ACCESS)
def static_accesses(function: Function, number: int) -> list[StaticAccess]:
    """The static accesses of a function by `ld`, `st`, `atom`, `red` and related instructions, except those
    that are certainly aligned and within bounds (`_may_be_wrong`).
    """
    instruction = function.body.instructions[number]
    size = size_bytes(instruction.opcode.text)
    found: list[StaticAccess] = []
    for operand in instruction.operands:
        if size is not None and isinstance(operand, nodes.Address) and operand.items:
            address = operand.items[0]
            offset: int | None = 0
            name = address
            if isinstance(address, nodes.Binary):
                name, offset = address.left, _offset(address)
            symbol = function.resolve(name) if isinstance(name, nodes.Name) else None
            if isinstance(symbol, Variable) and offset is not None:
                found.append(StaticAccess(instruction, address, symbol, offset, size))
    return found


accesses = flattened(VARIABLE_ACCESS, static_accesses)
"""The static accesses of a function, in order."""


def _offset(sum: nodes.Binary) -> int | None:
    """The constant that is added to a name; None if it is unknown."""
    value, sign = sum.right, 1 if sum.operator == "+" else -1
    if isinstance(value, nodes.Unary) and value.operator == "-":
        value, sign = value.value, -sign
    if sum.operator not in ("+", "-") or not isinstance(value, nodes.Number) or value.kind != "integer":
        return None
    number = integer(value.text)
    return None if number is None else sign * number


@lru_cache(maxsize=1024)
def size_bytes(spelling: str) -> int | None:
    """The access size; None if the table does not have the spelling, or if the size is not fixed."""
    sizes = {_size_of(candidate.choices) for candidate in resolve(spelling).candidates}
    return sizes.pop() if len(sizes) == 1 else None


def _size_of(choices: Choices) -> int | None:
    type = TYPES.get(form_type(choices))
    length = choices["vec"].removeprefix(".v")
    if type is None:
        return None
    return type.bytes * (int(length) if length.isdigit() else 1)
