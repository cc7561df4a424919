"""List scheduling: the registers that a straight-line region needs, depending on the order of its
instructions.

1. An order is a sequence of the instructions in which each comes after its dependences. Its *profile* is the
   register pressure around each instruction: the virtual registers that are live before it, or after it
   together with those that it reads, because a result seldom replaces its operands. Addresses count on
   targets where an addition can read their base from the constant bank (`is_banked`).
2. The order of *minimal pressure* is built from the end. Each step takes the instruction that makes the
   fewest additional registers live (as in Sethi and Ullman, "The Generation of Optimal Code for Arithmetic
   Expressions", 1970). Text order replaces it if that needs fewer registers.
3. A compiler hides the latency of loads by *hoisting* them. Instructions are scheduled by their critical
   path, as soon as their operands are ready. An instruction is scheduled before its position in the order of
   minimal pressure only if the profile up to that position stays within a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Final, Protocol, TypeAlias

from analyses.instructions.uses_and_defs import InstructionInfo
from analyses.registers.dependence import DependenceGraph, dependence_graph
from analyses.registers.machine_instructions import MachineInstruction
from analyses.registers.machine_kind import scratch_registers
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

WINDOW: Final = 512
"""How many positions early an instruction may be scheduled."""
_TRIES: Final = 8
_SEQUENCES: Final = frozenset({"div", "rem", "sqrt", "rcp", "rsqrt"})
_SUMS: Final = frozenset({"add.s64", "add.u64"})


class _PressureProfile(NamedTuple):
    """For each instruction of an order: the virtual registers live around it, and by how many registers
    hoisting it raises the pressure at the instructions that it overtakes.
    """

    live: list[int]
    sizes: list[int]


class RegionCode(NamedTuple):
    """The machine instructions of a region, and the virtual registers that are live after them."""

    instructions: Sequence[MachineInstruction]
    live_out: frozenset[int]


Key: TypeAlias = tuple[object, ...]
"""All that the code of a region depends on."""


class RegionSource(Protocol):
    """Where the code of a region is read."""

    @property
    def key(self) -> Key: ...
    def read(self) -> RegionCode: ...

    def pressure(self) -> int:
        """A bound for the registers that the region needs in text order."""
        ...


class StraightLineRegion:
    """Machine instructions in the order of the text, and the virtual registers that are live after them.

    Most regions are too small to matter, so their code is read on demand. `bound` bounds the registers that
    the region needs in text order, and `results` those that it defines.
    """

    def __init__(self, bound: int, results: int, source: RegionSource) -> None:
        self.bound: Final = bound
        self.results: Final = results
        self._key: Final = source.key
        self._code: RegionCode | RegionSource = source
        self._text_bound: int | None = None
        self._profiles: dict[bool, _PressureProfile] = {}
        self._hoisted: dict[tuple[int, bool], int] = {}

    def read_from(self, source: RegionSource) -> bool:
        """Whether a later version of the function has the same code. It is then read from there, so that no
        version is kept for it.
        """
        if self._key != source.key:
            return False
        if not isinstance(self._code, RegionCode):
            self._code = source
        return True

    @property
    def code(self) -> RegionCode:
        code = self._code
        if not isinstance(code, RegionCode):
            code = self._code = code.read()
        return code

    @property
    def instructions(self) -> Sequence[MachineInstruction]:
        return self.code.instructions

    @property
    def live_out(self) -> frozenset[int]:
        return self.code.live_out

    @property
    def hoisting_bound(self) -> int:
        """No schedule needs more: the registers in text order, and the results of all instructions that may
        be hoisted.
        """
        return self.bound + self.results

    @property
    def text_bound(self) -> int:
        """A bound for `text_registers` that is seldom higher."""
        found = self._text_bound
        if found is None:
            code = self._code
            found = self.text_registers if isinstance(code, RegionCode) else code.pressure()
            self._text_bound = found
        return found

    def min_registers(self, is_banked: bool) -> int:
        """The fewest registers with which the region can be scheduled (2)."""
        return max(self._profile(is_banked).live, default=len(self.live_out))

    def registers_with_hoisting(self, limit: int, is_banked: bool) -> int:
        """The registers that the region needs if loads are hoisted while at most `limit` registers are live
        (3).
        """
        known = self._hoisted.get((limit, is_banked))
        if known is None:
            known = self._hoisted[limit, is_banked] = self._hoist(limit, is_banked)
        return known

    def _hoist(self, limit: int, is_banked: bool) -> int:
        least = self.min_registers(is_banked)
        if not self.instructions or least >= limit:
            return max(least, len(self.live_out))
        profile = self._profile(is_banked)
        return max(_Hoisting(self._order, profile, self._dependence, limit).run())

    @cached_property
    def _dependence(self) -> DependenceGraph:
        return dependence_graph(self.instructions)

    @cached_property
    def _order(self) -> list[int]:
        least = _min_pressure_order(self.instructions, self._dependence, self.live_out)
        return least if self._peak(least) < self.text_registers else list(range(len(self.instructions)))

    @cached_property
    def text_registers(self) -> int:
        """The registers that the region needs in text order."""
        return self._peak(list(range(len(self.instructions))))

    def _profile(self, is_banked: bool) -> _PressureProfile:
        found = self._profiles.get(is_banked)
        if found is None:
            found = self._profiles[is_banked] = self._profile_of(self._order, is_banked)
        return found

    def _peak(self, order: list[int]) -> int:
        return max(self._profile_of(order, False).live, default=len(self.live_out))

    def _profile_of(self, order: list[int], is_banked: bool) -> _PressureProfile:
        operations, live_out = self.code
        live = set(live_out)
        around = [0] * len(order)
        sizes = [0] * len(order)
        for turn in range(len(order) - 1, -1, -1):
            step, uses, defs, partial_defs, _, _, constants = operations[order[turn]]
            peak = len(live | defs)
            live -= defs - partial_defs if partial_defs else defs
            left = len(live)
            live |= uses
            now = len(live)
            if not is_banked or step.spelling not in _SUMS:
                peak += now - left
            if step.opcode in _SEQUENCES:
                constants += _scratch(step)
            around[turn] = (peak if peak > now else now) + constants
            sizes[turn] = len(defs) - now + left
        return _PressureProfile(around, sizes)


def most_registers_named(operation: MachineInstruction) -> int:
    """No schedule needs more registers than the sum of these over a region and the registers live after it,
    as if all registers that it names were live at once.
    """
    size = len(operation.uses) + 2 * len(operation.defs)
    return size + operation.materialised_constants + _scratch(operation.instruction)


def most_registers(regions: Sequence[StraightLineRegion], is_banked: bool) -> int:
    """The most registers that any of the regions needs (`min_registers`)."""
    found = 0
    for region in sorted(regions, key=attrgetter("bound"), reverse=True):
        if region.bound <= found:
            break
        if region.text_bound > found and region.text_registers > found:
            found = max(found, region.min_registers(is_banked))
    return found


def most_registers_with_hoisting(
    regions: Sequence[StraightLineRegion], limit: int, is_banked: bool
) -> int:
    """The most registers that any of the regions needs if loads are hoisted (`registers_with_hoisting`).
    Most regions are too small to matter.
    """
    end = max(limit, most_registers(regions, is_banked))
    """Hoisting raises no region above this."""
    found = 0
    for region in sorted(regions, key=attrgetter("hoisting_bound"), reverse=True):
        if region.hoisting_bound <= found or end <= found:
            break
        if region.text_bound + region.results > found:
            found = max(found, region.registers_with_hoisting(limit, is_banked))
    return found


def _scratch(step: InstructionInfo) -> int:
    """The temporary registers of the machine code sequence that implements the instruction."""
    by_constant = any(isinstance(operand, nodes.Number) for operand in step.node.operands[2:])
    return scratch_registers(step.spelling, by_constant)


def _min_pressure_order(
    operations: Sequence[MachineInstruction], depends: DependenceGraph, live_out: frozenset[int]
) -> list[int]:
    before: list[list[int]] = [[] for _ in operations]
    behind = [len(after) for after in depends.successors]
    for number, after in enumerate(depends.successors):
        for other, _ in after:
            before[other].append(number)
    live = set(live_out)
    readers: dict[int, list[int]] = {}
    ready: list[tuple[int, int]] = []
    taken = [False] * len(operations)

    def cost(number: int) -> int:
        operation = operations[number]
        price = len(operation.uses - live)
        for word in operation.defs:
            if word in live and word not in operation.uses:
                price -= 1
        return price

    def offer(number: int) -> None:
        heappush(ready, (cost(number), -number))
        for word in operations[number].uses - live:
            readers.setdefault(word, []).append(number)

    for number in range(len(operations)):
        if not behind[number]:
            offer(number)
    order: list[int] = []
    while ready:
        price, negative = heappop(ready)
        number = -negative
        if taken[number]:
            continue
        now = cost(number)
        if now != price:
            heappush(ready, (now, negative))
            continue
        taken[number] = True
        order.append(number)
        operation = operations[number]
        live -= operation.defs - operation.partial_defs
        for word in operation.uses - live:
            live.add(word)
            for other in readers.pop(word, ()):  # they have become cheaper
                if not taken[other]:
                    heappush(ready, (cost(other), -other))
        for other in before[number]:
            behind[other] -= 1
            if not behind[other]:
                offer(other)
    order.reverse()
    return order


class _Hoisting:
    """Schedules the instructions one at a time (3)."""

    def __init__(
        self, order: list[int], profile: _PressureProfile, depends: DependenceGraph, limit: int
    ) -> None:
        self.order = order
        self.turn = [0] * len(order)
        for turn, number in enumerate(order):
            self.turn[number] = turn
        self.live = list(profile.live)
        self.sizes = profile.sizes
        self.depends = depends
        self.limit = limit
        self.waits_for = list(depends.predecessor_counts)
        self.earliest = [0] * len(order)
        self.taken = [False] * len(order)
        self.waiting = [
            (0, -depends.critical_path[number], number)
            for number in range(len(order))
            if not depends.predecessor_counts[number]
        ]
        heapify(self.waiting)
        self.ready: list[tuple[int, int]] = []

    def run(self) -> list[int]:
        """The profile of the minimal order, raised by hoisted instructions."""
        now = at = 0
        count = len(self.order)
        for _ in range(count):
            while at < count and self.taken[self.order[at]]:
                at += 1
            chosen = self.choose(at, now)
            while chosen is None:
                now = self.waiting[0][0] if self.waiting else now
                chosen = self.choose(at, now)
            now = max(now, self.earliest[chosen]) + 1
            self.take(chosen, at, now - 1)
        return self.live

    def choose(self, at: int, now: int) -> int | None:
        """The instruction to schedule next; None if waiting is better."""
        waiting, ready = self.waiting, self.ready
        while waiting and waiting[0][0] <= now:
            _, priority, number = heappop(waiting)
            heappush(ready, (priority, number))
        refused: list[tuple[int, int]] = []
        chosen = None
        while ready and len(refused) < _TRIES:
            priority, number = heappop(ready)
            if self.taken[number]:
                continue
            if self.is_free(number, at):
                chosen = number
                break
            refused.append((priority, number))
        for one in refused:
            heappush(ready, one)
        if chosen is None:
            following = self.order[at]
            is_waited_for = not refused and waiting and self.earliest[following] > now
            if is_waited_for or self.waits_for[following]:
                return None
            chosen = following
        return chosen

    def is_free(self, number: int, at: int) -> bool:
        turn = self.turn[number]
        size = self.sizes[turn]
        if turn == at or size <= 0:
            return True
        if turn - at > WINDOW or self.live[at] + size > self.limit:
            return False
        return max(self.live[at:turn]) + size <= self.limit

    def take(self, number: int, at: int, now: int) -> None:
        self.taken[number] = True
        turn = self.turn[number]
        size = self.sizes[turn]
        if turn > at and size:
            self.live[at:turn] = [live + size for live in self.live[at:turn]]
        for other, cycles in self.depends.successors[number]:
            self.earliest[other] = max(self.earliest[other], now + cycles)
            self.waits_for[other] -= 1
            if not self.waits_for[other]:
                heappush(self.waiting, (self.earliest[other], -self.depends.critical_path[other], other))
