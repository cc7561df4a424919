"""The users of values: instructions whose results depend on a value, branches that it decides, and phis."""

from __future__ import annotations

from ptx_lsp.analyses._flow import ValueReaders
from ptx_lsp.analyses.dataflow.ssa import SsaForm
from ptx_lsp.analyses.divergence.uniformity_transfer import TransferFunctions
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class ValueUsers:
    """The users of the values of a function. An instruction stands as its number, a phi as `~value`."""

    def __init__(self, form: SsaForm, transfers: TransferFunctions) -> None:
        self.form = form
        self.cfg = form.cfg
        self.transfers = transfers
        self.known = ValueReaders(form.cfg.reverse_postorder, form.blocks, form.phis_of, form.limit)
        self.readers: dict[int, dict[int, list[int]]] = {}
        """The instructions of each block that use a value."""

    def of(self, value: int) -> list[int]:
        """The users of a value: those in its own block first."""
        found: list[int] = []
        if value not in self.form.phis:
            found.extend(self.in_block(self.form.block_of(value), value))
        for block in self.known.entered(value):
            found.extend(self.in_block(block, value))
        found.extend([~phi for phi in self.known.phis(value)])
        return found

    def outside(self, value: int, blocks: frozenset[int]) -> list[int]:
        """The users of a value that are not in `blocks`, which include the one that defines it."""
        found: list[int] = []
        for block in self.known.entered(value):
            if block not in blocks:
                found.extend(self.in_block(block, value))
        phis = self.form.phis
        found.extend([~phi for phi in self.known.phis(value) if phis[phi].block not in blocks])
        return found

    def in_block(self, block: int, value: int) -> list[int]:
        """The instructions of a block that use a value, the branch at its end included."""
        readers = self.readers.get(block)
        if readers is None:
            readers = self.readers[block] = self._readers_of(block)
        return readers.get(value, _NONE)

    def _readers_of(self, block: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        end = self.cfg.blocks[block].end
        is_branching = self.cfg.blocks[block].is_branching
        for number in range(self.cfg.blocks[block].first, end):
            inputs = self.transfers.inputs(number)
            if is_branching and number == end - 1:
                inputs = (*inputs, *self.transfers.branch_inputs(number))
            for value in inputs:
                reading = found.get(value)
                if reading is None:
                    found[value] = [number]
                elif reading[-1] != number:
                    reading.append(number)
        return found

    def escaping_values(self, blocks: frozenset[int]) -> list[int]:
        """The values that `blocks` define and others use, except those that are the same at all times."""
        return [value for value in self.known.escaping(blocks) if not self.is_constant(value)]

    def is_constant(self, value: int) -> bool:
        """Whether a value is a carry, or the same at all times."""
        if value in self.form.phis:
            return False
        number = self.form.definitions[value]
        return value == self.form.by_instruction[number].carry_out or self.transfers.is_constant(number)


_NONE: Final[list[int]] = []
