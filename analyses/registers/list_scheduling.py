"""List scheduling: the registers that a straight-line region needs, depending on the order of its
instructions.

1. An order is a sequence of the instructions in which each comes after its dependences. Its *profile* is the
   register pressure around each instruction: the virtual registers that are live before it, or after it
   together with those that it reads, because a result seldom replaces its operands. Addresses count on
   targets where an addition can read their base from the constant bank (`is_banked`).
2. The order of *minimal pressure* is built from the end. Each step takes the instruction that makes the
   fewest additional registers live (as in Sethi and Ullman, "The Generation of Optimal Code for Arithmetic
   Expressions", 1970). Text order replaces it if that needs fewer registers.
3. ptxas hides latency by *hoisting*. It schedules from the end: each instruction is placed when those that
   read its result have been placed for as long as its latency, the longest dependence chain first. So as many
   loads are in flight as their latency has turns of the code that reads them: 75 before a chain of FFMA, of 4
   cycles each, and 37 before a chain of DFMA or of two FFMA for each load. If the registers would exceed the
   limit, the instruction of least cost is placed at once, which is usually a load.

The latencies were measured so, in machine code of ptxas 13.5 for sm_75 and sm_90, which agree: 300 cycles for
global memory and 45 for shared memory, 4 for FFMA and 8 for DFMA. Independent loads are all in flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final, Protocol, TypeAlias

from analyses.registers.region_code import PressureProfile, RegionCode

_TRIES: Final = 8
"""How many instructions that need not wait are tried."""

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
        self._code: RegionCode | RegionSource = source
        self._key: Key = ()
        """That of the code, once it is read."""
        self._text_bound: int | None = None

    def read_from(self, source: RegionSource) -> bool:
        """Whether a later version of the function has the same code. It is then read from there, so that no
        version is kept for it.
        """
        code = self._code
        if (self._key if isinstance(code, RegionCode) else code.key) != source.key:
            return False
        if not isinstance(code, RegionCode):
            self._code = source
        return True

    @property
    def code(self) -> RegionCode:
        code = self._code
        if not isinstance(code, RegionCode):
            self._key = code.key
            code = self._code = code.read()
        return code

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
        if not self._order or least >= limit:
            return max(least, len(self.live_out))
        code = self.code
        is_folded = code.is_sum if is_banked else bytes(len(code.is_sum))
        found = code.operands.hoisted(code.dependence, code.additional, is_folded, limit, _TRIES)
        return max(least, min(found, limit))

    @cached_property
    def _order(self) -> list[int]:
        least = self.code.operands.min_pressure_order(self.code.dependence)
        return least if self._peak(least) < self.text_registers else self.code.text_order

    @cached_property
    def text_registers(self) -> int:
        """The registers that the region needs in text order."""
        return self._peak(self.code.text_order)

    @cached_property
    def _profiles(self) -> dict[bool, PressureProfile]:
        return {}

    @cached_property
    def _hoisted(self) -> dict[tuple[int, bool], int]:
        return {}

    def _profile(self, is_banked: bool) -> PressureProfile:
        found = self._profiles.get(is_banked)
        if found is None:
            found = self._profiles[is_banked] = self.code.profile(self._order, is_banked)
        return found

    def _peak(self, order: list[int]) -> int:
        return max(self.code.profile(order, False).live, default=len(self.live_out))


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
