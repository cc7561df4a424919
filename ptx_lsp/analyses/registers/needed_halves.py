"""The halves of 64-bit registers that machine code has: some are never read, others are always zero.

1. The upper half is not needed if all that reads the register takes its lower half: a `cvt` to fewer bits,
   or an `and` with a mask of 32 bits. So an `add.s64` of which only the lower half is read adds 32 bits.
2. Neither is the upper half if it is always zero: wherever the register is defined, it is widened from fewer
   bits.
3. The lower half is not needed if all that reads the register takes its upper half: a shift by 32 bits or
   more, or an `and` with a mask of the upper bits. Compilers find out by `and.b64 t, t, -4294967296` whether
   a division needs 64 bits.

This follows from the instructions that name a register, so after an edit it is found again for these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from ptx_lsp.analyses._flow import Readers
from ptx_lsp.analyses.dataflow.definitions import Definitions
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_HALVES: Final = 2
_WORD: Final = 32
_LOWER: Final = (1 << _WORD) - 1
_EVERY: Final = (1 << 2 * _WORD) - 1
_WIDE: Final = ("u64", "s64", "b64")
_BOTH: Final = frozenset({"ld", "ldu", "atom", "tex", "mov", "shfl"})
"""What defines both halves, whether or not they are read."""
_SINGLY: Final = frozenset({"and", "or", "xor", "not", "selp"})
"""What computes each half from the same half of its operands."""


def narrows(shape: Shape) -> bool:
    """Whether instructions of a shape may read or define only half of a 64-bit register."""
    match shape.opcode:
        case "cvt":
            to, of = _conversion(shape.spelling)
            return (of in _WIDE) != (to in _WIDE)
        case "and" | "shr":
            return shape.spelling.endswith(_WIDE)
        case _:
            return False


def may_be_narrow(
    function: Function, flow: FunctionInstructions, allocated: Sequence[tuple[int, ...]]
) -> set[int]:
    """The registers of which half may not be needed."""
    return {
        register
        for shape, numbers in shape_index(function).items()
        if narrows(shape)
        for number in numbers
        for register in (*flow.uses[number], *flow.defs[number])
        if len(allocated[register]) == _HALVES
    }


def narrowed(
    flow: FunctionInstructions,
    registers: Iterable[int],
    defined: Definitions,
    readers: Readers,
    allocated: Sequence[tuple[int, ...]],
) -> dict[int, tuple[int, ...]]:
    """The virtual registers of some registers without the halves that are not needed, as far as they differ
    from those that are `allocated`.
    """
    found: dict[int, tuple[int, ...]] = {}
    for register in registers:
        words = allocated[register]
        if len(words) != _HALVES:
            continue
        lower = words[0] if words[0] != NO_REGISTER else words[1] - 1
        is_lower, is_upper = needed_halves(flow, defined.of(register), readers.of(register))
        needed = lower if is_lower else NO_REGISTER, lower + 1 if is_upper else NO_REGISTER
        if needed != words:
            found[register] = needed
    return found


def needed_halves(
    flow: FunctionInstructions, defining: Sequence[int], reading: Sequence[int]
) -> tuple[bool, bool]:
    """Whether the lower and the upper half of a 64-bit register are needed, by the instructions that define
    it and those that read it.
    """
    if not defining or not reading:
        return True, True
    opcodes = {flow.kinds[number].opcode for number in defining}
    if all(_has_no_upper_half(flow, number) for number in defining):
        return True, False
    if not opcodes.isdisjoint(_BOTH):
        return True, True
    halves = {_half_read(flow, number) for number in reading}
    if halves == {0}:
        return True, False
    return halves != {1} or not opcodes <= _SINGLY, True


def _half_read(flow: FunctionInstructions, number: int) -> int | None:
    """The half of its only operand that an instruction reads; None if it is both."""
    shape = flow.kinds[number].shape
    if len(flow.uses[number]) != 1 or not narrows(shape):
        return None
    if shape.opcode == "cvt":
        return 0 if _conversion(shape.spelling)[1] in _WIDE else None
    value = literal(flow.body.instructions[number].operands[-1])
    if value is None:
        return None
    if shape.opcode == "shr":
        return 1 if value >= _WORD else None
    mask = value & _EVERY
    return 0 if mask <= _LOWER else 1 if not mask & _LOWER else None


def _has_no_upper_half(flow: FunctionInstructions, number: int) -> bool:
    """Whether the upper half of what an instruction defines is zero."""
    shape = flow.kinds[number].shape
    if shape.opcode == "cvt":
        to, of = _conversion(shape.spelling)
        return to in _WIDE and of[:1] == "u" and of not in _WIDE
    if shape.opcode not in ("and", "mov", "shr") or not shape.spelling.endswith(_WIDE):
        return False
    operands = flow.body.instructions[number].operands
    value = literal(operands[-1]) if len(flow.defs[number]) == 1 else None
    if value is None:
        return False
    if shape.opcode == "shr":
        return ".s" not in shape.spelling and value >= _WORD
    return value & _EVERY <= _LOWER


@lru_cache(maxsize=1 << 10)
def _conversion(spelling: str) -> tuple[str, str]:
    """The types of a `cvt` from one to another."""
    *_, to, of = ("", *spelling.split("."))
    return to, of
