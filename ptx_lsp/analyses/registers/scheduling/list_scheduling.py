"""List scheduling: the registers that a straight-line region needs, depending on the order of its
instructions.

1. An order is a sequence of the instructions in which each comes after its dependences. Its *profile* is the
   register pressure around each instruction: the virtual registers that are live before it or after it,
   because a result may replace its operands. Virtual registers that are not in general registers
   (`register_files`) do not count.
2. The order of *minimal pressure* is built from the end. Each step takes the instruction that makes the
   fewest additional registers live (as in Sethi and Ullman, "The Generation of Optimal Code for Arithmetic
   Expressions", 1970). Text order replaces it if that needs fewer registers.
3. ptxas hides latency by *hoisting*. It schedules from the end: each instruction is placed when those that
   read its result have been placed for as long as its latency, the longest dependence chain first. So as many
   loads are in flight as their latency has turns of the code that reads them: 75 before a chain of FFMA, of 4
   cycles each, and 37 before a chain of DFMA or of two FFMA for each load. If the registers would exceed the
   limit, the instruction of least cost is placed at once, which is usually a load.
4. Then registers are allocated, the lowest that are free; results of several words side by side and aligned.
   Each instruction is then scheduled again, forwards this time and as early as its operands are there and its
   registers are free, the longest dependence chain first. So addresses of stores are computed while loads are
   in flight. This makes more registers live, up to those that were allocated.

The latencies were measured so, in machine code of ptxas 13.5 for sm_75 and sm_90, which agree: 300 cycles for
global memory and 45 for shared memory, 4 for FFMA and 8 for DFMA. Independent loads are all in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import add, sub

from ptx_lsp.analyses._flow import DependenceGraph, Operands
from ptx_lsp.analyses.registers.scheduling.region_code import RegionCode
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_TRIES: Final = 8
"""How many instructions that need not wait are tried."""
_TOGETHER: Final = 32

Key: TypeAlias = tuple[object, ...]
"""All that the code of a region depends on."""


class RegionSource(Protocol):
    """Where the code of a region is read."""

    @property
    def key(self) -> Key: ...
    def read(self) -> RegionCode: ...
    def dependence(self, operands: Operands) -> DependenceGraph: ...


class StraightLineRegion:
    """Machine instructions in the order of the text, and the virtual registers that are live after them.

    Most regions are too small to matter, so their code is read on demand. `bound` bounds the registers that
    the region needs in text order, besides those for `parameters`, and `results` those that it defines.
    """

    def __init__(self, bound: int, results: int, source: RegionSource) -> None:
        self.bound: Final = bound
        self.results: Final = results
        self._source: RegionSource | None = source
        """Where the rest is read; None once everything is, so that no version is kept for it."""
        self._key: Key = ()
        """That of the code, once there is no source."""
        self._code: RegionCode | None = None
        self._dependence: DependenceGraph | None = None

    def read_from(self, source: RegionSource) -> bool:
        """Whether a later version of the function has the same code. It is then read from there."""
        key = self._key if self._source is None else self._source.key
        if key != source.key:
            return False
        if self._source is not None:
            self._source = source
        return True

    @property
    def code(self) -> RegionCode:
        if self._code is None:
            assert self._source is not None
            self._code = self._source.read()
        return self._code

    @property
    def dependence(self) -> DependenceGraph:
        if self._dependence is None:
            assert self._source is not None
            self._dependence = self._source.dependence(self.code.operands)
            self._key, self._source = self._source.key, None
        return self._dependence

    @property
    def live_out(self) -> frozenset[int]:
        return self.code.live_out

    def min_registers(self, elsewhere: bytes) -> int:
        """The fewest registers with which the region can be scheduled (2)."""
        return self._scheduled(elsewhere).registers

    def registers_with_hoisting(self, limit: int, elsewhere: bytes) -> int:
        """The registers that the region needs if loads are hoisted while at most `limit` registers are live
        (3).
        """
        found = self._scheduled(elsewhere)
        known = found.hoisted.get(limit)
        if known is None:
            known = found.hoisted[limit] = self._hoist(found, limit)
        return known

    def _hoist(self, found: _Scheduled, limit: int) -> int:
        if not found.order or found.registers >= limit:
            return found.registers
        code = self.code
        operands, counted = code.operands, found.is_counted
        order = operands.hoisted(self.dependence, code.additional, counted, limit, _TRIES)
        most = operands.reordered(self.dependence, code.additional, counted, order)
        return max(found.registers, min(most, limit))

    def _scheduled(self, elsewhere: bytes) -> _Scheduled:
        """The order of minimal pressure, by the virtual registers that count."""
        is_counted = self.code.operands.counted(elsewhere)
        found = self._orders.get(is_counted)
        if found is None:
            found = self._orders[is_counted] = self._schedule(is_counted)
        return found

    def _schedule(self, is_counted: bytes) -> _Scheduled:
        code = self.code
        live_out = sum(is_counted[: len(self.live_out)])

        def scheduled(order: list[int]) -> _Scheduled:
            registers = max([live_out, *code.profile(order, is_counted).live])
            return _Scheduled(order, is_counted, registers, {})

        least = scheduled(code.operands.min_pressure_order(self.dependence, is_counted))
        of_text = scheduled(code.text_order)
        return least if least.registers < of_text.registers else of_text

    def text_registers(self, elsewhere: bytes) -> int:
        """The registers that the region needs in text order."""
        code = self.code
        live = code.profile(code.text_order, code.operands.counted(elsewhere)).live
        return max(live, default=len(self.live_out))

    @cached_property
    def _orders(self) -> dict[bytes, _Scheduled]:
        return {}


class Regions(Protocol):
    """The regions of a function, with the bound, results and parameters of each."""

    @property
    def bounds(self) -> Sequence[int]: ...

    @property
    def live(self) -> Sequence[int]:
        """The number of virtual registers that are live after each region."""
        ...

    @property
    def results(self) -> Sequence[int]: ...

    @property
    def parameters(self) -> Sequence[tuple[int, ...]]:
        """The parameters that a region reads, or that are live all the time."""
        ...

    def live_after(self, elsewhere: bytes) -> list[int]:
        """The number of virtual registers that are live after each region, without those elsewhere."""
        ...

    def closer_bounds(self, places: Sequence[int], elsewhere: bytes) -> list[tuple[int, int, int]]:
        """The pressure of some regions, and bounds for the registers that each needs in text order and in any
        order (`MachineCode.registers`), besides those for `parameters`.
        """
        ...

    def __getitem__(self, index: int, /) -> StraightLineRegion: ...


class _Scheduled(NamedTuple):
    """An order of a region, with the registers that it needs, and those that hoisting needs by its limit."""

    order: list[int]
    is_counted: bytes
    registers: int
    hoisted: dict[int, int]


def most_registers(regions: Regions, elsewhere: bytes) -> int:
    """The most registers that any of the regions needs (`min_registers`)."""
    live = regions.live_after(elsewhere)
    found = max(live, default=0)
    loaded = _loaded(regions.parameters, elsewhere)
    bounds = [*map(add, _bounds(regions, live), loaded)]
    above = _above(found, bounds)
    for index, (_, in_text_order, _) in _closer_bounds(regions, above, elsewhere):
        if bounds[index] <= found:
            break
        more = loaded[index]
        if in_text_order + more > found and (
            not more or regions[index].text_registers(elsewhere) > found
        ):
            found = max(found, regions[index].min_registers(elsewhere))
    return found


def most_registers_with_hoisting(
    regions: Regions, limit: int, elsewhere: bytes, least: int
) -> int:
    """The most registers that any of the regions needs if loads are hoisted (`registers_with_hoisting`);
    `least` is `most_registers`. Most regions are too small to matter: none needs more than in text order and
    for the results of all instructions that may be hoisted.
    """
    end = max(limit, least)
    """Hoisting raises no region above this."""
    found = least
    loaded = _loaded(regions.parameters, elsewhere)
    own = _bounds(regions, regions.live_after(elsewhere))
    bounds = [*map(add, map(add, own, regions.results), loaded)]
    above = _above(least, bounds) if least < end else []
    for index, (pressure, _, in_any_order) in _closer_bounds(regions, above, elsewhere):
        if bounds[index] <= found or end <= found:
            break
        if min(pressure + regions.results[index], in_any_order) + loaded[index] > found:
            found = max(found, regions[index].registers_with_hoisting(limit, elsewhere))
    return found


def _bounds(regions: Regions, live: list[int]) -> Iterator[int]:
    """The bounds of the regions, with so many virtual registers live after each."""
    return map(add, map(sub, regions.bounds, regions.live), live)


def _closer_bounds(
    regions: Regions, places: list[int], elsewhere: bytes
) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """The closer bounds of the regions at some places: of a few at once, because not all are needed."""
    for at in range(0, len(places), _TOGETHER):
        some = places[at : at + _TOGETHER]
        yield from zip(some, regions.closer_bounds(some, elsewhere), strict=True)


def _above(least: int, bounds: list[int]) -> list[int]:
    """The places of the bounds above `least`, highest first; of equal ones in order."""
    found = [place for place, bound in enumerate(bounds) if bound > least]
    return sorted(found, key=bounds.__getitem__, reverse=True)


def _loaded(parameters: Sequence[tuple[int, ...]], elsewhere: bytes) -> list[int]:
    """How many of the parameters of each region are in general registers. All blocks of a loop have the same.
    """
    size = len(elsewhere)
    counts: dict[int, int] = {}
    found: list[int] = []
    for words in parameters:
        if not words:
            found.append(0)
            continue
        count = counts.get(id(words))
        if count is None:
            count = counts[id(words)] = sum([word >= size or not elsewhere[word] for word in words])
        found.append(count)
    return found
