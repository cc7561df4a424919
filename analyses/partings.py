"""Which steps only a part of a warp comes to, while the other threads go on elsewhere.

1. A *parting* of a step is a divergent jump that decides whether the step is reached, or the step's own
   divergent guard. Whether threads part there is told by `uniformity` and `conditions`.
2. Threads that leave the kernel without the step are no others: nobody waits for them. So a way that
   leads to nothing but the end of the kernel does not part (*early exit*), nor does one that leaves on its
   own, before it meets what comes after the step.
3. `is_taken` tells that threads come to the step only if the jump's guard held (or did not).
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from analyses.cfg import Cfg
from analyses.conditions import Condition, Conditions, conditions
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

    is_kernel: bool
    conditions: Conditions
    _ahead: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    _at: dict[int, Lanes] = field(default_factory=dict[int, Lanes])

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
        if step.guard >= 0 and self._parts(step) and not self._only_leaves(block, number + 1, self._ends):
            found.append(Parting(step, self.conditions.of_guard(step), is_known=True))
        if not self.uniformity.control(block).is_uniform:
            found.extend(
                self._parting(jump, block)
                for jump in self.uniformity.controlled_by(block)
                if self._parts(jump) and self._others_stay(self.cfg.block_of[jump.number], block)
            )
        return tuple(found)

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
        stays = not self._only_leaves(self.cfg.block_of[number], number + 1, self._ends)
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
        found: set[int] = set()
        for parting in self.of(number):
            source = self.cfg.block_of[parting.step.number]
            meeting = self.uniformity.dominance.reconvergence(source)
            waiting = [source]
            while waiting:
                for target in self._onward(waiting.pop()):
                    if target not in found and target not in (meeting, block):
                        found.add(target)
                        waiting.append(target)
        return frozenset(found)

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

    def _parts(self, step: Step) -> bool:
        """Whether threads of a warp may do different things at a jump or guard, as far as is known."""
        uniformity = self.uniformity
        block = self.cfg.block_of[step.number]
        level = uniformity.branches.get(block) if step.opcode in _JUMPS else None
        if (uniformity.guard(step.number) if level is None else level) != Level.DIVERGENT:
            return False
        return not step.is_guarded or self.conditions.of_guard(step).splits is not False

    def _others_stay(self, source: int, block: int) -> bool:
        """Whether threads that leave `source` without coming to `block` meet those that were there."""
        last = self.uniformity.values.steps.steps[self.cfg.blocks[source].end - 1]
        seen = {source, block}
        waiting = [one for one in self.cfg.blocks[source].successors if one not in seen]
        if last.opcode in _ENDS or (last.opcode == "ret" and self.is_kernel):
            waiting = [one for one in waiting if one != self.cfg.exit]
        after = self._reached_from(block)
        for one in waiting:
            if one in seen:
                continue
            seen.add(one)
            if one in after and one not in self._ends:
                return True
            waiting.extend(self._onward(one))
        return False

    def _onward(self, block: int) -> tuple[int, ...]:
        """The successors, but not that an `exit` leads to."""
        found = self.cfg.blocks[block]
        if block == self.cfg.exit or found.first == found.end:
            return found.successors
        last = self.uniformity.values.steps.steps[found.end - 1]
        if last.opcode in _ENDS:
            return tuple([one for one in found.successors if one != self.cfg.exit])
        return found.successors

    def _reached_from(self, block: int) -> frozenset[int]:
        """The blocks that control may go on to from `block`."""
        found = self._ahead.get(block)
        if found is None:
            seen: set[int] = set()
            waiting = [block]
            while waiting:
                for target in self._onward(waiting.pop()):
                    if target not in seen:
                        seen.add(target)
                        waiting.append(target)
            found = self._ahead[block] = frozenset(seen)
        return found

    def _only_leaves(self, block: int, first: int, ends: Set[int]) -> bool:
        """Whether nothing is done from step `first` of a block on but to leave."""
        found = self.cfg.blocks[block]
        steps = self.uniformity.values.steps.steps
        if any(steps[number].opcode not in _LEAVING for number in range(first, found.end)):
            return False
        last = steps[found.end - 1] if found.end > first else None
        if last is not None and last.opcode in _ENDS and not last.is_guarded:
            return True
        return all(target in ends for target in self._onward(block))

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The blocks from which on nothing is done but to leave the kernel."""
        found = {self.cfg.exit} if self.is_kernel else set[int]()
        waiting = [*self.cfg.order]
        while waiting:
            block = waiting.pop()
            if block in found or block == self.cfg.exit:
                continue
            if self._only_leaves(block, self.cfg.blocks[block].first, found):
                found.add(block)
                waiting.extend(self.cfg.blocks[block].predecessors)
        return frozenset(found)


_ENDS = frozenset({"exit", "trap"})
_LEAVING = frozenset({"exit", "trap", "ret", "bra"})
_JUMPS = frozenset({"bra", "brx", "ret", "exit", "trap"})


@fact
def partings(function: Function) -> Partings:
    """Which steps of `function` only a part of a warp comes to."""
    return Partings(function.is_kernel, conditions(function))
