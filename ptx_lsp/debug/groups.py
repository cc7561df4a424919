"""Where threads are while a run stands: the lanes of a warp that are together, and their calls.

A group is what the debug adapter protocol calls a thread. Its number names the first of its lanes, so that it
is the same whenever that lane is the first of a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ptx_lsp.debug.goals import Moment
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.executor.decoding.call_stack import CallStack
from ptx_lsp.executor.machine.control import Block, Provenance, Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Dimensions, index
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.machine import Machine
from ptx_lsp.executor.scheduling.scheduler import Position
from ptx_lsp.model.directives.source_line import SourceLine, source_line


class Frame(NamedTuple):
    """A function that is being executed, and the line where it stands. `source` has its names; None at the
    end of the text.
    """

    function: str
    line: int
    source: Provenance | None
    original: SourceLine | None
    """The line of CUDA or another language, by `.loc`."""


@dataclass(frozen=True, eq=False)
class Group:
    """Lanes of one warp that are together at `step`: `lanes` are their numbers in the warp."""

    wave: Wave
    row: int
    warp: int
    lanes: tuple[int, ...]
    step: Step
    waits: str = ""
    was_reached: bool = True
    """Whether goals have seen the lanes at the step."""

    @property
    def block(self) -> int:
        return int(self.wave.blocks[self.row, 0])

    @property
    def number(self) -> int:
        return number_of(self.first, self.wave)

    @property
    def first(self) -> Lane:
        return Lane(self.block, self.warp * WARP_SIZE + self.lanes[0])

    @property
    def flat(self) -> int:
        """The number of its first lane in the wave."""
        return self.row * self.wave.shape[1] + self.warp * WARP_SIZE + self.lanes[0]

    def __contains__(self, lane: Lane) -> bool:
        warp, within = divmod(lane.thread, WARP_SIZE)
        return lane.block == self.block and warp == self.warp and within in self.lanes

    @property
    def name(self) -> str:
        """As in `block 0,0,0 warp 3 [##..]`."""
        x, y, z = index(self.block, self.wave.launch.grid)
        return f"block {x},{y},{z} warp {self.warp} {self.mask}"

    @property
    def mask(self) -> str:
        """As in `[##..]`."""
        return self.mask_of(self.lanes)

    def mask_of(self, lanes: tuple[int, ...]) -> str:
        """The mask of some lanes of its warp."""
        count = min(WARP_SIZE, self.wave.launch.threads - self.warp * WARP_SIZE)
        return f"[{mask_text([lane in lanes for lane in range(count)])}]"


def number_of(lane: Lane, wave: Wave) -> int:
    """The number of the group whose first lane this is."""
    return 1 + lane.block * wave.launch.lanes + lane.thread


def mask_text(lanes: list[bool]) -> str:
    """A mask as text, the first lane first."""
    return "".join("#" if one else "." for one in lanes)


def groups(machine: Machine, moment: Moment | None) -> Iterator[Group]:
    """The groups of all blocks that have begun; first those whose instruction is about to be executed."""
    if moment is not None:
        yield from _of(moment.wave, Position(moment.step, moment.wave.full_mask(moment.arrived), "", True))
    for scheduler in machine.schedulers:
        for position in scheduler.positions():
            yield from _of(scheduler.wave, position)


def _of(wave: Wave, position: Position) -> Iterator[Group]:
    lanes = position.lanes & wave.exists
    for row in np.flatnonzero(lanes.any(axis=1)).tolist():
        warps = lanes[row].reshape(-1, WARP_SIZE)
        for warp in np.flatnonzero(warps.any(axis=1)).tolist():
            there = tuple(np.flatnonzero(warps[warp]).tolist())
            yield Group(wave, row, warp, there, position.step, position.waits, position.was_reached)



def frames(group: Group, blocks: tuple[Block, ...]) -> list[Frame]:
    """The calls of a group, the innermost first."""
    return frames_of(group.step, returns(group), blocks)


def returns(group: Group) -> list[int]:
    """The blocks at which the functions that have called those of a group go on, the innermost first."""
    stack = CallStack.existing(group.wave)
    return [] if stack is None else stack.returns(group.flat)


class Call(NamedTuple):
    """The innermost frame of a thread, and how deep it is: how many functions are called, and how many are
    inlined in the last of them.
    """

    frame: Frame
    depth: tuple[int, int]


def call_of(group: Group) -> Call:
    """The call in which a group is."""
    stack = CallStack.existing(group.wave)
    inlined = list(_inlined(group.step))
    return Call(inlined[0], (0 if stack is None else stack.depth(group.flat), len(inlined)))


def frames_of(step: Step, returns: list[int], blocks: tuple[Block, ...]) -> list[Frame]:
    """The calls of lanes that are at a step, the innermost first."""
    return [*_inlined(step), *(one for onward in returns for one in _inlined(blocks[onward].steps[0]))]


def _inlined(step: Step) -> Iterator[Frame]:
    """The frames of a step: its function's, and those into which that is inlined."""
    source = step.source
    if source is None:
        yield Frame("", step.line, None, None)
        return
    yield Frame(source.function.name, step.line, source, source_line(source.function, source.node))
    while (caller := source.caller) is not None:
        function = caller.function
        span = function.module.span(function.place(caller.node))
        line = function.module.document.source.line_of(span.start) + 1
        yield Frame(function.name, line, caller, source_line(function, caller.node))
        source = caller


def row_of(wave: Wave, block: int) -> int | None:
    """Where in a wave a block of the grid is."""
    rows = np.flatnonzero(wave.blocks[:, 0] == block)
    return int(rows[0]) if rows.size else None


def call_at(moment: Moment, lane: Lane) -> Call | None:
    """The call in which a thread has reached an instruction; None if it has not."""
    row = row_of(moment.wave, lane.block)
    if row is None or (moment.arrived is not None and not moment.arrived[row, lane.thread]):
        return None
    warp, within = divmod(lane.thread, WARP_SIZE)
    return call_of(Group(moment.wave, row, warp, (within,), moment.step))


def has_ended(moment: Moment, lane: Lane) -> bool:
    """Whether a thread has exited."""
    row = row_of(moment.wave, lane.block)
    return row is not None and not moment.wave.live_mask()[row, lane.thread]


def first_lane(moment: Moment) -> Lane:
    """The first thread that has reached an instruction."""
    lanes = np.flatnonzero(moment.wave.full_mask(moment.arrived))
    return lane_at(moment.wave, int(lanes[0]) if lanes.size else 0)


def number_at(index: Dimensions, sizes: Dimensions) -> int:
    """The number of a block in a grid, or of a thread in a block."""
    x, y, z = index
    return (z * sizes[1] + y) * sizes[0] + x


def lane_at(wave: Wave, flat: int) -> Lane:
    """The thread that a lane of a wave is."""
    row, thread = divmod(flat, wave.shape[1])
    return Lane(int(wave.blocks[row, 0]), thread)
