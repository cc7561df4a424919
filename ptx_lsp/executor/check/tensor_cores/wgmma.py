"""Registers of `wgmma.mma_async` (PTX ISA, "wgmma.fence" and "wgmma.wait_group").

1. D is not to be read or written, and A not to be written, until the warp has waited for the group of the
   product. Products go on with a D in flight.
2. A register of D or A that a warp has read or written must be fenced with `wgmma.fence` before a product
   uses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, warp_at
from ptx_lsp.executor.instrumentation.usage import Named, Usage
from ptx_lsp.executor.machine.control import Block, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave

Numbers = npt.NDArray[np.int64]

_LANDED = -1


@dataclass(eq=False)
class _Warps:
    """The state of the registers of the warps of a wave (registers by warps)."""

    touched: Bools
    """Read or written since the last fence."""
    group: Numbers
    """The group of the product in flight that has it; -1 for none."""
    is_sum: Bools
    """Whether that has it for D."""
    line: Numbers
    """The line of that product."""
    committed: Numbers
    """How many groups each warp has committed."""


class WarpgroupRegisters(Observer):
    """Checks registers as defined above."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._numbers: dict[int, int] = {}
        """The registers of all products, numbered."""
        self._warps: WeakKeyDictionary[Wave, _Warps] = WeakKeyDictionary()

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        steps = [step for block in blocks for step in block.steps]
        for usage in map(self._findings.usages.of, steps):
            if _is_product(usage):
                for one in (*_operand(usage, "d"), *_operand(usage, "a")):
                    self._numbers.setdefault(one.number, len(self._numbers))

    def concerns(self, step: Step) -> bool:
        usage = self._findings.usages.of(step)
        is_used = any(one.number in self._numbers for one in (*usage.reads, *usage.writes))
        return is_used or (bool(self._numbers) and usage.opcode == "wgmma")

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        is_group = usage.opcode == "wgmma"
        reads, writes = self._here(usage.reads), self._here(usage.writes)
        state = self._state(wave)
        warps = np.flatnonzero(wave.full_mask(active).reshape(-1, WARP_SIZE).any(axis=1))
        if _is_product(usage):
            self._multiply(wave, step, usage, state, warps)
        elif not is_group:
            self._access(wave, step, state, warps, reads, writes)
        elif ".fence" in usage.modifiers:
            state.touched[:, warps] = False
        elif ".commit_group" in usage.modifiers:
            state.committed[warps] += 1
        else:
            landed = state.group[:, warps] < state.committed[warps] - _newest(step)
            state.group[:, warps] = np.where(landed, _LANDED, state.group[:, warps])

    def _state(self, wave: Wave) -> _Warps:
        found = self._warps.get(wave)
        if found is None:
            warps = wave.shape[0] * wave.shape[1] // WARP_SIZE
            shape = len(self._numbers), warps
            found = self._warps[wave] = _Warps(
                np.ones(shape, np.bool_), np.full(shape, _LANDED), np.zeros(shape, np.bool_),
                np.zeros(shape, np.int64), np.zeros(warps, np.int64),
            )
        return found

    def _here(self, registers: tuple[Named, ...]) -> Numbers:
        found = {self._numbers[one.number] for one in registers if one.number in self._numbers}
        return np.array(sorted(found), np.int64)

    def _access(
        self, wave: Wave, step: Step, state: _Warps, warps: Numbers, reads: Numbers, writes: Numbers
    ) -> None:
        for registers, is_write in ((reads, False), (writes, True)):
            if not registers.size:
                continue
            part = np.ix_(registers, warps)
            state.touched[part] = True
            flying = state.group[part] != _LANDED
            if not is_write:
                flying &= state.is_sum[part]
            if flying.any():
                at = np.argwhere(flying)[0]
                does = "writes" if is_write else "reads"
                line = int(state.line[registers[at[0]], warps[at[1]]])
                lanes = _lanes(warps[flying.any(axis=0)])
                self._findings.add(
                    "wgmma-not-waited", f"{warp_at(wave, lanes[0])} {does} a register that `wgmma.mma_async`"
                    f" in line {line} uses, and has not waited for it with `wgmma.wait_group`", wave, step,
                    lanes, other_line=line,
                )

    def _multiply(self, wave: Wave, step: Step, usage: Usage, state: _Warps, warps: Numbers) -> None:
        sums, factors = self._here(_operand(usage, "d")), self._here(_operand(usage, "a"))
        every = np.concatenate([sums, factors])
        part = np.ix_(every, warps)
        unfenced = state.touched[part]
        if unfenced.any():
            state.touched[part] = False
            lanes = _lanes(warps[unfenced.any(axis=0)])
            self._findings.add(
                "missing-wgmma-fence", f"{warp_at(wave, lanes[0])} has read or written registers of this"
                " instruction without a `wgmma.fence` after that", wave, step, lanes,
            )
        state.group[part] = state.committed[warps]
        state.line[part] = step.line
        state.is_sum[np.ix_(factors, warps)] = False
        state.is_sum[np.ix_(sums, warps)] = True


def _is_product(usage: Usage) -> bool:
    return usage.opcode == "wgmma" and ".mma_async" in usage.modifiers


def _operand(usage: Usage, name: str) -> tuple[Named, ...]:
    """The registers of an operand."""
    places = usage.match.places if usage.match is not None else ()
    return next((
        registers for (place, _), registers in zip(places, usage.operands, strict=False) if place.name == name
    ), ())


def _newest(step: Step) -> int:
    """How many groups a `wgmma.wait_group` leaves."""
    found = constant(step.source.node.operands[0]) if step.source is not None else 0
    return int(found or 0)


def _lanes(warps: Numbers) -> Numbers:
    return (warps[:, None] * WARP_SIZE + np.arange(WARP_SIZE)).reshape(-1)
