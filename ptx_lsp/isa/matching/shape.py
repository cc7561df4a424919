"""The shape of an instruction: all of it except positions, and the names and values that the table ignores.

Thousands of instructions share a shape. Properties of the shape alone are computed once per shape.
"""

from __future__ import annotations

from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.operand_access import OperandAccess, operand_accesses
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import Argument


class Shape:
    """The opcode with its modifiers, the operands, and `features`, which are bits that the creator of the
    shape defines. Shapes are interned: compare them by identity.
    """

    __slots__ = (
        "_accesses", "_is_matched", "_match", "arguments", "features", "opcode", "spelling", "wakes",
        "wakes_known",
    )  # fmt: skip

    def __init__(self, spelling: str, arguments: tuple[Argument, ...], features: int) -> None:
        self.spelling = spelling
        self.opcode = spelling.partition(".")[0]
        """The opcode without its modifiers: `ld`."""
        self.arguments = arguments
        self.features = features
        self.wakes = 0
        """The passes that such an instruction wakes, as bits, and how many passes have been considered."""
        self.wakes_known = 0
        self._match: Match | None = None
        self._is_matched = False
        self._accesses: tuple[OperandAccess, ...] | None = None

    @property
    def match(self) -> Match | None:
        """The form that the operands fit, or the nearest with its problems; None if there is none."""
        if not self._is_matched:
            self._match = resolve(self.spelling).match(self.arguments)
            self._is_matched = True
        return self._match

    @property
    def accesses(self) -> tuple[OperandAccess, ...]:
        """How each operand is accessed."""
        found = self._accesses
        if found is None:
            found = self._accesses = operand_accesses(self.match, len(self.arguments))
        return found
