"""Pointers of 32 bits where `.address_size` is 64, or not given.

Learnt from ptxas 13.5, for every instruction of the table that takes an address:

1. A generic address, or one in `.global`, is a whole pointer in the rows that say so (`Operand.pointer`): in
   a register of 32 bits it ends the run. In one of 8 or 16 bits ptxas only warns of it.
2. `cvta` makes and takes whole pointers in any state space.
3. The name of a variable in `.global` stands for one in `mov`, unless an offset follows it.
4. A special register as an address may have any size, and so may all other addresses: those in `.shared`,
   `.local`, `.const` and `.param`, and those of copies, matrices, tensors and asynchronous stores.
"""

from __future__ import annotations

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.operand import Argument, Operand
from ptx_lsp.isa.types import TYPES


def narrow_pointers(match: Match, arguments: tuple[Argument, ...]) -> tuple[Problem, ...]:
    """The operands whose 32 bits are too few for a pointer of 64."""
    found: list[Problem] = []
    for number, (_, operand) in enumerate(match.places):
        message = narrow_pointer(operand, arguments[number])
        if message:
            found.append(Problem("narrow-pointer", number, message))
    return tuple(found)


def narrow_pointer(operand: Operand, argument: Argument) -> str:
    """Why the 32 bits of an argument are too few for a pointer of 64; "" if they are not."""
    if not operand.pointer:
        return ""
    match argument:
        case Argument(kind="address", parts=(Argument(kind="register", type=type), *_)) if _has_32_bits(type):
            return f"a `{type}` register cannot hold this address, which requires 64 bits"
        case Argument(kind="register") if _has_32_bits(str(operand.type)):
            return f"a `{operand.type}` register cannot hold an address, which requires 64 bits"
        case Argument(kind="variable" | "element", space=".global") if _has_32_bits(str(operand.type)):
            return (
                f"the address of a `.global` variable requires 64 bits, but `{operand.type}` has 32"
            )
        case _:
            return ""


def _has_32_bits(type: str) -> bool:
    return type in TYPES and TYPES[type].width == 32
