"""Instructions that only some lanes of a warp reach because of a divergent branch.

1. A *divergent branch* of an instruction is a divergent jump that the instruction is control-dependent on, or
   the instruction's own divergent guard. `uniformity` and `lane_predicates` decide whether it diverges.
2. Threads that exit without executing the instruction do not count, because no thread waits for them. A jump
   diverges for an instruction only if two conditions hold in the pruned graph (`early_exits.py`). One of its
   targets leads to the instruction before the reconvergence point. From another target, a path that avoids
   the instruction leads to a block that is also reachable from the instruction, or to one in which threads
   wait for others.
3. If such a path includes a block that is on all paths from the jump to the instruction, its threads
   reconverge there. A later divergence is due to another jump.
4. If a function needs more than `most_visited` block visits, the remaining instructions are assumed not to be
   divergent.
5. `is_path_condition`: threads reach the instruction only if the guard of the branch held (or did not).
"""

from __future__ import annotations

from ptx_lsp.analyses.control_flow.cfg import Cfg
from ptx_lsp.analyses.control_flow.dominance import visit_limit
from ptx_lsp.analyses.control_flow.early_exits import EarlyExits, early_exits, is_exit_path
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.lane_arithmetic import WARP
from ptx_lsp.analyses.divergence.lane_predicates import (
    LanePredicate,
    LanePredicates,
    lane_predicates,
)
from ptx_lsp.analyses.divergence.uniformity import Uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class DivergentBranch(NamedTuple):
    """A jump or guard at which threads diverge. `predicate` is the condition of reaching the instruction if
    `is_path_condition`, else the condition of the guard.
    """

    instruction: InstructionInfo
    predicate: LanePredicate
    is_path_condition: bool

    @property
    def inactive_lanes(self) -> frozenset[int]:
        """Lanes of the first warp that do not reach the instruction."""
        if not self.is_path_condition or self.predicate.first_warp_lanes is None:
            return frozenset()
        return frozenset(lane for lane in range(WARP) if not self.predicate.first_warp_lanes[lane])


class ActiveLanes(NamedTuple):
    """Lanes of the first warp of a block that certainly reach an instruction, and lanes that certainly do not
    and execute something else.
    """

    active: frozenset[int]
    inactive: frozenset[int]


ALL_LANES = frozenset(range(WARP))


class DivergentControl:
    """The divergent control dependences of the instructions of a function, computed on demand."""

    __slots__ = ("_lanes", "_reachable", "_reconverging", "_visits", "early_exits", "predicates")

    def __init__(self, early_exits: EarlyExits, predicates: LanePredicates) -> None:
        self.early_exits: Final = early_exits
        self.predicates: Final = predicates
        self._reachable: Final[dict[int, frozenset[int]]] = {}
        self._lanes: Final[dict[int, ActiveLanes]] = {}
        self._reconverging: Final[dict[tuple[int, int], bool]] = {}
        self._visits: Final[list[int]] = [0]
        """The number of blocks visited so far."""

    @property
    def uniformity(self) -> Uniformity:
        return self.predicates.uniformity

    @property
    def cfg(self) -> Cfg:
        return self.uniformity.ssa.cfg

    def divergent_branches(self, number: int) -> tuple[DivergentBranch, ...]:
        """The divergent branches of an instruction, the nearest first."""
        step = self.uniformity.ssa.instructions.info(number)
        block = self.cfg.block_of[number]
        if block not in self.cfg.reached:
            return ()
        found: list[DivergentBranch] = []
        if step.guard >= 0 and self._is_divergent(step) and not self._is_exit_path(number + 1):
            found.append(DivergentBranch(step, self.predicates.guard(step), is_path_condition=True))
        if not self.uniformity.block_level(block).is_uniform:
            found.extend(
                self._divergent_branch(jump, block)
                for jump in self.uniformity.controlling_branches(block)
                if self._is_divergent(jump)
                and self._reconverges_with_others(self.cfg.block_of[jump.number], block)
            )
        return tuple(found)

    def divergent_exits(self, number: int) -> tuple[DivergentBranch, ...]:
        """The divergent branches by which other threads of a warp may have exited before an instruction
        (2).
        """
        block = self.cfg.block_of[number]
        if block not in self.cfg.reached or self.uniformity.block_level(block).is_uniform:
            return ()
        return tuple(
            [
                self._divergent_branch(jump, block)
                for jump in self.uniformity.controlling_branches(block)
                if self._is_divergent(jump)
                and not self._reconverges_with_others(self.cfg.block_of[jump.number], block)
            ]
        )

    def lanes_reaching(self, number: int) -> ActiveLanes:
        """The lanes of the first warp that reach an instruction, regardless of its guard."""
        block = self.cfg.block_of[number]
        found = self._lanes.get(block)
        if found is None:
            found = self._lanes[block] = self._lanes_reaching(block)
        return found

    def _lanes_reaching(self, block: int) -> ActiveLanes:
        if block not in self.cfg.reached:
            return ActiveLanes(frozenset(), frozenset())
        active, inactive = ALL_LANES, frozenset[int]()
        for jump in self.uniformity.controlling_branches(block):
            branch = self._divergent_branch(jump, block)
            is_exact = branch.is_path_condition and branch.predicate.first_warp_lanes is not None
            active = active - branch.inactive_lanes if is_exact else frozenset[int]()
            continues = branch.inactive_lanes and self._is_divergent(jump)
            if continues and self._reconverges_with_others(self.cfg.block_of[jump.number], block):
                inactive |= branch.inactive_lanes
        return ActiveLanes(active, inactive)

    def lanes_executing(self, number: int) -> ActiveLanes:
        """The lanes of the first warp that execute an instruction."""
        step = self.uniformity.ssa.instructions.info(number)
        reaching = self.lanes_reaching(number)
        if not step.is_guarded or self.uniformity.guard_level(number).is_uniform:
            return reaching
        first = self.predicates.guard(step).first_warp_lanes
        if first is None:
            return ActiveLanes(frozenset(), reaching.inactive)
        absent = frozenset(lane for lane in range(WARP) if not first[lane])
        continues = self._is_divergent(step) and not self._is_exit_path(number + 1)
        return ActiveLanes(
            reaching.active - absent, reaching.inactive | absent if continues else reaching.inactive
        )

    def is_full_warp(self, number: int) -> bool:
        """Whether full warps reach an instruction, except at the end of the data: no known branch other than
        an early exit keeps lanes from it.
        """
        block = self.cfg.block_of[number]
        step = self.uniformity.ssa.instructions.info(number)
        if block not in self.cfg.reached:
            return False
        if step.is_guarded and not self.uniformity.guard_level(number).is_uniform:
            return False
        for jump in self.uniformity.controlling_branches(block):
            branch = self._divergent_branch(jump, block)
            if branch.predicate.is_divergent is False:
                continue
            if branch.inactive_lanes or not branch.is_path_condition or branch.predicate.is_equality:
                return False
            if self._reconverges_with_others(self.cfg.block_of[jump.number], block):
                return False
        return True

    def sibling_blocks(self, number: int) -> frozenset[int]:
        """The blocks, up to the reconvergence point, of the threads that do not reach instruction
        `number`.
        """
        block = self.cfg.block_of[number]
        staying = self.early_exits.pruned
        found: set[int] = set()
        for branch in self.divergent_branches(number):
            source = self.cfg.block_of[branch.instruction.number]
            reconvergence = staying.reconvergence(source)
            for target in staying.graph.successors[source]:
                if target != block:
                    found |= self._reachable_before(target, reconvergence)
        return frozenset(found - {block})

    def _divergent_branch(self, jump: InstructionInfo, block: int) -> DivergentBranch:
        """The branch `jump` with the outcome of its guard that leads to `block`."""
        source = self.cfg.blocks[self.cfg.block_of[jump.number]]
        predicate = self.predicates.guard(jump)
        for index, target in enumerate(source.successors):
            is_only = self.cfg.blocks[target].predecessors == (source.number,)
            is_only = is_only and len(source.successors) == 2 and jump.is_guarded
            if is_only and self.uniformity.dominance.dominates(target, block):
                return DivergentBranch(
                    jump, predicate if index else predicate.negated, is_path_condition=True
                )
        return DivergentBranch(jump, predicate, is_path_condition=False)

    def _is_exit_path(self, first: int) -> bool:
        """Whether from instruction `first` on, threads only exit the kernel."""
        block = self.cfg.block_of[first - 1]
        flow = self.uniformity.ssa.instructions
        return is_exit_path(self.cfg, flow, block, first, self.early_exits.exiting)

    def _is_divergent(self, step: InstructionInfo) -> bool:
        """Whether threads of a warp may diverge at a jump or guard."""
        uniformity = self.uniformity
        block = self.cfg.block_of[step.number]
        level = uniformity.branches.get(block) if step.opcode in _JUMPS else None
        if (uniformity.guard_level(step.number) if level is None else level) != UniformityLevel.DIVERGENT:
            return False
        return not step.is_guarded or self.predicates.guard(step).is_divergent is not False

    def _reconverges_with_others(self, source: int, block: int) -> bool:
        """Whether the branch at the end of `source` sends some threads to `block`, and others to where they
        meet them later or wait for them (2).
        """
        found = self._reconverging.get((source, block))
        if found is None:
            is_too_much = self._visits[0] > visit_limit(len(self.cfg.blocks))
            found = self._reconverging[source, block] = not is_too_much and self._has_sibling_path(
                source, block
            )
        return found

    def _has_sibling_path(self, source: int, block: int) -> bool:
        staying = self.early_exits.pruned
        targets = staying.graph.successors[source]
        if len(targets) < 2:
            return False
        reconvergence = staying.reconvergence(source)
        coming = [target for target in targets if block in self._reachable_before(target, reconvergence)]
        return any(
            self._rejoins(target, block, source, reconvergence)
            for target in targets
            if coming not in ([], [target])
        )

    def _rejoins(self, start: int, block: int, source: int, reconvergence: int) -> bool:
        """Whether some path from `start` meets the threads of `block` at another block."""
        shared = self._common_blocks(source, block) | self.early_exits.exiting
        after = self._reachable_from(block)
        seen: set[int] = set()
        worklist = [start]
        while worklist:
            current = worklist.pop()
            if current in seen or current in shared:
                continue
            seen.add(current)
            if current == reconvergence and reconvergence != self.cfg.exit:
                return True
            if current in after or current in self.early_exits.synchronizing:
                return True
            worklist.extend(self.early_exits.pruned.graph.successors[current])
            self._visits[0] += 1
        return False

    def _common_blocks(self, source: int, block: int) -> frozenset[int]:
        """`block`, and the blocks that all paths from `source` to it go through."""
        staying = self.early_exits.pruned
        found = {block}
        while block >= 0 and not staying.dominates(block, source):
            found.add(block)
            block = staying.immediate_dominators[block]
        self._visits[0] += len(found)
        return frozenset(found)

    def _reachable_before(self, start: int, end: int) -> frozenset[int]:
        """The blocks that threads that do not exit reach from `start`, before `end`."""
        found = self.early_exits.pruned.graph.walks.reachable((start,), end)
        self._visits[0] += len(found)
        return found

    def _reachable_from(self, block: int) -> frozenset[int]:
        """The blocks that threads which do not exit reach from `block`."""
        found = self._reachable.get(block)
        if found is None:
            graph = self.early_exits.pruned.graph
            found = self._reachable[block] = graph.walks.reachable(graph.successors[block], -1)
            self._visits[0] += len(found)
        return found


_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap"})


@fact
def divergent_control(function: Function) -> DivergentControl:
    """The divergent control dependences of `function`."""
    return DivergentControl(early_exits(function), lane_predicates(function))
