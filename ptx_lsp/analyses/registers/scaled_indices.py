"""Scaled indices: products and shifts that only addresses include, and that the sum of an address computes.

The index must keep its value until the sums read it. One with several definitions, such as the counter of a
loop, does if the sums are in the block of the product, and before it is defined again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptx_lsp.analyses._flow import Readers
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.definitions import SEVERAL, Definitions
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.machine_kind import Coalescing, coalescing
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index


class ScaledIndices:
    """Which products and shifts may be scaled indices."""

    def __init__(
        self, function: Function, flow: FunctionInstructions, defined: Definitions, readers: Readers
    ) -> None:
        self.function = function
        self.flow = flow
        self.definitions = defined
        self.readers = readers

    def kept(self, numbers: list[int]) -> list[int]:
        """The products and shifts among these instructions whose index keeps its value until they are read.
        Others are not indices; nor are these if something else than a sum reads them.
        """
        gone = {number for _, number, is_kept in self._of_variables(numbers) if not is_kept}
        return [number for number in numbers if number not in gone] if gone else numbers

    def is_unchanged(self, index: int, number: int, reading: Sequence[int]) -> bool:
        """Whether an index keeps its value from an instruction to those that read the product."""
        if not reading or reading[0] <= number:
            return False
        block_of, last = cfg(self.function).block_of, reading[-1]
        return (
            block_of[last] == block_of[number]
            and all(len(self.flow.uses[use]) > 1 for use in reading)
            and not any(number <= one < last for one in self.definitions.of(index))
        )

    def of_variables(self) -> Iterator[tuple[int, bool]]:
        """The products and shifts of a register with several definitions, and whether each may be one."""
        for shape, numbers in shape_index(self.function).items():
            if coalescing(shape) == Coalescing.SCALED:
                for register, _, is_kept in self._of_variables(numbers):
                    yield register, is_kept

    def _of_variables(self, numbers: list[int]) -> Iterator[tuple[int, int, bool]]:
        """The products and shifts among these of a register with several definitions, the instructions, and
        whether the index keeps its value.
        """
        uses, defs, only = self.flow.uses, self.flow.defs, self.definitions.only
        for number in numbers:
            if len(uses[number]) == 1 and only[uses[number][0]] == SEVERAL and defs[number]:
                register = defs[number][0]
                if only[register] == number:
                    reading = self.readers.of(register)
                    yield register, number, self.is_unchanged(uses[number][0], number, reading)
