"""The users of values: instructions whose results depend on a value, branches that it decides, and phis."""

from __future__ import annotations

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
        self.leaving: dict[int, tuple[list[int], set[int]]] = {}
        """`leaving_values` of each block, as far as it is known."""
        entered = self.entered
        for block in self.cfg.reverse_postorder:
            for value in form.blocks[block].inputs:
                blocks = entered.get(value)
                if blocks is None:
                    entered[value] = [block]
                else:
                    blocks.append(block)
            for join in form.phis_of[block]:
                for value in join.inputs:
                    self.phis.setdefault(value, []).append(~join.value)

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
        for block in blocks:
            values, reading = self.leaving_values(block)
            if not reading <= blocks:
                found += [
                    value
                    for value in values
                    if self.is_read_outside(value, blocks) and not self.is_constant(block, value)
                ]
        return found

    def is_read_outside(self, value: int, blocks: frozenset[int]) -> bool:
        """Whether a value defined in `blocks` has a user in another block."""
        phis = self.form.phis
        readers = [phis[~user].block for user in self.phis.get(value, _NONE)]
        return not blocks.issuperset(self.entered.get(value, _NONE) + readers)

    def is_constant(self, block: int, value: int) -> bool:
        """Whether a value is a carry, or the same at all times."""
        if value in self.form.phis:
            return False
        number = self.cfg.blocks[block].first + self.form.blocks[block].definition(value)
        return value == self.form.by_instruction[number].carry_out or self.transfers.is_constant(number)

    def leaving_values(self, block: int) -> tuple[list[int], set[int]]:
        """The values that a block defines and other blocks, or phis, use: its phis first. Also the blocks of
        these users.
        """
        known = self.leaving.get(block)
        if known is None:
            values, phis = self.form.blocks[block], self.form.phis
            found: list[int] = []
            reading: set[int] = set()
            every = [join.value for join in self.form.phis_of[block]]
            every += range(values.first, values.first + values.count)
            for value in every:
                blocks, joins = self.entered.get(value), self.phis.get(value)
                if blocks is not None:
                    reading.update(blocks)
                if joins is not None:
                    reading.update([phis[~user].block for user in joins])
                if blocks is not None or joins is not None:
                    found.append(value)
            known = self.leaving[block] = found, reading
        return known


_NONE: Final[list[int]] = []
