"""Uses of Tensor Memory that are not ordered (PTX ISA, "Memory Consistency Model for 5th generation of
TensorCore operations").

1. A load or store is complete when its warp has executed `tcgen05.wait::ld` or `tcgen05.wait::st`. What comes
   after it in other threads must be ordered after that (`VectorClocks`). The lanes of a warp count as one
   thread.
2. An operation (`mma`, `cp`, `shift`) is complete for the threads that know the phase of the mbarrier that
   its `tcgen05.commit` completes. Operations come in the order in which they were begun, by one thread or in
   the order of threads; loads, stores and `dealloc` must know that it is complete.
3. Two uses of a cell, one of which writes, that are not ordered so are a finding. Two stores of a warp are
   ordered. What a later write has covered counts no longer.
4. Between threads, `tcgen05.fence::before_thread_sync` must come before the synchronisation, save after a
   `tcgen05.commit`, and `tcgen05.fence::after_thread_sync` between it and a load, store or operation.
   Triton leaves them out, so a missing one is a note.
5. A load, or an `mma` that adds D, of columns of which nothing has ever been written is a finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, lane_of, thread_at, warp_at
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.knowledge import TENSOR
from ptx_lsp.executor.check.races.released import Threads
from ptx_lsp.executor.check.synchronization import Synchronization
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer, TensorUse
from ptx_lsp.executor.machine.wave import Wave

_ACCESSES = (".ld", ".st")
_BEFORE, _AFTER = ".fence::before_thread_sync", ".fence::after_thread_sync"
_KNOWN_AS = {".ld": "tcgen05.wait::ld", ".st": "tcgen05.wait::st"}


@dataclass(eq=False)
class _Record:
    """A use of Tensor Memory by `threads`, at a time. `what` is ".ld", ".st", "" for an operation."""

    use: TensorUse
    what: str
    threads: Threads
    time: int
    line: int
    text: str
    done: int = 0
    """When its warp has waited, or its thread has committed it; 0 for not yet."""
    fenced: int = 0
    """The first fence of its threads before the synchronisation."""
    seen: set[int] = field(default_factory=set[int])
    """The threads that have executed a fence after the synchronisation, and knew that it was complete."""
    seen_begun: set[int] = field(default_factory=set[int])
    """Those that knew that it had begun."""

    def meets(self, other: TensorUse) -> bool:
        mine = self.use
        return (
            mine.block == other.block and bool(mine.groups & other.groups)
            and mine.first < other.first + other.count and other.first < mine.first + mine.count
        )

    def is_covered(self, other: TensorUse) -> bool:
        mine = self.use
        return (
            mine.block == other.block and mine.groups | other.groups == other.groups
            and other.first <= mine.first and mine.first + mine.count <= other.first + other.count
        )

    def columns(self) -> str:
        last = self.use.first + self.use.count - 1
        return f"columns {self.use.first} to {last}" if self.use.count > 1 else f"column {last}"


class TensorAccesses(Observer):
    """Checks uses of Tensor Memory as defined above."""

    def __init__(self, findings: Findings, synchronization: Synchronization) -> None:
        self._findings = findings
        self._synchronization = synchronization
        self._records: WeakKeyDictionary[Wave, list[_Record]] = WeakKeyDictionary()
        self._written: WeakKeyDictionary[Wave, dict[int, Bools]] = WeakKeyDictionary()
        """By block: which groups of lanes by columns hold something."""
        self._unfenced: set[int] = set()
        """The lines that a missing fence has been reported for."""

    @property
    def order(self) -> VectorClocks:
        return self._synchronization.order

    def concerns(self, step: Step) -> bool:
        return self._findings.usages.of(step).opcode == "tcgen05"

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        if wave not in self._records:
            return
        records, modifiers = self._records[wave], self._findings.usages.of(step).modifiers
        threads = self.order.threads(wave, np.flatnonzero(wave.full_mask(active)))
        here = frozenset(threads.tolist())
        if ".commit" in modifiers:
            self._done([one for one in records if not one.what], here)
        elif waits := {".wait::ld", ".wait::st"} & modifiers:
            what = f".{waits.pop().rpartition(':')[2]}"
            self._done([one for one in records if one.what == what], here)
        elif _BEFORE in modifiers:
            for one in records:
                is_mine = not here.isdisjoint(one.threads.tolist())
                if is_mine and not one.fenced and (one.done or not one.what):
                    one.fenced = self.order.now
        elif _AFTER in modifiers:
            for one in records:
                knows = self._knows(threads, one)
                one.seen.update(threads[knows].tolist())
                if not one.what:
                    one.seen_begun.update(threads[knows | self._follows(threads, one, one.time)].tolist())

    def used_tensor_memory(self, wave: Wave, step: Step, uses: Sequence[TensorUse]) -> None:
        modifiers = self._findings.usages.of(step).modifiers
        what = next((one for one in _ACCESSES if one in modifiers), "")
        gives_back = ".dealloc" in modifiers
        text = step.source.node.opcode.text if step.source is not None else ""
        records = self._records.setdefault(wave, [])
        new: list[_Record] = []
        for use in uses:
            lanes = np.arange(use.lane, use.lane + (WARP_SIZE if what or gives_back else 1))
            record = _Record(use, what, self.order.threads(wave, lanes), self.order.now, step.line, text)
            self._check(wave, step, records, record, gives_back=gives_back)
            self._check_written(wave, step, use, is_load=what == ".ld", gives_back=gives_back)
            new.append(record)
        for one in new:
            covered = [old for old in records if old.is_covered(one.use) and self._is_replaced(old, one)]
            if covered:
                records[:] = [old for old in records if old not in covered]
        if not gives_back:
            records += new

    def _is_replaced(self, old: _Record, new: _Record) -> bool:
        same = old.what == new.what and int(old.threads[0]) == int(new.threads[0])
        return new.use.writes or (same and not old.use.writes)

    def _done(self, records: list[_Record], threads: frozenset[int]) -> None:
        for one in records:
            if not one.done and int(one.threads[0]) in threads:
                one.done = self.order.now

    # -- order ------------------------------------------------------------------------------------

    def _knows(self, threads: Threads, record: _Record) -> Bools:
        """Which threads know that a use is complete."""
        if not record.done:
            return np.zeros(threads.shape, np.bool_)
        if not record.what:
            others = self.order.copies(record.threads, TENSOR)
            return self.order.happens_before(
                threads, np.repeat(others, threads.size), np.full(threads.shape, record.done)
            )
        return self._follows(threads, record, record.done)

    def _follows(self, threads: Threads, record: _Record, time: int) -> Bools:
        """Which threads are ordered after what the threads of a use had done at a time."""
        count = record.threads.size
        found = self.order.happens_before(
            np.repeat(threads, count), np.tile(record.threads, threads.size),
            np.full(threads.size * count, time),
        )
        return np.asarray(found.reshape(-1, count).any(axis=1), np.bool_)

    def _check(
        self, wave: Wave, step: Step, records: list[_Record], new: _Record, *, gives_back: bool
    ) -> None:
        fences: list[tuple[_Record, str]] = []
        for old in records:
            if not (old.use.writes or new.use.writes) or not old.meets(new.use):
                continue
            is_own = int(old.threads[0]) // WARP_SIZE == int(new.threads[0]) // WARP_SIZE
            is_operation = not (new.what or gives_back)
            if is_own and old.what == ".st" == new.what:
                continue
            knows = bool(self._knows(new.threads, old).any())
            is_pipelined = not old.what and is_operation and not knows
            if is_pipelined:
                is_ordered = is_own or bool(self._follows(new.threads, old, old.time).any())
            else:
                is_ordered = knows or (is_own and old.done > 0 and bool(old.what))
            if not is_ordered:
                self._report(wave, step, old, new)
                return
            if gives_back or (is_own and (old.what or is_operation)):
                continue
            if (old.what or is_pipelined) and not (
                old.fenced and self._follows(new.threads, old, old.fenced).any()
            ):
                fences.append((old, _BEFORE))
            if (old.seen_begun if is_pipelined else old.seen).isdisjoint(new.threads.tolist()):
                fences.append((old, _AFTER))
        if fences and step.line not in self._unfenced:
            self._unfenced.add(step.line)
            self._report_fence(wave, step, *fences[0], new)

    def _report(self, wave: Wave, step: Step, old: _Record, new: _Record) -> None:
        does = "writes" if new.use.writes else "reads"
        did = "writes" if old.use.writes else "reads"
        user = _user(wave, new.use, new.threads.size)
        where = f"{user} {does} {old.columns()} of Tensor Memory, which `{old.text}` in line {old.line} {did}"
        if not old.what and not old.done:
            thread = lane_of(wave.launch, int(old.threads[0])).thread
            why = f"thread {thread} has not committed it with `tcgen05.commit`"
        elif not old.what:
            waits = thread_at(wave, new.use.lane)
            why = f"{waits} has not waited for its `tcgen05.commit`, nor for a thread that has"
        elif not old.done:
            warp = int(old.threads[0]) % wave.launch.lanes // WARP_SIZE
            why = f"warp {warp} has not waited with `{_KNOWN_AS[old.what]}`"
        else:
            lane = lane_of(wave.launch, int(old.threads[0]))
            self._add(
                wave, step, new, "race", f"{where}, by the warp of block {lane.block}, thread"
                f" {lane.thread}, without synchronization", old,
            )
            return
        self._add(wave, step, new, "tcgen05-not-waited", f"{where}: {why}", old)

    def _report_fence(self, wave: Wave, step: Step, old: _Record, fence: str, new: _Record) -> None:
        place = (
            "after it, before its threads synchronize with this one" if fence == _BEFORE
            else "between the synchronization and this instruction"
        )
        self._add(
            wave, step, new, "missing-tcgen05-fence",
            f"{_user(wave, new.use, new.threads.size)} uses {old.columns()} of Tensor Memory, which"
            f" `{old.text}` in line {old.line} uses: there is no `tcgen05{fence}` {place}", old,
        )

    def _add(self, wave: Wave, step: Step, new: _Record, kind: str, message: str, old: _Record) -> None:
        lanes = np.arange(new.use.lane, new.use.lane + new.threads.size)
        self._findings.add(
            kind, message, wave, step, lanes, other_line=old.line,
            other_lane=lane_of(wave.launch, int(old.threads[0])),
        )

    # -- initialisation ---------------------------------------------------------------------------

    def _check_written(
        self, wave: Wave, step: Step, use: TensorUse, *, is_load: bool, gives_back: bool
    ) -> None:
        """Item 5."""
        blocks = self._written.setdefault(wave, {})
        written = blocks.setdefault(use.block, np.zeros((8, 512), np.bool_))
        groups = np.array([bool(use.groups >> at & 1) for at in range(8)])
        part = np.ix_(groups, np.arange(use.first, use.first + use.count))
        if use.reads and (is_load or use.name == "D") and not written[part].any():
            lanes = np.arange(use.lane, use.lane + (WARP_SIZE if is_load else 1))
            last = use.first + use.count - 1
            self._findings.add(
                "uninitialized-memory", f"{_user(wave, use, lanes.size)} reads columns {use.first} to {last}"
                " of Tensor Memory, which nothing has written", wave, step, lanes,
            )
        if use.writes:
            written[part] = not gives_back


def _user(wave: Wave, use: TensorUse, threads: int) -> str:
    """The warp or the thread of a use by so many threads, for messages; of an operation also the matrix."""
    if threads > 1:
        return warp_at(wave, use.lane)
    thread = thread_at(wave, use.lane)
    return f"{use.name} of {thread}" if use.name else thread
