"""The users of values: instructions whose results depend on a value, branches that it decides, and phis."""

from __future__ import annotations

from typing import Final

from analyses.dataflow.ssa import SsaForm
from analyses.divergence.uniformity_transfer import TransferFunctions


class ValueUsers:
    """The users of the values of a function. An instruction stands as its number, a phi as `~value`."""

    def __init__(self, form: SsaForm, transfers: TransferFunctions) -> None:
        self.form = form
        self.cfg = form.cfg
        self.transfers = transfers
        self.entered: dict[int, list[int]] = {}
        """The blocks that read a value defined elsewhere."""
        self.phis: dict[int, list[int]] = {}
        """The phis that read a value."""
        self.readers: dict[int, dict[int, list[int]]] = {}
        """The instructions of each block that use a value."""
        self.leaving: dict[int, list[int]] = {}
        for block in self.cfg.reverse_postorder:
            for value in form.blocks[block].inputs:
                _add(self.entered, value, block)
            for join in form.phis_of[block]:
                for value in join.inputs:
                    _add(self.phis, value, ~join.value)

    def of(self, value: int) -> list[int]:
        """The users of a value: those in its own block first."""
        found: list[int] = []
        if value not in self.form.phis:
            found.extend(self.in_block(self.form.block_of(value), value))
        for block in self.entered.get(value, _NONE):
            found.extend(self.in_block(block, value))
        found.extend(self.phis.get(value, _NONE))
        return found

    def outside(self, value: int, blocks: frozenset[int]) -> list[int]:
        """The users of a value defined in `blocks` that are in other blocks."""
        found: list[int] = []
        for block in self.entered.get(value, _NONE):
            if block not in blocks:
                found.extend(self.in_block(block, value))
        phis = self.form.phis
        found.extend([user for user in self.phis.get(value, _NONE) if phis[~user].block not in blocks])
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

    def leaving_values(self, block: int) -> list[int]:
        """The values that a block defines and others use, except those that are the same at all times."""
        found = self.leaving.get(block)
        if found is None:
            found = self.leaving[block] = self._leaving_values(block)
        return found

    def _leaving_values(self, block: int) -> list[int]:
        phis = [join.value for join in self.form.phis_of[block]]
        found = [value for value in phis if value in self.entered or value in self.phis]
        values = self.form.blocks[block]
        for value in range(values.first, values.first + values.count):
            if value in self.entered or value in self.phis:
                number = self.cfg.blocks[block].first + values.definition(value)
                is_carry = value == self.form.by_instruction[number].carry_out
                if not is_carry and not self.transfers.is_constant(number):
                    found.append(value)
        return found


_NONE: Final[list[int]] = []


def _add(lists: dict[int, list[int]], key: int, value: int) -> None:
    found = lists.get(key)
    if found is None:
        lists[key] = [value]
    else:
        found.append(value)
