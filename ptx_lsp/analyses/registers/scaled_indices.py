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
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_SUMS: Final = frozenset({"add.s64", "add.u64"})


class ScaledIndices:
    """Which registers are scaled indices, and of what."""

    def __init__(
        self, function: Function, flow: FunctionInstructions, defined: Definitions, readers: Readers
    ) -> None:
        self.function = function
        self.flow = flow
        self.definitions = defined
        self.readers = readers

    def index(self, register: int) -> int | None:
        """The index that `register`, which has a single definition, scales; None if it is something else."""
        number = self.definitions.only[register]
        uses = self.flow.uses[number]
        if len(uses) != 1:
            return None
        kinds, reading = self.flow.kinds, self.readers.of(register)
        if not all(kinds[use].shape.spelling in _SUMS for use in reading):
            return None
        is_variable = self.definitions.only[uses[0]] == SEVERAL
        return None if is_variable and not self.is_unchanged(uses[0], number, reading) else uses[0]

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
        """The products and shifts of a register with several definitions, and whether each is an index."""
        uses, defs, only = self.flow.uses, self.flow.defs, self.definitions.only
        for shape, numbers in shape_index(self.function).items():
            if coalescing(shape) != Coalescing.SCALED:
                continue
            for number in numbers:
                if len(uses[number]) == 1 and only[uses[number][0]] == SEVERAL and defs[number]:
                    register = defs[number][0]
                    if only[register] == number:
                        yield register, self.index(register) is not None
