"""The users of values: instructions whose results depend on a value, branches that it decides, and phis."""

from __future__ import annotations

from functools import cached_property

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
        self.entered: dict[int, list[int]] = {}
        """The blocks that read a value defined elsewhere."""
        self.phis: dict[int, list[int]] = {}
        """The phis that read a value."""
        self.readers: dict[int, dict[int, list[int]]] = {}
        """The instructions of each block that use a value."""
        self.reading: dict[int, list[int]] = {}
        """The blocks that read a value defined elsewhere, and those of the phis that read one."""
        entered, phis, reading = self.entered, self.phis, self.reading
        for block in self.cfg.reverse_postorder:
            for value in form.blocks[block].inputs:
                blocks = entered.get(value)
                if blocks is None:
                    entered[value] = [block]
                    reading[value] = [block]
                else:
                    blocks.append(block)
                    reading[value].append(block)
            for join in form.phis_of[block]:
                for value in join.inputs:
                    phis.setdefault(value, []).append(~join.value)
                    reading.setdefault(value, []).append(block)

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

    def escaping_values(self, blocks: frozenset[int]) -> list[int]:
        """The values that `blocks` define and others use, except those that are the same at all times."""
        found: list[int] = []
        reading, leaving = self.reading, self.leaving
        for block in blocks:
            found += [
                value
                for value in leaving.get(block, _NONE)
                if not blocks.issuperset(reading[value]) and not self.is_constant(block, value)
            ]
        return found

    def is_constant(self, block: int, value: int) -> bool:
        """Whether a value is a carry, or the same at all times."""
        if value in self.form.phis:
            return False
        number = self.cfg.blocks[block].first + self.form.blocks[block].definition(value)
        return value == self.form.by_instruction[number].carry_out or self.transfers.is_constant(number)

    @cached_property
    def leaving(self) -> dict[int, list[int]]:
        """By block, the values that it defines and other blocks, or phis, use: its phis first."""
        form, reading = self.form, self.reading
        found: dict[int, list[int]] = {}
        for join in form.phis.values():
            if join.value in reading:
                found.setdefault(join.block, []).append(join.value)
        defining = form.defining_blocks
        for value in sorted(reading):
            block = defining[value]
            if block >= 0:
                found.setdefault(block, []).append(value)
        return found


_NONE: Final[list[int]] = []
