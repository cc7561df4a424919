"""How a block of inline assembly accesses its operands."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.embedded.block import Operand
from ptx_lsp.lint.checked_block import CheckedBlock
from ptx_lsp.model.body import names_in
from ptx_lsp.model.symbols import Register
from ptx_lsp.text import Span


class BlockAccesses:
    """The instructions of a well-formed block, by number, that read and write operands."""

    def __init__(self, checked: CheckedBlock) -> None:
        self._checked = checked
        self.flow: FunctionInstructions = instructions(checked.function)
        self.numbers = block_instructions(checked)
        """The instructions of the block."""
        self._index = {register.name: index for index, register in self.flow.used.items()}

    def index(self, operand: Operand) -> int:
        """The index of the register of an operand; -1 if the block does not access it."""
        return self._index.get(operand.name, -1)

    def writes(self, operand: Operand) -> list[int]:
        """The instructions that write all or part of an operand."""
        register = self.index(operand)
        return [number for number in self.numbers if register in self.flow.defs[number]]

    def reads(self, operand: Operand) -> list[int]:
        """The instructions that read an operand."""
        register = self.index(operand)
        return [
            number
            for number in self.numbers
            if register in self.flow.uses[number] or register == self.flow.guards[number] != -1
        ]

    def mentions(self, operand: Operand, number: int) -> list[Span]:
        """Where an instruction names an operand, relative to the start of the block in the host."""
        return list(self._mentions(operand.name, number))

    def _mentions(self, name: str, number: int) -> Iterable[Span]:
        function = self._checked.function
        node = function.body.instructions[number]
        operands = node.operands if node.guard is None else (node.guard.predicate, *node.operands)
        for operand in operands:
            for one in names_in(operand):
                symbol = function.body.symbols.get(one.start)
                if isinstance(symbol, Register) and symbol.name == name:
                    span = self._checked.span_of(function.place(one))
                    if span is not None:
                        yield span


def block_instructions(checked: CheckedBlock) -> range:
    """The numbers of the instructions that stand in the block."""
    function = checked.function
    nodes = function.body.instructions
    first, end = (
        bisect_left(nodes, offset, key=lambda node: function.span(node).start)
        for offset in (checked.virtual.start, checked.virtual.end)
    )
    return range(first, end)


def accesses(checked: CheckedBlock) -> BlockAccesses | None:
    """The accesses of a block; None if it is not well-formed, or part of it is unknown."""
    if checked.block.text.holes or not checked.block.operands_known or not is_well_formed(checked.function):
        return None
    return BlockAccesses(checked)
