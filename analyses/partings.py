"""Which steps only a part of a warp comes to, while the other threads go on elsewhere.

1. A *parting* of a step is a divergent jump that decides whether the step is reached, or the step's own
   divergent guard. Whether threads part there is told by `uniformity` and `conditions`.
2. Threads that leave the kernel without the step are no others: nobody waits for them. So a jump parts the
   threads of a step only where, in the staying graph (`early_exits.py`), one of its targets leads to the
   step before the threads meet again, and from another one a path that avoids the step leads to a block
   that can be reached from the step as well, or to one in which threads wait for others.
3. Where such a path goes through a block that all paths from the jump to the step go through, its threads
   have met the others there: what parts them afterwards is a jump of its own.
4. Where the answers for a function would need more than `most_visited` visits of blocks, those that are asked
   for last are that nothing parts the threads.
5. `is_known` tells that threads come to the step only if the jump's guard held (or did not).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from analyses.cfg import Cfg
from analyses.conditions import Condition, Conditions, conditions
from analyses.dominance import most_visited
from analyses.early_exits import EarlyExits, early_exits, only_leaves
from analyses.lane_arithmetic import WARP
from analyses.sources import Level
from analyses.steps import Step
from analyses.uniformity import Uniformity
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function


class Parting(NamedTuple):
    """`step` parts the threads. `condition` is that of coming here, if `is_known`; else that of the guard."""

    step: Step
    condition: Condition
    is_known: bool

    @property
    def lanes_off(self) -> frozenset[int]:
        """Lanes of the first warp that do not come here."""
        if not self.is_known or self.condition.first is None:
            return frozenset()
        return frozenset(lane for lane in range(WARP) if not self.condition.first[lane])


class Lanes(NamedTuple):
    """Lanes of the first warp of a block that certainly come to a step, and those that certainly do not,
    and do something else.
    """

    on: frozenset[int]
    off: frozenset[int]


ALL = frozenset(range(WARP))


@dataclass(frozen=True)
class Partings:
    """Answers for the steps of a function."""

    early_exits: EarlyExits
    conditions: Conditions
    _ahead: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    _at: dict[int, Lanes] = field(default_factory=dict[int, Lanes])
    _parted: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])
    _visits: list[int] = field(default_factory=lambda: [0])
    """How many blocks were visited so far."""

    @property
    def uniformity(self) -> Uniformity:
        return self.conditions.uniformity

    @property
    def cfg(self) -> Cfg:
        return self.uniformity.values.cfg

    def of(self, number: int) -> tuple[Parting, ...]:
        """The partings of a step, the nearest first."""
        step = self.uniformity.values.steps.steps[number]
        block = self.cfg.block_of[number]
        if block not in self.cfg.reached:
            return ()
        found: list[Parting] = []
        if step.guard >= 0 and self._parts(step) and not self._only_leaves(number + 1):
            found.append(Parting(step, self.conditions.of_guard(step), is_known=True))
        if not self.uniformity.control(block).is_uniform:
            found.extend(
                self._parting(jump, block)
                for jump in self.uniformity.controlled_by(block)
                if self._parts(jump) and self._others_stay(self.cfg.block_of[jump.number], block)
            )
        return tuple(found)

    def exits(self, number: int) -> tuple[Parting, ...]:
        """The divergent branches by which other threads of a warp may have left before a step (2)."""
        block = self.cfg.block_of[number]
        if block not in self.cfg.reached or self.uniformity.control(block).is_uniform:
            return ()
        return tuple([
            self._parting(jump, block)
            for jump in self.uniformity.controlled_by(block)
            if self._parts(jump) and not self._others_stay(self.cfg.block_of[jump.number], block)
        ])

    def lanes_at(self, number: int) -> Lanes:
        """Which lanes of the first warp come to the place of a step, whatever its guard says."""
        block = self.cfg.block_of[number]
        found = self._at.get(block)
        if found is None:
            found = self._at[block] = self._lanes_at(block)
        return found

    def _lanes_at(self, block: int) -> Lanes:
        if block not in self.cfg.reached:
            return Lanes(frozenset(), frozenset())
        on, off = ALL, frozenset[int]()
        for jump in self.uniformity.controlled_by(block):
            parting = self._parting(jump, block)
            is_exact = parting.is_known and parting.condition.first is not None
            on = on - parting.lanes_off if is_exact else frozenset[int]()
            stays = parting.lanes_off and self._parts(jump)
            if stays and self._others_stay(self.cfg.block_of[jump.number], block):
                off |= parting.lanes_off
        return Lanes(on, off)

    def lanes(self, number: int) -> Lanes:
        """Which lanes of the first warp do a step."""
        step = self.uniformity.values.steps.steps[number]
        here = self.lanes_at(number)
        if not step.is_guarded or self.uniformity.guard(number).is_uniform:
            return here
        first = self.conditions.of_guard(step).first
        if first is None:
            return Lanes(frozenset(), here.off)
        absent = frozenset(lane for lane in range(WARP) if not first[lane])
        stays = not self._only_leaves(number + 1)
        return Lanes(here.on - absent, here.off | absent if stays else here.off)

    def is_whole(self, number: int) -> bool:
        """Whether whole warps come to a step as far as is known, but for those at the end of the data: no
        branch keeps some lanes from it other than an early exit that may concern none of them.
        """
        block = self.cfg.block_of[number]
        step = self.uniformity.values.steps.steps[number]
        if block not in self.cfg.reached:
            return False
        if step.is_guarded and not self.uniformity.guard(number).is_uniform:
            return False
        for jump in self.uniformity.controlled_by(block):
            parting = self._parting(jump, block)
            if parting.condition.splits is False:
                continue
            if parting.lanes_off or not parting.is_known or parting.condition.is_single:
                return False
            if self._others_stay(self.cfg.block_of[jump.number], block):
                return False
        return True

    def elsewhere(self, number: int) -> frozenset[int]:
        """The blocks that threads come to which do not come to step `number`, before they meet the others."""
        block = self.cfg.block_of[number]
        staying = self.early_exits.staying
        found: set[int] = set()
        for parting in self.of(number):
            source = self.cfg.block_of[parting.step.number]
            meeting = staying.reconvergence(source)
            for target in staying.graph.successors[source]:
                if target != block:
                    found |= self._reached(target, meeting)
        return frozenset(found - {block})

    def _parting(self, jump: Step, block: int) -> Parting:
        """With which outcome of its guard a jump leads to `block`."""
        source = self.cfg.blocks[self.cfg.block_of[jump.number]]
        condition = self.conditions.of_guard(jump)
        for index, target in enumerate(source.successors):
            is_only = self.cfg.blocks[target].predecessors == (source.number,)
            is_only = is_only and len(source.successors) == 2 and jump.is_guarded
            if is_only and self.uniformity.dominance.dominates(target, block):
                return Parting(jump, condition if index else condition.negated, is_known=True)
        return Parting(jump, condition, is_known=False)

    def _only_leaves(self, first: int) -> bool:
        """Whether threads do nothing from step `first` on but leave the kernel."""
        block = self.cfg.block_of[first - 1]
        steps = self.uniformity.values.steps.steps
        return only_leaves(self.cfg, steps, block, first, self.early_exits.leaving)

    def _parts(self, step: Step) -> bool:
        """Whether threads of a warp may do different things at a jump or guard, as far as is known."""
        uniformity = self.uniformity
        block = self.cfg.block_of[step.number]
        level = uniformity.branches.get(block) if step.opcode in _JUMPS else None
        if (uniformity.guard(step.number) if level is None else level) != Level.DIVERGENT:
            return False
        return not step.is_guarded or self.conditions.of_guard(step).splits is not False

    def _others_stay(self, source: int, block: int) -> bool:
        """Whether the branch at the end of `source` lets some threads come to `block`, and others go where
        they meet them afterwards, or wait for them (2).
        """
        found = self._parted.get((source, block))
        if found is None:
            is_too_much = self._visits[0] > most_visited(len(self.cfg.blocks))
            found = self._parted[source, block] = not is_too_much and self._part(source, block)
        return found

    def _part(self, source: int, block: int) -> bool:
        staying = self.early_exits.staying
        targets = staying.graph.successors[source]
        if len(targets) < 2:
            return False
        meeting = staying.reconvergence(source)
        coming = [target for target in targets if block in self._reached(target, meeting)]
        return any(
            self._stays(target, block, source, meeting)
            for target in targets
            if coming not in ([], [target])
        )

    def _stays(self, start: int, block: int, source: int, meeting: int) -> bool:
        """Whether some path from `start` meets the threads that come to `block`, elsewhere than there."""
        shared = self._on_all_paths(source, block) | self.early_exits.leaving
        after = self._reached_from(block)
        seen: set[int] = set()
        pending = [start]
        while pending:
            one = pending.pop()
            if one in seen or one in shared:
                continue
            seen.add(one)
            if one == meeting and meeting != self.cfg.exit:
                return True
            if one in after or one in self.early_exits.waiting:
                return True
            pending.extend(self.early_exits.staying.graph.successors[one])
            self._visits[0] += 1
        return False

    def _on_all_paths(self, source: int, block: int) -> frozenset[int]:
        """`block`, and the blocks that all paths from `source` to it go through."""
        staying = self.early_exits.staying
        found = {block}
        while block >= 0 and not staying.dominates(block, source):
            found.add(block)
            block = staying.immediate[block]
        self._visits[0] += len(found)
        return frozenset(found)

    def _reached(self, start: int, end: int) -> set[int]:
        """The blocks that threads which stay come to from `start` on, before `end`."""
        found: set[int] = set()
        pending = [start]
        while pending:
            one = pending.pop()
            if one not in found and one != end:
                found.add(one)
                pending.extend(self.early_exits.staying.graph.successors[one])
        self._visits[0] += len(found)
        return found

    def _reached_from(self, block: int) -> frozenset[int]:
        """The blocks that threads which stay may go on to from `block`."""
        found = self._ahead.get(block)
        if found is None:
            seen = set[int]()
            for target in self.early_exits.staying.graph.successors[block]:
                seen |= self._reached(target, -1)
            found = self._ahead[block] = frozenset(seen)
        return found


_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap"})


@fact
def partings(function: Function) -> Partings:
    """Which steps of `function` only a part of a warp comes to."""
    return Partings(early_exits(function), conditions(function))
