"""Systematic search through the orders of a small launch, with partial-order reduction and few preemptions.

1. An order is described by its *switches*: turns at which another warp goes on than the one that would.
   Without switches a warp goes on until it waits, ends, or has spun for long; then the next one does.
2. After a run, each pair of turns of two warps that use the same memory, one of which writes, and that no
   other such pair orders, gives a switch: the second warp goes on at the first turn (Flanagan and Godefroid,
   "Dynamic Partial-Order Reduction for Model Checking Software", 2005). All other orders differ only in turns
   that do not depend on each other.
3. Orders with fewer switches come first, and those with more than a few are left out (Musuvathi and Qadeer,
   "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", 2007).
4. The search is *complete* if it ends, leaves nothing out, and only the order of accesses to memory matters.
   Else a warp is at two places or goes on too long, or there are asynchronous operations, or barriers with a
   number of threads.
5. A seed from `FIRST_SEED` on has the switches of an order as its digits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.pending import Pending
from ptx_lsp.executor.machine.control import Barrier, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.orders import Groups, Order, Turn, part_of

FIRST_SEED = 1 << 32
MOST_WARPS = 16
_MOST_TURNS = 1 << 12
_MOST_SWITCHES = 3
_BASE = _MOST_TURNS * MOST_WARPS + 1
_LONGEST_STREAK = 64
_WORD = 4

Switches: TypeAlias = tuple[tuple[int, int], ...]
"""Turns, and the warps that go on then."""


def is_small(shape: LaunchConfig) -> bool:
    """Whether the orders of a launch can be searched."""
    return shape.blocks * shape.lanes <= MOST_WARPS * WARP_SIZE


def seed_of(switches: Switches) -> int:
    number = 0
    for turn, warp in reversed(switches):
        number = number * _BASE + turn * MOST_WARPS + warp + 1
    return FIRST_SEED + number


def switches_of(seed: int) -> Switches:
    found: list[tuple[int, int]] = []
    number = seed - FIRST_SEED
    while number > 0:
        number, digit = divmod(number, _BASE)
        if digit:
            found.append(divmod(digit - 1, MOST_WARPS))
    return tuple(found)


@dataclass
class _Step:
    """A turn: the warp that went on, all that could have, and the words that it used (true: written)."""

    warp: int
    enabled: frozenset[int]
    used: dict[Hashable, bool] = field(default_factory=dict[Hashable, bool])


class SwitchedOrder(Order):
    """An order with switches. `steps` are its turns so far."""

    def __init__(self, switches: Switches) -> None:
        self._switches = dict(switches)
        self.steps: list[_Step] = []
        self.is_whole = True
        """Whether nothing but the order of the turns mattered so far."""
        self._streak = 0

    def turn(self, wave: Wave, groups: Groups, rank: Callable[[int], int]) -> Turn:
        there: dict[int, int] = {}
        for block in sorted(groups, key=rank, reverse=True):
            warps = wave.full_mask(groups[block]).reshape(-1, WARP_SIZE).any(axis=1)
            here = np.flatnonzero(warps).tolist()
            self.is_whole = self.is_whole and there.keys().isdisjoint(here)
            there.update(dict.fromkeys(here, block))
        self.is_whole = self.is_whole and Pending.existing(wave) is None
        warp = self._next(sorted(there))
        self.steps.append(_Step(warp, frozenset(there)))
        some = np.repeat(np.arange(wave.shape[0] * wave.shape[1] // WARP_SIZE) == warp, WARP_SIZE)
        return there[warp], part_of(wave, groups[there[warp]], some)

    def _next(self, warps: Sequence[int]) -> int:
        last = self.steps[-1].warp if self.steps else -1
        warp = self._switches.get(len(self.steps), -1)
        if warp not in warps:
            warp = last
        if warp not in warps or (warp == last and self._streak > _LONGEST_STREAK):
            self.is_whole = self.is_whole and self._streak <= _LONGEST_STREAK
            warp = next((one for one in warps if one > last), warps[0])
        self._streak = self._streak + 1 if warp == last else 0
        return warp


class UsedMemory(Observer):
    """Notes the words that each turn of an order uses."""

    def __init__(self, order: SwitchedOrder) -> None:
        self._order = order

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if isinstance(step.action, Barrier) and step.action.is_counted:
            self._order.is_whole = False

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if not self._order.steps or access.space == ".local":
            return
        used = self._order.steps[-1].used
        key = access.space if access.buffer is None else access.buffer.base
        writes = access.use != "read"
        for offset in np.unique(access.offsets).tolist():
            for word in range(offset // _WORD, (offset + access.size - 1) // _WORD + 1):
                used[key, word] = used.get((key, word), False) or writes


class Trace(NamedTuple):
    """The part of a run that a search needs."""

    digest: int
    """Equal for runs that differ only in turns that do not depend on each other."""
    reversals: tuple[tuple[int, int], ...]
    """Item 2: turns, and the warps that are to go on then instead."""
    is_whole: bool
    """Whether nothing but the order of its turns mattered."""


def trace(order: SwitchedOrder) -> Trace:
    """The trace of a run with this order."""
    steps = order.steps[:_MOST_TURNS]
    is_whole = order.is_whole and len(steps) == len(order.steps)
    return Trace(_digest(steps), tuple(_reversals(steps)), is_whole)


class Search:
    """The orders that are still to be run."""

    def __init__(self) -> None:
        self._pending: deque[Switches] = deque([()])
        self._known: set[Switches] = {()}
        self._seen: set[int] = set()
        """The digests of runs."""
        self._is_whole = True

    @property
    def is_complete(self) -> bool:
        """Item 4."""
        return self._is_whole and not self._pending

    def next_orders(self, most: int) -> list[Switches]:
        """Some that can run beside each other; none if there are no more."""
        return [self._pending.popleft() for _ in range(min(most, len(self._pending)))]

    def add(self, switches: Switches, trace: Trace) -> None:
        """An order was run."""
        self._is_whole = self._is_whole and trace.is_whole
        if trace.digest in self._seen:
            return
        self._seen.add(trace.digest)
        for turn, warp in trace.reversals:
            following = (*(one for one in switches if one[0] < turn), (turn, warp))
            if len(following) > _MOST_SWITCHES:
                self._is_whole = False
            elif following not in self._known:
                self._known.add(following)
                self._pending.append(following)


def _reversals(steps: Sequence[_Step]) -> list[tuple[int, int]]:
    """Item 2."""
    found: dict[tuple[int, int], None] = {}
    clocks: dict[int, dict[int, int]] = {}
    written: dict[Hashable, int] = {}
    read: dict[Hashable, dict[int, int]] = {}
    at_turn: list[dict[int, int]] = []
    for now, step in enumerate(steps):
        clock = dict(clocks.get(step.warp, {}))
        before: set[int] = set()
        for word, writes in step.used.items():
            if word in written:
                before.add(written[word])
            if writes:
                before.update(read.get(word, {}).values())
        for turn in sorted(before, reverse=True):
            other = steps[turn].warp
            if other != step.warp and clock.get(other, -1) < turn:
                if step.warp in steps[turn].enabled:
                    found[turn, step.warp] = None
                else:
                    found.update(dict.fromkeys((turn, one) for one in steps[turn].enabled if one != other))
            for one, time in at_turn[turn].items():
                clock[one] = max(clock.get(one, -1), time)
        clock[step.warp] = now
        clocks[step.warp] = clock
        at_turn.append(clock)
        for word, writes in step.used.items():
            if writes:
                written[word] = now
                read.pop(word, None)
            else:
                read.setdefault(word, {})[step.warp] = now
    return list(found)


def _digest(steps: Sequence[_Step]) -> int:
    """The same for runs in which the uses of each word come in the same order."""
    counts: dict[int, int] = {}
    order: dict[Hashable, list[tuple[int, ...]]] = {}
    for step in steps:
        counts[step.warp] = counts.get(step.warp, 0) + 1
        for word, writes in step.used.items():
            uses = order.setdefault(word, [])
            use = (step.warp, counts[step.warp])
            if writes or not uses or uses[-1][0] < 0:
                uses.append((-1, *use) if writes else use)
            else:  # reads in any order
                uses[-1] = tuple(sorted((*uses[-1], *use)))
    return hash(frozenset((word, tuple(uses)) for word, uses in order.items()))
