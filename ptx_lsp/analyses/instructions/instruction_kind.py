"""Properties that instructions of the same shape share."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.analyses.instructions.side_effects import CARRYING, PURE
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.shape import Shape


class InstructionKind:
    """The properties that instructions of the same shape share."""

    __slots__ = ("accesses", "is_pure", "opcode", "reads_carry", "shape", "writes_carry")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.opcode = shape.opcode
        self.accesses = shape.accesses
        self.reads_carry = shape.opcode in CARRYING
        self.writes_carry = ".cc" in shape.spelling
        self.is_pure = shape.opcode in PURE and not self.writes_carry
        """Whether such an instruction only writes its registers, provided that it has any."""

    @property
    def match(self) -> Match | None:
        """The row of the instruction table with the operands."""
        return self.shape.match


@lru_cache(maxsize=1 << 15)
def kind_of(shape: Shape) -> InstructionKind:
    """The kind of the instructions of a shape."""
    return InstructionKind(shape)
