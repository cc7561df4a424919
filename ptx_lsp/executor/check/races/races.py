"""Races between threads in shared and global memory.

1. An access is *strong* that is atomic, `.volatile`, or has `.relaxed`, `.acquire`, `.release` or `.acq_rel`;
   others are weak, and so is the initialisation of an mbarrier. Which strong accesses are strong for each
   other: see `strong_kinds.py`.
2. Two accesses of two threads to a byte, one of which writes, and which are not both strong for each other,
   are a race where neither happens before the other (`VectorClocks`), unless the first is a strong write that
   a strong read has observed which happens before the second. `cp.async` writes when it begins: what reads
   too early is found by `UninitializedMemory`.
3. Bulk and tensor copies, and asynchronous stores that complete on an mbarrier, are separate acts: they begin
   after everything that their thread knows then. No thread knows of them before they are complete, not even
   their own. Their reductions are strong. What threads have written and a copy reads, as data or as its
   tensor map, must be fenced (`proxies.py`).
4. Weak writes of what an earlier one has written, and those of one instruction that all write the same, are
   one write by several threads (`Rewrites`). Without an order they are a benign race.
5. `ld.global.nc` may not read what the launch has written, however it is ordered.
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.concurrent_uses import (
    Cells,
    ConcurrentUses,
    Pairs,
    Words,
    thread_of,
    time_of,
    use_words,
)
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.knowledge import READ, WRITE
from ptx_lsp.executor.check.races.memory_order import (
    Proxy,
    is_atomic,
    is_bulk,
    is_strong,
    proxies,
    scope,
)
from ptx_lsp.executor.check.races.proxies import ProxyFences
from ptx_lsp.executor.check.races.race_report import RaceReport
from ptx_lsp.executor.check.races.released import Threads
from ptx_lsp.executor.check.races.strong_kinds import Accesses, kind_of, may_differ
from ptx_lsp.executor.check.rewrites import Rewrites
from ptx_lsp.executor.check.shadow import Shadow, Shadows
from ptx_lsp.executor.check.shadow_access import MemoryUse, alike, element_size, unchanged
from ptx_lsp.executor.check.synchronization import Synchronization
from ptx_lsp.executor.instrumentation.used_bytes import used_parts
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.tensor_map_fields import SIZE as TENSOR_MAP_SIZE
from ptx_lsp.executor.machine.wave import Wave


class Races(Observer):
    """Checks races as defined above."""

    def __init__(self, report: RaceReport, synchronization: Synchronization) -> None:
        self._report = report
        self._usages = report.usages
        self._synchronization = synchronization
        self._shadows = Shadows()
        self._writing: list[MemoryUse] = []
        self._accesses = Accesses()
        self._proxy_fences = ProxyFences()
        self._began: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """When asynchronous operations began."""
        self._commits: WeakSet[object] = WeakSet()
        """Those that signal operations on Tensor Memory."""
        self._is_commit = False

    @property
    def order(self) -> VectorClocks:
        return self._synchronization.order

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._writing = []
        usage = self._usages.of(step)
        self._is_commit = ".commit" in usage.modifiers
        fenced = proxies(usage)
        if fenced:
            threads = self.order.threads(wave, np.flatnonzero(wave.full_mask(active)))
            for one in fenced:
                self._proxy_fences.fence(self.order, threads, one)

    def began(self, wave: Wave, operation: object) -> None:
        self._began[operation] = self.order.now
        if self._is_commit:
            self._commits.add(operation)

    def completed(
        self, wave: Wave, operation: object, lanes: Threads, barriers: Cells | None, *, is_read: bool
    ) -> None:
        threads, time = self.order.threads(wave, lanes), self._began[operation]
        self.order.copies(threads, WRITE)
        if barriers is None:
            self.order.complete(threads, time, is_read=is_read)
            return
        shadow = self._shadows.of_shared(wave, 8)
        places, inverse = np.unique(shadow.cells(barriers, 8)[:, 0], return_inverse=True)
        numbers = self.order.complete_at(
            threads, time, shadow.locations(places), inverse, is_commit=operation in self._commits
        )
        shadow.set_locations(places, numbers)

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        shadow = self._shadows.of(wave, access)
        if shadow is None or access.use == "land" or access.lanes.size == 0:
            return
        usage = self._usages.of(step)
        elements = element_size(usage, access)
        for part in used_parts(usage, access):
            self._used(wave, step, part, shadow, elements)

    def _used(self, wave: Wave, step: Step, access: MemoryEvent, shadow: Shadow, elements: int) -> None:
        """Uses bytes of a memory."""
        usage = self._usages.of(step)
        actors = threads = self.order.threads(wave, access.lanes)
        begins = access.by == "thread" and is_bulk(usage)
        if access.by == "copy":
            threads = self.order.copies(actors, READ if access.use == "read" else WRITE)
            shadow.has_copies = True
        strong = (access.use == "update" and is_atomic(usage)) or is_strong(usage)
        use = MemoryUse(
            access, threads, actors, shadow.cells(access.offsets, access.size), shadow,
            access.use != "read", strong, scope(usage), elements,
        )
        floor = self._floor(wave, access, shadow)
        if begins:  # what the instruction itself uses: its mbarrier, its tensor map
            self._against_write(wave, step, use, floor)
            if access.use == "read" and access.size == TENSOR_MAP_SIZE:
                self._fenced(wave, step, use, "tensormap")
            return
        if use.writes and not strong and access.by == "thread" and shadow.newest_write > floor:
            use = replace(use, same=unchanged(wave, step, use))
        if strong and access.by == "thread":
            self._synchronization.acquire(use, usage)
        if ".nc" in usage.modifiers:
            self._against_all_writes(wave, step, use)
        if access.by == "copy" and not use.writes:
            self._fenced(wave, step, use, ".shared" if access.space == ".shared" else ".global")
        self._compare(wave, step, use, floor)
        if strong and use.writes and access.by == "thread":
            self._synchronization.release(use, usage)
        self._record(step, use)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        """Lanes that wrote different things to one place with this instruction, or atomically, but not for
        each other's scope.
        """
        for use in self._writing:
            if use.strong:
                last = np.zeros(use.shadow.count, np.int64)
                last[use.cells] = use.users
                others = last[use.cells]
                lost = (others != use.users) & (self.order.distance(use.users, others) > use.scope)
            else:
                others = thread_of(use.shadow.written()[use.cells])
                lost = others != use.users
                if not lost.any():
                    continue
                if (same := alike(wave, step, use)) is not None:
                    again = lost & same if use.same is None else lost & same & ~use.same
                    self._rewritten(step, use, again)
                    if self._report.has_benign:
                        self._tell_benign(wave, step, use, again, others, step.line)
                    lost = ~same
            differ: Bools = np.asarray(lost.any(axis=1), np.bool_)
            if differ.any():
                first = int(np.flatnonzero(differ)[0])
                here = (use.cells == use.cells[first][lost[first]][0]).any(axis=1)
                others = use.threads[here & (use.threads != use.threads[first])]
                self._report.race(wave, step, use, differ, step.line, int(others[-1]), "written")
        self._writing = []

    def _floor(self, wave: Wave, access: MemoryEvent, shadow: Shadow) -> int:
        """The time up to which all users of a memory know what has been done there."""
        if access.space != ".shared" or wave.launch.cluster_blocks > 1 or shadow.has_copies:
            return 0
        return self.order.floor(wave)

    # -- comparisons ----------------------------------------------------------------------------

    def _compare(self, wave: Wave, step: Step, use: MemoryUse, floor: int) -> None:
        """Sentence 2."""
        shadow = use.shadow
        kind = kind_of(use.scope, use.elements)
        if use.strong and use.access.by == "thread":
            shadow.strong_kinds.add(kind)
        self._against_write(wave, step, use, floor)
        self._against(wave, step, use, shadow.strong_writes, kind, floor, "written")
        if use.writes:
            if shadow.rewrites is not None:
                self._against_rewrites(wave, step, use, shadow.rewrites)
            self._against(wave, step, use, shadow.strong_reads, kind, floor, "read")
            self._against(wave, step, use, shadow.reads, -1, floor, "read")

    def _against_write(self, wave: Wave, step: Step, use: MemoryUse, floor: int) -> None:
        shadow = use.shadow
        if shadow.write is None or shadow.newest_write <= floor:
            return
        words = shadow.write[use.cells]
        suspect = (words != 0) & (thread_of(words) != use.actors[:, None])
        if use.same is not None:
            if self._report.has_benign:
                self._benign(wave, step, use, suspect & use.same, words)
            suspect &= ~use.same
        if use.access.by == "copy":
            suspect &= (thread_of(words) != use.users) | (time_of(words) < self.order.now)
        if not suspect.any():
            return
        rows, columns = np.nonzero(suspect)
        words = words[rows, columns]
        users, others, times = use.actors[rows], thread_of(words), time_of(words)
        known = self.order.happens_before(users, others, times)
        if not use.writes and shadow.rewrites is not None and not known.all():
            left = np.flatnonzero(~known)
            at = use.cells[rows[left], columns[left]]
            known[left] = shadow.rewrites.known(self.order, at, users[left], times[left])
        if not known.all():
            bad = ~known
            self._tell(wave, step, use, Pairs(rows[bad], columns[bad], others[bad], times[bad]), "written")

    def _benign(self, wave: Wave, step: Step, use: MemoryUse, suspect: Bools, words: Words) -> None:
        """Writes of what is there, against the last one."""
        rows, columns = np.nonzero(suspect)
        found = words[rows, columns]
        known = self.order.happens_before(use.actors[rows], thread_of(found), time_of(found))
        suspect[rows[known], columns[known]] = False
        if not known.all():
            line = int(self._accesses.lines(time_of(found[~known][:1]))[0])
            self._tell_benign(wave, step, use, suspect, thread_of(words), line)

    def _tell_benign(
        self, wave: Wave, step: Step, use: MemoryUse, cells: Bools, others: Threads, line: int
    ) -> None:
        lanes: Bools = np.asarray(cells.any(axis=1), np.bool_)
        if lanes.any():
            self._report.benign(wave, step, use, lanes, line, int(others[cells][0]))

    def _against(
        self, wave: Wave, step: Step, use: MemoryUse, uses: ConcurrentUses, kind: int, floor: int, done: str
    ) -> None:
        """A use against those of one kind; `kind` is that of strong accesses, -1 for weak ones."""
        uses.forget(floor)
        if uses.newest <= floor:
            return
        is_strong_too = use.strong and kind >= 0
        if is_strong_too and not may_differ(use.shadow.strong_kinds):
            return
        for pairs in uses.unordered(self.order, use.cells, use.actors):
            suspect = np.ones(pairs.rows.shape, np.bool_)
            if use.same is not None:
                suspect &= ~use.same[pairs.rows, pairs.columns]
            if use.access.by == "copy":
                suspect &= (pairs.others != use.threads[pairs.rows]) | (pairs.times < self.order.now)
            if is_strong_too:
                suspect &= self._accesses.not_for_each_other(
                    self.order, kind, use.actors[pairs.rows], pairs.others, pairs.times
                )
            if uses is use.shadow.strong_writes and suspect.any():
                suspect[suspect] = ~self._observed(use, Pairs(*(one[suspect] for one in pairs)))
            if suspect.any():
                self._tell(wave, step, use, Pairs(*(one[suspect] for one in pairs)), done)
        if use.writes and not use.strong and use.same is None and use.access.by == "thread":
            uses.drop(use.cells)

    def _observed(self, use: MemoryUse, pairs: Pairs) -> Bools:
        """Whether the strong writes of pairs come before the use, because they have been observed."""
        shadow = use.shadow
        return self._accesses.observed(
            self.order, (shadow.strong_reads, shadow.strong_writes), use.cells[pairs.rows, pairs.columns],
            use.actors[pairs.rows], pairs.others, pairs.times,
        )

    def _against_rewrites(self, wave: Wave, step: Step, use: MemoryUse, rewrites: Rewrites) -> None:
        """A write that changes something, against all that wrote what stood there."""
        times = time_of(use.shadow.written()[use.cells])
        changed = times > 0
        if use.same is not None:
            changed &= ~use.same
        rows, columns = np.nonzero(changed)
        at, since = use.cells[rows, columns], times[rows, columns]
        for bad, others, line in rewrites.unknown(self.order, at, use.actors[rows], since):
            lanes = np.zeros(use.threads.shape, np.bool_)
            lanes[rows[bad]] = True
            self._report.race(wave, step, use, lanes, line, int(others[0]), "written")

    def _fenced(self, wave: Wave, step: Step, use: MemoryUse, proxy: Proxy) -> None:
        """The end of sentence 3."""
        words = [] if use.shadow.write is None else [use.shadow.write[use.cells]]
        words += use.shadow.strong_writes.last(self.order, use.cells)
        for one in words:
            others, times = thread_of(one), time_of(one)
            rows, columns = np.nonzero((one != 0) & ~self.order.is_copy(others))
            known = self.order.happens_before(
                use.actors[rows], others[rows, columns], times[rows, columns]
            )  # all others are in a race
            rows, columns = rows[known], columns[known]
            if not rows.size:
                continue
            others, times = others[rows, columns], times[rows, columns]
            found = self._proxy_fences.between(self.order, others, times, use.actors[rows], proxy)
            if not found.all():
                bad = int(np.flatnonzero(~found)[0])
                lanes = np.zeros(use.threads.shape, np.bool_)
                lanes[rows[~found]] = True
                line = int(self._accesses.lines(times[bad : bad + 1])[0])
                self._report.missing_fence(wave, step, use, lanes, line, int(others[bad]), proxy)

    def _against_all_writes(self, wave: Wave, step: Step, use: MemoryUse) -> None:
        """Sentence 5."""
        words = [] if use.shadow.write is None else [use.shadow.write[use.cells]]
        for one in words + use.shadow.strong_writes.last(self.order, use.cells):
            wrong: Bools = np.asarray((one != 0).any(axis=1), np.bool_)
            if wrong.any():
                other = one[one != 0][:1]
                line = int(self._accesses.lines(time_of(other))[0])
                self._report.incoherent(wave, step, use, wrong, line, int(thread_of(other)[0]))
                return

    def _tell(self, wave: Wave, step: Step, use: MemoryUse, pairs: Pairs, done: str) -> None:
        lines = self._accesses.lines(pairs.times)
        for line in np.unique(lines).tolist():
            here = lines == line
            lanes = np.zeros(use.threads.shape, np.bool_)
            lanes[pairs.rows[here]] = True
            self._report.race(wave, step, use, lanes, line, int(pairs.others[here][0]), done)

    # -- records --------------------------------------------------------------------------------

    def _record(self, step: Step, use: MemoryUse) -> None:
        now, shadow = self.order.now, use.shadow
        self._accesses.note(
            now, step.line, kind_of(use.scope, use.elements) if use.strong else 0,
            observes=use.strong and use.access.use != "write",
        )
        if use.strong:
            uses = shadow.strong_writes if use.writes else shadow.strong_reads
            uses.add(self.order, use.cells, use.threads, now)
            if use.writes and may_differ({kind_of(use.scope, use.elements)}):
                self._writing.append(use)
            return
        if not use.writes:
            shadow.reads.add(self.order, use.cells, use.threads, now)
            return
        words = np.broadcast_to(use_words(use.threads, now)[:, None], use.cells.shape)
        if use.same is None:
            shadow.written()[use.cells] = words
        else:
            shadow.written()[use.cells[~use.same]] = words[~use.same]
            self._rewritten(step, use, use.same)
        shadow.newest_write = now
        self._writing.append(use)

    def _rewritten(self, step: Step, use: MemoryUse, where: Bools) -> None:
        if where.any():
            if use.shadow.rewrites is None:
                use.shadow.rewrites = Rewrites()
            use.shadow.rewrites.add(use.cells[where], use.users[where], self.order.now, step.line)
