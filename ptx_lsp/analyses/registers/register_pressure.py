"""Register pressure of PTX as written: the 32-bit units that its registers need at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache

from ptx_lsp.analyses.control_flow.block_identity import BlockIdentity, block_identities
from ptx_lsp.analyses.dataflow.liveness import LiveAtEnd, Liveness, liveness
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.facts import GenerationalCache, Previous, fact, incremental_fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_FLAGS: Final = 32
_UNITS: Final = (1 << _FLAGS) - 1


class Pressure:
    """The units at each instruction; at the peak, the instruction and the live registers."""

    def __init__(self, liveness: Liveness, units: tuple[int, ...], predicates: int) -> None:
        self.liveness: Final = liveness
        self.units: Final = units
        """The pressure in 32-bit units, by instruction; 0 if it is unreachable."""
        self.predicates: Final = predicates
        """The most predicates that are live at once."""

    @cached_property
    def peak(self) -> int:
        return max(self.units, default=0)

    @cached_property
    def peak_instruction(self) -> int | None:
        """The first instruction at the peak; None for a function without instructions."""
        return self.units.index(self.peak) if self.units else None

    @cached_property
    def live_at_peak(self) -> tuple[Register, ...]:
        """The registers that are live around the peak, the widest first."""
        if self.peak_instruction is None:
            return ()
        flow = self.liveness.instructions
        step = flow.instructions[self.peak_instruction]
        before = self.liveness.before(step.number)
        after = self.liveness.after(step.number) | set(step.defs)
        sizes = {one: _count((flow.registers[one],))[0] for one in before | after}
        totals = [sum(sizes[one] for one in live) for live in (before, after)]
        larger = before if totals[0] >= totals[1] else after
        ordered = sorted(larger, key=lambda one: (-sizes[one], one))
        return tuple(flow.registers[one] for one in ordered)

    def across(self, instructions: Collection[int]) -> int:
        """The most units of registers that are live before and after one of these instructions."""
        live, registers = self.liveness, self.liveness.instructions.registers
        found = 0
        for block in {live.cfg.block_of[number] for number in instructions} & live.cfg.reached:
            for step, after in live.backward(block):
                if step.number in instructions:
                    kept = [one for one in after if one not in step.defs]
                    found = max(found, _count([registers[one] for one in kept])[0])
        return found


@fact
def register_pressure(function: Function) -> Pressure:
    """The register pressure along `function`."""
    live = liveness(function)
    weights = _Weights(live.instructions)
    known, content = _memory(function), block_identities(function).blocks
    units = [0] * len(live.instructions.kinds)
    predicates = 0
    for number in live.cfg.reverse_postorder:
        block = live.cfg.blocks[number]
        key = content[number], live.live_at_end(number)
        found = known.get(key) or known.put(key, _of_block(live, number, weights))
        units[block.first : block.end] = found.units
        predicates = max(predicates, found.predicates)
    return Pressure(live, tuple(units), predicates)


class _BlockPressure(NamedTuple):
    units: list[int]
    predicates: int


_Memory: TypeAlias = GenerationalCache[tuple[BlockIdentity, LiveAtEnd], _BlockPressure]
"""Cached results, by the instructions of a block and the registers live after it."""


@incremental_fact
def _memory(_: Function, earlier: Previous[_Memory] | None) -> _Memory:
    return GenerationalCache(earlier.value if earlier else None)


class _Weights(dict[int, int]):
    """The units of each register, and from bit `_FLAGS` on the number of predicates, found on demand."""

    def __init__(self, flow: FunctionInstructions) -> None:
        super().__init__()
        self._flow = flow

    def __missing__(self, index: int) -> int:
        flow = self._flow
        register = flow.register(index) if index in flow.used else flow.registers[index]
        units, flags = _count((register,))
        found = self[index] = units + (flags << _FLAGS)
        return found


def _of_block(live: Liveness, block: int, weights: _Weights) -> _BlockPressure:
    flow = live.instructions
    now = set(live.live_out[block])
    total = most = sum([weights[one] for one in now])
    units: list[int] = []
    for number in reversed(live.cfg.blocks[block].instructions):
        after = total
        for one in dict.fromkeys(flow.defs[number]):
            if one not in now:
                after += weights[one]
        kills, guard = live.kills[number], flow.guards[number]
        for one in kills:
            if one in now:
                total -= weights[one]
        for one in {*flow.uses[number], guard} if guard >= 0 else set(flow.uses[number]):
            if one not in now or one in kills:
                total += weights[one]
        units.append(max(after & _UNITS, total & _UNITS))
        most = max(most, after, total)  # the predicates decide
        live.step_back(block, number, now)
    return _BlockPressure(units[::-1], most >> _FLAGS if units else 0)


def _count(registers: Iterable[Register]) -> tuple[int, int]:
    """The units of some registers, and how many of them are predicates."""
    units = flags = 0
    for register in registers:
        if register.type == ".pred":
            flags += 1
        else:
            units += _units(register.type, register.vector)
    return units, flags


@lru_cache(maxsize=256)
def _units(type: str, vector: int) -> int:
    found = TYPES.get(type)
    if type == ".pred":
        return 0
    return vector * -(-found.width // 32) if found is not None else vector
