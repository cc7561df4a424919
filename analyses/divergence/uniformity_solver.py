"""The worklist solver of the uniformity analysis: a fixed point of all transfer functions
(`uniformity.py`, 1, 2, 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, TypeAlias

from analyses.dataflow.ssa import NONE, BlockValues, SsaForm
from analyses.divergence.divergence_sources import UniformityLevel
from analyses.divergence.sync_dependence import SyncDependence
from analyses.divergence.uniformity_transfer import BlockTransfer
from ptx_lsp.facts import GenerationalCache

TemporalDivergence = dict[int, tuple[tuple[frozenset[int], int, int], ...]]
"""For a value: the cycles outside which it is less uniform, the level there, and the block whose branch
exits them.
"""


class Cause(NamedTuple):
    """Why a value has its level: another value, a divergent branch (its block), or `text`. A value together
    with a block is temporal divergence: that branch exits the loop that defines the value.
    """

    value: int = NONE
    block: int = NONE
    text: str = ""


_NOTHING = Cause()


class Solution(NamedTuple):
    """The levels, as numbers, of each value and of each reached block with several successors."""

    values: bytes
    branches: dict[int, int]
    causes: dict[int, Cause]
    temporal_divergence: TemporalDivergence


class BlockResult(NamedTuple):
    """The levels and causes of a block's definitions on its first evaluation, given the levels at its
    entry.
    """

    levels: bytes
    causes: dict[int, Cause]


BlockResultCache: TypeAlias = GenerationalCache[tuple[BlockValues, bytes], BlockResult]
"""The results, by block with its values and the levels at its entry."""


def solve(
    form: SsaForm, transfers: tuple[BlockTransfer, ...], dependence: SyncDependence, cache: BlockResultCache
) -> Solution:
    """The fixed point for the values of a function, given the transfer functions of its blocks."""
    return _Solver(form, transfers, dependence, cache).run()


class _Solver:
    def __init__(
        self,
        form: SsaForm,
        transfers: tuple[BlockTransfer, ...],
        dependence: SyncDependence,
        cache: BlockResultCache,
    ) -> None:
        self.values = form
        self.cfg = form.cfg
        self.block_transfers = transfers
        self.transfer_functions = tuple(chain.from_iterable([block.functions for block in transfers]))
        self.sync_dependence = dependence
        self.cache = cache
        self.levels = bytearray(form.limit)
        self.causes: dict[int, Cause] = {}
        self.temporal_divergence: TemporalDivergence = {}
        self.branches: dict[int, int] = {}
        self.phi_users: dict[int, list[int]] = {}
        """The phis that read a value, each as `~value`."""
        self.changed: dict[int, None] = {}
        """The users of values that the current instruction or block has raised."""
        self.entry_users: dict[int, list[int]] = {}
        """The blocks that read a value defined elsewhere."""
        self.worklist: list[int] = []
        self.done: set[tuple[frozenset[int], int, bool]] = set()
        self.visited: list[bool] = [False] * len(form.by_instruction)
        """The instructions that were evaluated before."""

    def run(self) -> Solution:
        if self.sync_dependence.is_too_complex or not self.values.is_available:
            return self.unknown_solution()
        self.initialize()
        for block in self.cfg.reverse_postorder:
            for join in self.values.phis_of[block]:
                self.evaluate_phi(join.value)
            self.visit_block(block)
        while self.worklist:
            user = self.worklist.pop()
            if user >= 0:
                self.reevaluate(user)
            else:
                self.evaluate_phi(~user)
        return Solution(bytes(self.levels), self.branches, self.causes, self.temporal_divergence)

    def unknown_solution(self) -> Solution:
        """The solution of a function that is not analysed: all levels are unknown."""
        branches = dict.fromkeys(
            (b for b in self.cfg.reverse_postorder if self.cfg.blocks[b].is_branching),
            int(UniformityLevel.UNKNOWN),
        )
        return Solution(bytes([UniformityLevel.UNKNOWN]) * len(self.levels), branches, {}, {})

    def initialize(self) -> None:
        for block in self.cfg.reverse_postorder:
            for value in self.values.blocks[block].inputs:
                self.entry_users.setdefault(value, []).append(block)
            if self.cfg.blocks[block].is_branching:
                self.branches[block] = UniformityLevel.GRID
            for join in self.values.phis_of[block]:
                for value in join.inputs:
                    self.phi_users.setdefault(value, []).append(~join.value)
        count = len(self.values.instructions.registers)
        self.levels[:count] = bytes([UniformityLevel.UNKNOWN]) * count

    def users(self, value: int) -> list[int]:
        """The users of a value: an instruction as its number, a phi as `~value`."""
        found: list[int] = []
        own = self.values.block_of(value) if value not in self.values.phis else NONE
        for block in (own, *self.entry_users.get(value, ())):
            if block < 0:
                continue
            first, end = self.cfg.blocks[block].first, self.cfg.blocks[block].end
            reading = self.block_transfers[block].readers.get(value, ())
            found.extend([first + index for index in reading])
            is_last_reported = block not in self.branches or end - first - 1 in reading
            if not is_last_reported and value in self.branch_inputs(end - 1):
                found.append(end - 1)
        found.extend(self.phi_users.get(value, ()))
        return found

    def visit_block(self, block: int) -> None:
        """Evaluates the instructions of a block for the first time. Users of their results are evaluated
        later, except phis in loop headers.
        """
        values, levels = self.values.blocks[block], self.levels
        numbers = self.cfg.blocks[block].instructions
        self.visited[numbers.start : numbers.stop] = [True] * len(numbers)
        made = slice(values.first, values.first + values.count)
        entered = bytes(map(levels.__getitem__, values.inputs))
        is_plain = not any(levels[made]) and self.temporal_divergence.keys().isdisjoint(values.inputs)
        known = self.cache.get((values, entered)) if is_plain else None
        if known is not None:
            levels[made] = known.levels
            self.causes.update(known.causes)
            self.changed = dict.fromkeys(known.causes)
        else:
            self.changed.clear()
            for number in numbers:
                self.evaluate(number)
            if is_plain:
                causes = {value: self.causes[value] for value in self.changed}
                self.cache.put((values, entered), BlockResult(bytes(levels[made]), causes))
        for value in self.changed:
            self.worklist.extend(self.phi_users.get(value, ()))
        if block in self.branches:
            self.evaluate_branch(block)

    def branch_inputs(self, number: int) -> tuple[int, ...]:
        """The values that decide which successor the last instruction of a block goes to."""
        guard = self.values.by_instruction[number].guard
        return (
            self.transfer_functions[number].target_inputs
            if guard < 0
            else (guard, *self.transfer_functions[number].target_inputs)
        )

    def evaluate(self, number: int) -> None:
        plan = self.transfer_functions[number]
        block = self.cfg.block_of[number]
        made = plan.results
        if made:
            level, cause = self.join(plan.inputs, block)
            if plan.base_level > level:
                level, cause = plan.base_level, Cause(text=plan.reason)
            for value in made:
                if level > self.levels[value]:
                    self.raise_to(value, level, cause)
            if plan.second_result != NONE and plan.second_base_level > self.levels[plan.second_result]:
                text = "differs from lane to lane"
                self.raise_to(plan.second_result, plan.second_base_level, Cause(text=text))

    def reevaluate(self, number: int) -> None:
        """Evaluates an instruction again, because an input has become less uniform."""
        self.changed.clear()
        self.evaluate(number)
        for value in self.changed:
            self.enqueue_users(value)
        block = self.cfg.block_of[number]
        if block in self.branches and number == self.cfg.blocks[block].end - 1:
            self.evaluate_branch(block)

    def evaluate_branch(self, block: int) -> None:
        number = self.cfg.blocks[block].end - 1
        level = max(
            self.join(self.branch_inputs(number), block)[0],
            self.transfer_functions[number].control_level,
        )
        if level > self.branches[block]:
            self.branches[block] = level
            self.apply_control_divergence(block, level)

    def evaluate_phi(self, value: int) -> None:
        join = self.values.phis[value]
        level, cause = self.join(join.inputs, join.block)
        if level > self.levels[value]:
            self.raise_and_enqueue(value, level, cause)

    def join(self, inputs: tuple[int, ...], block: int) -> tuple[int, Cause]:
        """The join of the levels of values that `block` reads, and its cause."""
        worst, cause, through = 0, NONE, NONE
        levels, escapes = self.levels, self.temporal_divergence
        for value in inputs:
            level, branch = levels[value], NONE
            if value in escapes:
                for blocks, worse, source in escapes[value]:
                    if worse > level and block not in blocks:
                        level, branch = worse, source
            if level > worst:
                worst, cause, through = level, value, branch
        return worst, Cause(cause, through) if worst else _NOTHING

    def raise_to(self, value: int, level: int, cause: Cause) -> None:
        """Raises a value without enqueueing its users."""
        self.levels[value] = level
        self.causes[value] = cause
        self.changed[value] = None

    def raise_and_enqueue(self, value: int, level: int, cause: Cause) -> None:
        self.levels[value] = level
        self.causes[value] = cause
        self.enqueue_users(value)

    def enqueue_users(self, value: int) -> None:
        """Enqueues the users of a value that were evaluated before."""
        self.worklist.extend(use for use in self.users(value) if use < 0 or self.visited[use])

    # -- splits ---------------------------------------------------------------------------------

    def apply_control_divergence(self, block: int, level: int) -> None:
        """Raises the values that a branch at the end of `block` makes less uniform."""
        found = self.sync_dependence.control_divergence(block)
        for user in found.joins:
            for join in self.values.phis_of[user]:
                if level > self.levels[join.value]:
                    self.raise_and_enqueue(join.value, level, Cause(block=block))
        for blocks in found.assumed_divergent:
            for value in self.divergent_definitions(blocks, level, escaping=False):
                if level > self.levels[value]:
                    self.raise_and_enqueue(value, level, Cause(block=block))
        for blocks in found.divergent_exit_cycles:
            for value in self.divergent_definitions(blocks, level, escaping=True):
                self.apply_temporal_divergence(value, blocks, level, block)

    def divergent_definitions(self, blocks: frozenset[int], level: int, *, escaping: bool) -> Iterator[int]:
        """The values defined in `blocks` that may differ between iterations, once per level: phis, and
        results that do not depend on their inputs alone. With `escaping`, also results that do.
        """
        if (blocks, level, escaping) in self.done:
            return
        self.done.add((blocks, level, escaping))
        for block in blocks:
            for join in self.values.phis_of[block]:
                yield join.value
            for number in self.cfg.blocks[block].instructions:
                plan = self.transfer_functions[number]
                if plan.base_level != UniformityLevel.GRID or (escaping and plan.inputs):
                    yield from self.values.by_instruction[number].defs

    def apply_temporal_divergence(self, value: int, blocks: frozenset[int], level: int, branch: int) -> None:
        outside = [use for use in self.users(value) if self.block_of_user(use) not in blocks]
        if outside:
            earlier = self.temporal_divergence.get(value, ())
            self.temporal_divergence[value] = (*earlier, (blocks, level, branch))
            self.worklist.extend(use for use in outside if use < 0 or self.visited[use])

    def block_of_user(self, use: int) -> int:
        return self.cfg.block_of[use] if use >= 0 else self.values.phis[~use].block
