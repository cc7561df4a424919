"""Execution and memory statistics of a kernel: `Profile`.

1. An *issue* is one warp that executes one instruction, with some of its lanes; lanes whose guard is false
   are not among them. Divergence is the lanes active of those that the issuing warps have (living ones).
2. A *transaction* is a sector of 32 bytes of global, constant or local memory that a warp touches with one
   instruction; the least that the bytes need is their number over 32. Local memory is counted as hardware
   interleaves it: 4-byte words of the 32 lanes side by side.
3. Shared memory has 32 banks of 4 bytes. An access takes as many passes as the busiest bank has different
   words (accesses of 8 or 16 bytes go by halves or quarters of the warp); what is more than the least is a
   *conflict*.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Indices, MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave

SECTOR = 32
BANKS = 32
_WORD = 4


@dataclass
class LineProfile:
    """The figures of a line of PTX, over the whole launch."""

    line: int
    text: str
    opcode: str
    source: str = ""
    issues: int = 0
    lanes: int = 0
    possible_lanes: int = 0
    sectors: int = 0
    bytes: int = 0
    passes: int = 0
    conflicts: int = 0
    atomics: int = 0

    @property
    def active_percent(self) -> float:
        """Lanes active of those of the issuing warps, in percent."""
        return 100 * self.lanes / self.possible_lanes if self.possible_lanes else 0.0


@dataclass
class Profile(Observer):
    """Accumulates the observed events. `lines` by line, `opcodes` executed thread-instructions by spelling.
    """

    lines: dict[int, LineProfile] = field(default_factory=dict[int, LineProfile])
    opcodes: dict[str, int] = field(default_factory=dict[str, int])
    _usages: Usages = field(default_factory=Usages)

    @property
    def instructions(self) -> int:
        """Thread-instructions executed."""
        return sum(one.lanes for one in self.lines.values())

    @property
    def issues(self) -> int:
        return sum(one.issues for one in self.lines.values())

    @property
    def active_percent(self) -> float:
        """Lanes active of those of the issuing warps, in percent, over all instructions."""
        possible = sum(one.possible_lanes for one in self.lines.values())
        return 100 * self.instructions / possible if possible else 0.0

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if step.source is None:
            return
        line = self._line(step)
        mask = wave.full_mask(active)
        warps = mask.reshape(-1, WARP_SIZE).any(axis=1)
        lanes = int(np.count_nonzero(mask))
        line.issues += int(np.count_nonzero(warps))
        line.lanes += lanes
        living = wave.live_mask().reshape(-1, WARP_SIZE)
        line.possible_lanes += int(np.count_nonzero(living[warps]))
        spelling = step.source.node.opcode.text
        self.opcodes[spelling] = self.opcodes.get(spelling, 0) + lanes

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if access.use == "land" or access.space == ".param":
            return
        line = self._line(step)
        if access.use == "update":
            line.atomics += access.lanes.size
        if access.space == ".shared":
            passes, least = _passes(access)
            line.passes += passes
            line.conflicts += passes - least
            return
        line.bytes += access.lanes.size * access.size
        line.sectors += _sectors(wave, access)

    def _line(self, step: Step) -> LineProfile:
        if step.line not in self.lines:
            usage = self._usages.of(step)
            source = str(usage.source) if usage.source else ""
            self.lines[step.line] = LineProfile(step.line, step.text, usage.opcode, source)
        return self.lines[step.line]


def _sectors(wave: Wave, access: MemoryEvent) -> int:
    """Different sectors, warp by warp (sentence 2)."""
    warps = access.lanes // WARP_SIZE
    offsets = access.offsets
    base = access.buffer.base if access.buffer is not None else 0
    if access.space == ".local":
        row = wave.local.shape[1]
        words = offsets % row // _WORD
        offsets = (words * WARP_SIZE + access.lanes % WARP_SIZE) * _WORD
        base = 0
    count = max(1, access.size // SECTOR + 1)
    first = (offsets + base) // SECTOR
    last = (offsets + base + access.size - 1) // SECTOR
    keys = [np.minimum(first + at, last) for at in range(count)]
    return _different(np.tile(warps, count), np.concatenate(keys))


def _different(groups: Indices, values: Indices) -> int:
    """How many different values there are in each group, all groups together."""
    order = np.lexsort((values, groups))
    groups, values = groups[order], values[order]
    new = np.ones(groups.shape, np.bool_)
    new[1:] = (groups[1:] != groups[:-1]) | (values[1:] != values[:-1])
    return int(np.count_nonzero(new))


def _passes(access: MemoryEvent) -> tuple[int, int]:
    """The passes that shared memory needs, and the least there could be (sentence 3)."""
    parts = max(1, access.size // _WORD)
    groups = access.lanes // max(1, WARP_SIZE // parts)
    words = access.offsets[:, None] // _WORD + np.arange(parts)
    groups = np.broadcast_to(groups[:, None], words.shape).reshape(-1)
    words = words.reshape(-1)
    order = np.lexsort((words, groups))
    groups, words = groups[order], words[order]
    new = np.ones(groups.shape, np.bool_)
    new[1:] = (groups[1:] != groups[:-1]) | (words[1:] != words[:-1])
    names, number = np.unique(groups[new], return_inverse=True)
    busy = np.zeros((names.size, BANKS), np.int64)
    np.add.at(busy, (number, words[new] % BANKS), 1)
    return int(busy.max(axis=1).sum()), names.size
