"""The messages about deadlock: how many threads wait where, and for what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.asynchronous.mbarrier_steps import TryWait, Wait
from ptx_lsp.executor.instructions.access import Load
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.machine.control import Block, Collective, Step
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.barriers import Party

Waiting = tuple[str, Party]
"""The reason why threads wait, in words, and the threads."""


def deadlock(wave: Wave, waiting: Sequence[Waiting], *, note: str = "") -> ExecutionError:
    """Describes all waiting threads of the first block that has any, and where threads of other blocks wait.
    """
    waiting = _merged(waiting)
    lanes = np.logical_or.reduce([party.lanes for _, party in waiting])
    thread_ids = wave.thread_ids(lanes)
    row = int(np.argmax(lanes.any(axis=1)))
    counts = [np.count_nonzero(party.lanes, axis=1) for _, party in waiting]
    counted = list(zip(waiting, counts, strict=True))
    here = [_describe(one, int(count[row])) for one, count in counted if count[row]]
    elsewhere = [
        f"{int(count.sum() - count[row])} more at line {one[1].step.line}" if count[row]
        else _describe(one, int(count.sum()))
        for one, count in counted if count.sum() > count[row]
    ]
    others = f"; in other blocks, {', '.join(elsewhere)}" if elsewhere else ""
    living = int(np.count_nonzero(wave.live_mask()[row]))
    message = (
        f"deadlock in block {thread_ids[0].block}: of {living} running threads, "
        f"{', '.join(here)}{others}{note}"
    )
    return ExecutionError(message, "deadlock", waiting[0][1].step.line, thread_ids)


def _merged(waiting: Iterable[Waiting]) -> list[Waiting]:
    """Threads that wait for the same at the same instruction, together."""
    found: dict[tuple[str, int, str], Waiting] = {}
    for what, party in waiting:
        key = what, party.step.line, party.step.text
        if key in found:
            party = Party(party.step, party.onward, found[key][1].lanes | party.lanes)
        found[key] = what, party
    return list(found.values())


def _describe(waiting: Waiting, count: int) -> str:
    what, party = waiting
    return f"{count} {what} (line {party.step.line}: `{party.step.text}`)"


def held(
    blocks: Sequence[Block], wave: Wave, groups: Mapping[int, Bools | None], at: Iterable[int]
) -> Iterator[Waiting]:
    """Groups that wait for others of their warps, or at an mbarrier."""
    for block in at:
        step, lanes = blocks[block].steps[0], wave.full_mask(groups[block])
        if isinstance(step.action, TryWait):
            yield f"at {step.action.missing(wave, lanes)}", Party(step, block, lanes)
        elif isinstance(step.action, Collective):
            yield f"at {step.action.awaits(wave, lanes)}", Party(step, block, lanes)


def going_round(
    blocks: Sequence[Block], wave: Wave, went: Mapping[int, Bools], others: Iterable[Waiting]
) -> Iterator[Waiting]:
    """Threads that execute these blocks again and again, each with what it looks at in vain; without those of
    `others`.
    """
    found = [(*_looked_at(blocks[block], wave), block) for block in went]
    left = wave.live_mask()
    for _, party in others:
        left = left & ~party.lanes
    for _, what, step, block in sorted(found, key=lambda one: (one[0], one[3])):
        lanes = left & went[block]
        if lanes.any():
            left = left & ~lanes
            if isinstance(step.action, Load | Atomic):
                place = step.action.place(wave, int(np.flatnonzero(lanes)[0]))
                what = f"{what}, {place}" if place else what
            yield what, Party(step, block, lanes)


def _looked_at(block: Block, wave: Wave) -> tuple[int, str, Step]:
    """What may end the waiting, the likeliest first."""
    for step in block.steps:
        if isinstance(step.action, Wait):
            return 0, f"at {step.action.looked_at(wave)}", step
    for step in block.steps:
        if isinstance(step.action, Load | Atomic):
            return 1 if block.polls else 2, "at memory that no thread writes any more", step
    return 3, "in an endless loop", block.steps[-1]
