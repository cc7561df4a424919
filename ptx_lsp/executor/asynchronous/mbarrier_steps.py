"""The `mbarrier` instructions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.asynchronous.cluster import peers
from ptx_lsp.executor.asynchronous.mbarrier import Barriers, Words, pending_of, phase_of
from ptx_lsp.executor.asynchronous.pending import pending
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    Indices,
    Threads,
    by_name,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.observer import CurrentStep, Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_Effect = Callable[[Barriers, Threads, Indices, dict[str, Array]], Array | None]
"""From the places of mbarriers and the other operands to the result."""


class Mbarrier:
    """An instruction on the mbarriers at an address of each thread."""

    use: Use = "update"

    def __init__(
        self, spaces: Spaces, space: Space, address: Program, names: tuple[str, ...], values: Program,
        effect: _Effect, destination: int | None,
    ) -> None:
        """`names` are those of the other operands, which `values` computes."""
        self._spaces = spaces
        self._space: Space = space
        self._address = address
        self._names, self._values = names, values
        self._effect = effect
        self._destination = destination

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        at = self.places(row)
        operands = dict(zip(self._names, row.compute(self._values), strict=True))
        if "mask" in operands:  # to the same place in each block of the cluster that the mask names
            which, places = peers(row, at * 8, operands["mask"])
            at, row = places // 8, Threads(wave, row.mask, row.lanes[which])
            operands = {name: value[which] for name, value in operands.items()}
            if not at.size:
                return
        with naming_threads(row):
            result = self._effect(pending(wave).barriers, row, at, operands)
        if self._destination is not None and result is not None:
            row.write(self._destination, result)

    def places(self, row: Threads) -> Indices:
        """The positions of the mbarriers, in units of 8 bytes."""
        addresses = row.compute(self._address)[0]
        return shared_offsets(self._spaces, row, addresses, self._space, 8, self.use) >> 3


class Wait(Mbarrier):
    """`mbarrier.test_wait`"""

    use: Use = "read"
    failed: int | None = None
    report: int | None = None

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row, found = threads(wave, mask), pending(wave)
        at = self._quiet_places(row)  # `super().run` tells observers, after what the threads wait for
        with naming_threads(row):
            if found.is_impatient or wave.gives_up():
                found.is_impatient = False
                at = at[self._is_complete(row, at)]
            found.wait_barriers(np.unique(at))
        super().run(wave, mask)
        if self.failed is not None:
            phases = _phases(dict(zip(self._names, row.compute(self._values), strict=True)))
            row.write(self.failed, pending(wave).barriers.has_failed(self.places(row), phases))
        if self.report is not None:  # a report of copies says no more than that
            row.write(self.report, np.zeros(row.count, np.uint8))

    def _is_complete(self, row: Threads, at: Indices) -> Bools:
        """For each thread, whether the phase is complete now."""
        operands = dict(zip(self._names, row.compute(self._values), strict=True))
        done = self._effect(pending(row.wave).barriers, row, at, operands)
        assert done is not None
        return np.asarray(done, np.bool_)

    def _quiet_places(self, row: Threads) -> Indices:
        """The positions; observers are not told that threads look there."""
        current = CurrentStep.of(row.wave)
        step, current.step = current.step, None
        try:
            with naming_threads(row):
                return self.places(row)
        finally:
            current.step = step

    def looked_at(self, wave: Wave) -> str:
        """The mbarrier that threads last polled without success."""
        barriers = pending(wave).barriers
        return barriers.describe(barriers.looked_at, wave.shared.shape[1])


class TryWait(Wait):
    """`mbarrier.try_wait`: the machine lets others run until the phase is complete."""

    def incomplete(self, wave: Wave, mask: Bools | None) -> Bools | None:
        """The lanes whose phase is not complete; None if there are none."""
        row = threads(wave, mask)
        at = self._quiet_places(row)  # they only look: observers are told when they go on
        with naming_threads(row):
            pending(wave).wait_barriers(np.unique(at))
            done = self._is_complete(row, at)
        return None if done.all() else row.subset(~done).mask

    def missing(self, wave: Wave, mask: Bools) -> str:
        """The condition that the first of these lanes waits for."""
        at = self.places(threads(wave, mask))
        return pending(wave).barriers.describe(int(at[0]), wave.shared.shape[1])


class Count:
    """`mbarrier.pending_count`"""

    def __init__(self, state: Program, destination: int | None) -> None:
        self._state = state
        self._destination = destination

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if self._destination is not None:
            row.write(self._destination, pending_of(row.compute(self._state)[0].astype(np.uint64)))


def mbarrier(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of an instruction whose opcode is `mbarrier`."""
    name = match.entry.name.removeprefix("mbarrier.")
    modifiers = match.candidate.choices.modifiers
    given = by_name(node, match)
    first = given.get("state") if "arrive" in name else given.get("p") or given.get("count")
    if name == "pending_count":
        state = sources([(given["state"], TYPES[".u64"])], operands)
        return Count(state, operands.number(given["count"]))
    shared = any(one.startswith(".shared") for one in modifiers)
    space, address = pointer(given["addr"], ".shared" if shared else "", operands)
    names = tuple(one for one in given if one in _WIDTHS and (one != "state" or "wait" in name))
    values = sources([(_counted(given[one]), TYPES[_WIDTHS[one]]) for one in names], operands)
    pair = first if isinstance(first, nodes.Pair) else None
    target = pair.left if pair is not None else first
    writes = target is not None and name not in ("init", "inval") and "none" not in given
    made = TryWait if name.startswith("try_wait") else Wait if "wait" in name else Mbarrier
    action = made(
        spaces, space, address, names, values, _effect(name, modifiers),
        operands.number(target) if writes and target is not None else None,
    )
    if name == "init":
        action.use = "write"
    if isinstance(action, Wait):
        report = given.get("report")
        action.failed = operands.number(pair.right) if pair is not None else None
        action.report = operands.number(report) if isinstance(report, nodes.Name) else None
    return action


_WIDTHS = {
    "count": ".u32", "bytes": ".u32", "mask": ".u32", "state": ".u64", "odd": ".u32",
    "number": ".u32",
}


def _counted(operand: nodes.Expression) -> nodes.Expression:
    """A vector stands for its first element."""
    return operand.items[0] if isinstance(operand, nodes.Vector) else operand


def _effect(name: str, modifiers: frozenset[str]) -> _Effect:
    opcode, _, rest = name.partition(".")
    layout = int(".layout::v1" in modifiers)

    def make(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> None:
        all.make(at, given["count"].astype(np.int64), layout)

    def end(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> None:
        all.end(at)

    def expect(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> None:
        all.expect(at, given["bytes"].astype(np.int64))

    def complete(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> None:
        all.complete_bytes(at, given["bytes"].astype(np.int64))

    def arrive(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> Array:
        counts = given.get("count", np.ones(at.shape, np.int64)).astype(np.int64)
        expected = given["bytes"].astype(np.int64) if rest == "expect_tx" else None
        return all.arrive(
            at, counts, expected, drop=opcode == "arrive_drop", complete=".noComplete" not in modifiers
        )

    def wait(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> Array:
        conditional = ".phase_type::conditional" in modifiers
        return all.is_complete(at, _phases(given), conditional=conditional)

    def check(all: Barriers, row: Threads, at: Indices, given: dict[str, Array]) -> Array:
        return all.has_layout(at, layout)

    effects: dict[str, _Effect] = {
        "init": make, "inval": end, "expect_tx": expect, "complete_tx": complete, "arrive": arrive,
        "arrive_drop": arrive, "test_wait": wait, "try_wait": wait, "check_layout": check,
    }
    return effects[opcode]


def _phases(given: dict[str, Array]) -> Words:
    """The numbers of the phases that are waited for, modulo 2."""
    if "state" in given:
        return phase_of(given["state"].astype(np.uint64))
    number = given["odd"] if "odd" in given else given["number"]
    return number.astype(np.uint64) & np.uint64(1)


@contextmanager
def naming_threads(row: Threads) -> Generator[None]:
    """Names the affected threads in errors about an mbarrier."""
    try:
        yield
    except ExecutionError as error:
        if error.lanes:
            raise
        raise row.error(str(error), error.kind) from None
