"""Which registers the steps of a kernel read and write, and which live from one block to another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptx_lsp.executor.decoding.call_stack import Enter, Return
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.instructions.warp import Warp
from ptx_lsp.executor.machine.control import (
    Action,
    Barrier,
    Block,
    ClusterBarrier,
    Control,
    Jump,
    Leave,
    Nothing,
    Step,
    TableJump,
    successors,
)


def reads(step: Step) -> set[int] | None:
    """The registers that a step reads; None where they are not known."""
    found = _read(step.action)
    return found if found is None or step.guard < 0 else found | {step.guard}


def writes(step: Step) -> set[int]:
    """The registers that a step gives values, as far as they are known."""
    match step.action:
        case Compute(destinations=numbers):
            return set(numbers)
        case Load() | Atomic() | Warp() as action:
            return {number for number in action.destinations if number is not None}
        case _:
            return set()


def live_at_starts(blocks: Sequence[Block]) -> list[set[int]] | None:
    """For each block the registers whose values may be read before they are given others; None where that is
    not known, as with calls.
    """
    edges = [successors(block.steps, number + 1) for number, block in enumerate(blocks)]
    used: list[set[int]] = []
    given: list[set[int]] = []
    for block in blocks:
        before: set[int] = set()
        always: set[int] = set()
        for step in block.steps:
            read = reads(step)
            if read is None:
                return None
            before |= read - always
            if step.guard < 0:
                always |= writes(step)
        used.append(before)
        given.append(always)
    live = [set(one) for one in used]
    leads: list[list[int]] = [[] for _ in blocks]
    for number, targets in enumerate(edges):
        for target in targets:
            if target < len(blocks):
                leads[target].append(number)
    waiting = list(range(len(blocks)))
    while waiting:
        number = waiting.pop()
        for source in leads[number]:
            more = live[number] - given[source] - live[source]
            if more:
                live[source] |= more
                waiting.append(source)
    return live


def live_before(blocks: Sequence[Block], starts: Sequence[set[int]], number: int, at: int) -> set[int]:
    """The registers whose values may be read after a point in a block, from those of all `starts`."""
    steps = blocks[number].steps
    following = (starts[one] for one in successors(steps, number + 1) if one < len(blocks))
    live = {one for found in following for one in found}
    for step in reversed(steps[at:]):
        if step.guard < 0:
            live -= writes(step)
        live |= reads(step) or set()
    return live


def global_registers(blocks: Sequence[Block], all_of_them: Iterable[int]) -> set[int]:
    """The registers that live from one block to another."""
    live = live_at_starts(blocks)
    return set(all_of_them) if live is None else {number for one in live for number in one}


def _read(action: Action | Control) -> set[int] | None:
    match action:
        case Enter() | Return():
            return None
        case Compute(program=program):
            return program.reads
        case Load(address=address):
            return address.reads
        case Store(address=address, values=values):
            return address.reads | values.reads
        case Atomic(address=address, operands=operands):
            return address.reads | operands.reads
        case Barrier(operands=operands):
            return operands.reads
        case Warp(operands=operands, members=members):
            return operands.reads | (members.reads if members is not None else set())
        case TableJump(index=index):
            return index.reads
        case Nothing() | Jump() | Leave() | ClusterBarrier():
            return set()
        case _:
            return None
