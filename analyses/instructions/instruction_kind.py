"""Properties that instructions of the same shape share."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from analyses.instructions.side_effects import CARRYING, PURE
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.operand_access import READ, WRITE
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.model.instructions import features

_PLAIN: Final = (
    features.GUARDED | features.NEGATED | features.SPACED | features.WITH_BANK | features.NUMBER
    | features.FLOAT | features.ADDRESS | features.OFFSET | features.VARIABLE | features.LABEL
    | features.PREDEFINED | features.FUNCTION | features.SINK
)  # fmt: skip
"""With these features, operands are names, numbers, and addresses of one name, with an offset or without."""
_WITHOUT_REGISTERS: Final = frozenset(
    {"variable", "integer", "float", "single", "special", "label", "function", "sink"}
)


class InstructionKind:
    """The properties that instructions of the same shape share."""

    __slots__ = (
        "accesses", "has_register_address", "is_plain", "is_pure", "opcode", "reads", "reads_carry", "shape",
        "writes", "writes_carry",
    )  # fmt: skip

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.opcode = shape.opcode
        self.accesses = shape.accesses
        self.reads_carry = shape.opcode in CARRYING
        self.writes_carry = ".cc" in shape.spelling
        self.is_pure = shape.opcode in PURE and not self.writes_carry
        """Whether such an instruction only writes its registers, provided that it has any."""
        match = shape.match
        self.is_plain = match is not None and not match.problems and not shape.features & ~_PLAIN
        """Whether registers are written completely, and named by whole operands or by whole addresses."""
        self.has_register_address = False
        self.reads: tuple[int, ...] = ()
        """The operands that read a register, if it is plain."""
        self.writes: tuple[int, ...] = ()
        """The operands that write a register, if it is plain."""
        if self.is_plain:
            self._find_places()

    @property
    def match(self) -> Match | None:
        """The row of the instruction table with the operands."""
        return self.shape.match

    def _find_places(self) -> None:
        for place, argument in enumerate(self.shape.arguments):
            own = self.accesses[place].own
            if argument.kind == "address":
                if not _is_simple(argument):
                    self.is_plain = False
                elif argument.parts and argument.parts[0].kind == "register":
                    self.reads += (place,)
                    self.has_register_address = True
            elif argument.kind == "register":
                if own == READ:
                    self.reads += (place,)
                elif own == WRITE:
                    self.writes += (place,)
                else:
                    self.is_plain = False
            elif argument.kind not in _WITHOUT_REGISTERS:
                self.is_plain = False


def _is_simple(address: Argument) -> bool:
    """Whether an address has one part, and no suffix."""
    parts = address.parts
    return len(parts) == 1 and (parts[0].kind == "register" or parts[0].kind in _WITHOUT_REGISTERS)


@lru_cache(maxsize=1 << 15)
def kind_of(shape: Shape) -> InstructionKind:
    """The kind of the instructions of a shape."""
    return InstructionKind(shape)
