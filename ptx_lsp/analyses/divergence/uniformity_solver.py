"""The solver of the uniformity analysis: a fixed point of the transfer functions (`uniformity.py`, 1, 2, 5).

Each block is evaluated once, in reverse postorder. Where a value is raised after it was read (by a loop or by
control divergence), the instructions and phis that read it are evaluated again.

After an edit, a block whose values and the levels that it reads are those of the previous revision keeps its
levels, unless it was evaluated again there.
"""

from __future__ import annotations

from ptx_lsp.analyses._flow import BlockValues, evaluate_levels
from ptx_lsp.analyses.dataflow.ssa import NONE, Phi, SsaForm
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.sync_dependence import ExitCycle, SyncDependence
from ptx_lsp.analyses.divergence.uniformity_transfer import TransferFunctions
from ptx_lsp.analyses.divergence.value_users import ValueUsers
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

TemporalDivergence: TypeAlias = dict[int, tuple[tuple[frozenset[int], int, int], ...]]
"""For a value: the blocks outside which it is less uniform (`ExitCycle.together`), the level there, and the
block whose branch exits the cycle.
"""

OWN: Final = -2
"""The cause of a value whose level is what its instruction contributes."""
SECOND_RESULT: Final = -3
"""The cause of a second result whose level is what its instruction contributes to that."""

_GRID: Final = int(UniformityLevel.GRID)
_WARP: Final = int(UniformityLevel.WARP)
_UNKNOWN: Final = int(UniformityLevel.UNKNOWN)


class Solution:
    """The levels, as numbers, of each value and of each reached block with several successors.

    A value has its level because of another value (`cause_values`), a divergent branch (`cause_blocks`, its
    block), or its own instruction (`OWN`, `SECOND_RESULT`); -1 if it is as uniform as can be. A value
    together with a block is temporal divergence: that branch exits the loop that defines the value.
    """

    __slots__ = (
        "branches",
        "cause_blocks",
        "cause_values",
        "divergent_joins",
        "levels",
        "out_of_step",
        "revisited",
        "temporal_divergence",
    )

    def __init__(
        self,
        levels: bytes,
        branches: dict[int, int],
        cause_values: list[int],
        cause_blocks: list[int],
        temporal_divergence: TemporalDivergence,
        divergent_joins: set[int],
        out_of_step: set[int],
        revisited: bytes,
    ) -> None:
        self.levels = levels
        self.branches = branches
        self.cause_values = cause_values
        self.cause_blocks = cause_blocks
        self.temporal_divergence = temporal_divergence
        self.divergent_joins = divergent_joins
        """The blocks where threads of a warp may come from different ways, or are out of step."""
        self.out_of_step = out_of_step
        """The blocks that threads of a warp may execute in different iterations at the same time."""
        self.revisited = revisited
        """The blocks whose levels do not depend on those at their entry alone."""


def solve(
    form: SsaForm,
    transfers: TransferFunctions,
    dependence: SyncDependence,
    earlier: tuple[SsaForm, Solution] | None = None,
) -> Solution:
    """The fixed point for the values of a function, given its transfer functions. `earlier` is the solution
    of a previous revision with the same `TransferFunctions.context`.
    """
    return Solver(form, transfers, dependence, earlier).run()


class Solver:
    """One run of the worklist algorithm for a function."""

    def __init__(
        self,
        form: SsaForm,
        transfers: TransferFunctions,
        dependence: SyncDependence,
        earlier: tuple[SsaForm, Solution] | None,
    ) -> None:
        self.form = form
        self.values = form.by_instruction
        self.cfg = form.cfg
        self.transfers = transfers
        self.shapes = transfers.shapes
        self.sync_dependence = dependence
        exits = dependence.only_in_whole_graph
        self.has_exit_phis = any(form.phis_of[block] for block in exits)
        """Whether there is a phi where only threads that exit early go."""
        self.is_pruned = not self.has_exit_phis and not any(
            form.blocks[block].inputs or form.blocks[block].count for block in exits
        )
        """Whether no value is read or defined where only threads that exit early go."""
        self.levels = bytearray(form.limit)
        self.cause_values: list[int] = [NONE] * form.limit
        self.cause_blocks: list[int] = [NONE] * form.limit
        self.temporal_divergence: TemporalDivergence = {}
        self.divergent_joins: set[int] = set()
        self.out_of_step: set[int] = set()
        self.branches: dict[int, int] = {}
        self.visited = bytearray(len(self.cfg.blocks))
        self.revisited = bytearray(len(self.cfg.blocks))
        self.worklist: list[int] = []
        """What to evaluate again: an instruction as its number, a phi as `~value`."""
        self.waiting: set[int] = set()
        """The phis in the work list, each as `~value`."""
        self.loop_phis: dict[int, list[int]] = {}
        """The phis that read a value along a back edge, each as `~value`."""
        self.looping: dict[int, list[int]] = {}
        """The values that instructions of a block define and such phis read, in order."""
        self.done: set[tuple[frozenset[int] | ExitCycle, int]] = set()
        self.has_assumed = False
        """Whether some block was assumed divergent: its values may have levels before it is visited."""
        self.known_users: ValueUsers | None = None
        self.earlier: Solution | None = None
        self.earlier_blocks: dict[BlockValues, int] = {}
        if earlier is not None:
            before, self.earlier = earlier
            self.earlier_blocks = {values: block for block, values in enumerate(before.blocks)}

    def run(self) -> Solution:
        if self.sync_dependence.is_too_complex or not self.form.is_available:
            return self.unknown_solution()
        self.initialize()
        phis_of, phis = self.form.phis_of, self.form.phis
        for block in self.cfg.reverse_postorder:
            for join in phis_of[block]:
                self.evaluate_phi(join)
            self.visit_block(block)
        while self.worklist:
            user = self.worklist.pop()
            if user >= 0:
                self.reevaluate(user)
            else:
                self.waiting.remove(user)
                self.evaluate_phi(phis[~user])
        return self.solution()

    def solution(self) -> Solution:
        return Solution(
            bytes(self.levels), self.branches, self.cause_values, self.cause_blocks,
            self.temporal_divergence, self.divergent_joins, self.out_of_step, bytes(self.revisited),
        )  # fmt: skip

    def unknown_solution(self) -> Solution:
        """The solution of a function that is not analysed: all levels are unknown."""
        for block in self.cfg.reverse_postorder:
            if self.cfg.blocks[block].is_branching:
                self.branches[block] = _UNKNOWN
        self.levels = bytearray([_UNKNOWN]) * len(self.levels)
        self.revisited = bytearray([1]) * len(self.revisited)
        return self.solution()

    def initialize(self) -> None:
        form, graph = self.form, self.cfg.graph
        ranks = graph.ranks
        for block in self.cfg.reverse_postorder:
            if len(graph.successors[block]) > 1:
                self.branches[block] = _GRID
            rank = ranks[block]
            if not form.phis_of[block] or all(ranks[one] < rank for one in graph.predecessors[block]):
                continue
            for join in form.phis_of[block]:
                for value in join.inputs:
                    defining = form.block_of(value)
                    if ranks[defining] >= rank:
                        self.loop_phis.setdefault(value, []).append(~join.value)
                        if value not in form.phis:
                            self.looping.setdefault(defining, []).append(value)
        for values in self.looping.values():
            values[:] = sorted(set(values))
        count = form.instructions.count
        self.levels[:count] = bytes([_UNKNOWN]) * count

    # -- blocks ---------------------------------------------------------------------------------

    def visit_block(self, block: int) -> None:
        """Evaluates the instructions of a block for the first time. Users of their results are evaluated
        later, except phis in loop headers.
        """
        levels = self.levels
        looping = self.looping.get(block, _NO_VALUES)
        before = [levels[value] for value in looping] if looping else looping
        values = self.form.blocks[block]
        escapes = self.temporal_divergence
        if self.has_assumed and any(levels[values.first : values.first + values.count]):
            self.revisited[block] = 1
            for number in self.cfg.blocks[block].instructions:
                self.evaluate(number, block)
        elif escapes and not escapes.keys().isdisjoint(values.inputs):
            self.revisited[block] = 1
            self.evaluate_block(block, escapes.keys() & values.inputs)
        elif self.earlier is None or not self.reuse_block(self.earlier, values):
            self.evaluate_block(block, _NOTHING)
        self.visited[block] = 1
        if looping:
            for value, level in zip(looping, before, strict=True):
                if levels[value] > level:
                    self.enqueue_phis(self.loop_phis[value])
        if block in self.branches:
            self.evaluate_branch(block)

    def reuse_block(self, earlier: Solution, values: BlockValues) -> bool:
        """Takes the levels of the same block in the previous revision, if they can be the same."""
        block = self.earlier_blocks.get(values, NONE)
        if block < 0 or earlier.revisited[block]:
            return False
        levels = self.levels
        for value in values.inputs:
            if levels[value] != earlier.levels[value]:
                return False
        first, end = values.first, values.first + values.count
        levels[first:end] = earlier.levels[first:end]
        self.cause_values[first:end] = earlier.cause_values[first:end]
        return True

    def evaluate_block(self, block: int, escaped: set[int]) -> None:
        """Evaluates the instructions of a block. `escaped` are the values that it reads and that may have
        escaped from a loop.
        """
        transfers, found = self.transfers, self.cfg.blocks[block]
        number, end = found.first, found.end
        while number < end:
            number = evaluate_levels(
                self.values, transfers.shapes, transfers.plain_levels, escaped,
                self.levels, self.cause_values, number, end,
            )  # fmt: skip
            if number < end and (escaped or transfers.plain_level(number) < 0):
                self.evaluate(number, block)
                number += 1

    # -- instructions ---------------------------------------------------------------------------

    def evaluate(self, number: int, block: int) -> list[int]:
        """Evaluates an instruction. Returns the values that were raised."""
        raised: list[int] = []
        own = self.transfers.plain_level(number)
        function = None if own >= 0 else self.transfers.of(number)
        if function is None:
            results, inputs = self.values[number].defs, self.transfers.inputs(number)
        else:
            own, results, inputs = function.base_level, function.results, function.inputs
        if not results:
            return raised
        level, cause, through = self.join(inputs, block)
        if own > level:
            level, cause, through = own, OWN, NONE
        for value in results:
            if level > self.levels[value]:
                self.set_level(value, level, cause, through)
                raised.append(value)
        if function is not None and function.second_result >= 0:
            second = function.second_result
            if function.second_base_level > self.levels[second]:
                self.set_level(second, function.second_base_level, SECOND_RESULT, NONE)
                if second not in raised:
                    raised.append(second)
        return raised

    def reevaluate(self, number: int) -> None:
        """Evaluates an instruction again, because an input has become less uniform."""
        block = self.cfg.block_of[number]
        self.revisited[block] = 1
        for value in self.evaluate(number, block):
            self.enqueue(self.users().of(value), self.levels[value])
        if block in self.branches and number == self.cfg.blocks[block].end - 1:
            self.evaluate_branch(block)

    def evaluate_branch(self, block: int) -> None:
        number = self.cfg.blocks[block].end - 1
        guard = self.values[number].guard
        if guard >= 0 and guard not in self.temporal_divergence and self.shapes[number].opcode == "bra":
            level = self.levels[guard]
        else:
            level = self.join(self.transfers.branch_inputs(number), block)[0]
            level = max(level, self.transfers.control_level(number))
        if level > self.branches[block]:
            self.branches[block] = level
            self.apply_control_divergence(block, level)

    def evaluate_phi(self, join: Phi) -> None:
        level, cause, through = self.join(join.inputs, join.block)
        if level > self.levels[join.value]:
            self.raise_value(join.value, join.block, level, cause, through)

    def join(self, inputs: tuple[int, ...], block: int) -> tuple[int, int, int]:
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
        return worst, cause, through

    # -- users ----------------------------------------------------------------------------------

    def set_level(self, value: int, level: int, cause: int, through: int) -> None:
        self.levels[value] = level
        self.cause_values[value] = cause
        self.cause_blocks[value] = through

    def raise_value(self, value: int, block: int, level: int, cause: int, through: int) -> None:
        """Raises a value that `block` defines, and enqueues its users that were evaluated before."""
        self.set_level(value, level, cause, through)
        if self.visited[block]:
            self.enqueue(self.users().of(value), level)
        elif value in self.loop_phis:  # all other users come later
            self.enqueue_phis(self.loop_phis[value])

    def enqueue(self, users: list[int], level: int) -> None:
        """Enqueues those that were evaluated before, and that an input of a level may raise."""
        block_of, visited, levels = self.cfg.block_of, self.visited, self.levels
        self.worklist.extend([user for user in users if user >= 0 and visited[block_of[user]]])
        self.enqueue_phis([user for user in users if user < 0 and levels[~user] < level])

    def enqueue_phis(self, phis: list[int]) -> None:
        """Enqueues those that are not in the work list: one may have very many inputs."""
        for phi in phis:
            if phi not in self.waiting:
                self.waiting.add(phi)
                self.worklist.append(phi)

    def users(self) -> ValueUsers:
        if self.known_users is None:
            self.known_users = ValueUsers(self.form, self.transfers)
        return self.known_users

    # -- splits ---------------------------------------------------------------------------------

    def apply_control_divergence(self, block: int, level: int) -> None:
        """Raises the values that a branch at the end of `block` makes less uniform."""
        dependence = self.sync_dependence
        is_pruned = self.is_pruned or not (self.has_exit_phis or dependence.exits_in_cycles(block))
        found = dependence.control_divergence(block, is_pruned=is_pruned)
        if level > _WARP:
            self.out_of_step.update(*found.assumed_divergent)
            self.divergent_joins.update(found.joins, *found.assumed_divergent)
        for user in found.joins:
            for join in self.form.phis_of[user]:
                if level > self.levels[join.value]:
                    self.raise_value(join.value, user, level, NONE, block)
        for blocks in found.assumed_divergent:
            if self.is_new(blocks, level):
                self.raise_definitions(blocks, level, block)
        for cycle in found.divergent_exit_cycles:
            if self.is_new(cycle, level):
                self.apply_temporal_divergence(cycle, level, block)

    def is_new(self, blocks: frozenset[int] | ExitCycle, level: int) -> bool:
        """Whether these blocks are made less uniform in this way for the first time."""
        key = blocks, level
        if key in self.done:
            return False
        self.done.add(key)
        return True

    def raise_definitions(self, blocks: frozenset[int], level: int, branch: int) -> None:
        """Raises the values defined in `blocks` that may differ between iterations: phis, and results that do
        not depend on their inputs alone.
        """
        self.has_assumed = True
        for block in blocks:
            self.revisited[block] = 1
            for join in self.form.phis_of[block]:
                if level > self.levels[join.value]:
                    self.raise_value(join.value, block, level, NONE, branch)
            for number in self.cfg.blocks[block].instructions:
                if self.values[number].defs and self.transfers.base_level(number) != _GRID:
                    for value in self.values[number].defs:
                        if level > self.levels[value]:
                            self.raise_value(value, block, level, NONE, branch)

    def apply_temporal_divergence(self, cycle: ExitCycle, level: int, branch: int) -> None:
        """Makes the values defined in a cycle less uniform outside, unless they are the same at all times."""
        users = self.users()
        for value in users.escaping_values(cycle.blocks):
            outside = users.outside(value, cycle.together)
            if outside:
                earlier = self.temporal_divergence.get(value, ())
                self.temporal_divergence[value] = (*earlier, (cycle.together, level, branch))
                self.enqueue(outside, level)


_NO_VALUES: Final[list[int]] = []
_NOTHING: Final[set[int]] = set()
