"""Races between threads in shared and global memory: they hold for this launch and this schedule.

1. An access is *strong* that is atomic, `.volatile`, or has `.relaxed`, `.acquire`, `.release` or `.acq_rel`;
   others are weak. Strong accesses of scope `.cta` are weak for other blocks. Those of different sizes that
   overlap count as strong for each other, which is more than the manual promises.
2. Two accesses of two threads to a byte, one of which writes and one of which is weak, are a race where
   neither happens before the other (`Order`). `cp.async` writes when it begins: what reads too early is found
   by `UninitializedMemory`.
3. Bulk and tensor copies, and asynchronous stores that complete on an mbarrier, are separate acts: they begin
   after everything that their thread knows then. No thread knows of them before they are complete, not even
   their own. Their reductions are strong. What a copy reads that threads have written is to be fenced with
   `fence.proxy.async`; here any such fence in between counts, of any thread.
4. Of each byte the last write, the last strong write, the last two reads and the last strong read are kept,
   so a race with an access longer ago may go unseen.
5. Weak writes of what an earlier one has written, and those of one instruction that all write the same, are
   one write by several threads (`Rewrites`).
"""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings, lane_of
from ptx_lsp.executor.check.races.happens_before import Threads, VectorClocks
from ptx_lsp.executor.check.races.memory_order import is_bulk, is_proxy_fence, is_strong
from ptx_lsp.executor.check.rewrites import Rewrites
from ptx_lsp.executor.check.shadow import Cells, Shadow, Slot
from ptx_lsp.executor.check.shadow_access import MemoryUse, alike, unchanged
from ptx_lsp.executor.check.synchronization import Synchronization
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.memory import Buffer
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave

_AGAINST: dict[tuple[bool, bool], tuple[Slot, ...]] = {
    # (writes, strong): the slots with which it may be in a race
    (False, False): ("write", "strong write"),
    (False, True): ("write",),
    (True, False): ("write", "strong write", "read", "earlier read", "strong read"),
    (True, True): ("write", "read", "earlier read"),
}
_STRONG_SLOTS: tuple[Slot, ...] = ("strong write", "strong read")


class Races(Observer):
    """Checks races as defined above."""

    def __init__(
        self, findings: Findings, variables: Variables, synchronization: Synchronization
    ) -> None:
        self._findings = findings
        self._synchronization = synchronization
        self._variables = variables
        self._shared: WeakKeyDictionary[Wave, Shadow] = WeakKeyDictionary()
        self._global: dict[int, tuple[Buffer, Shadow]] = {}
        self._writing: list[MemoryUse] = []
        self._proxy_fence = 0
        """When there was a fence between the proxies last."""
        self._began: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """When asynchronous operations began."""

    @property
    def order(self) -> VectorClocks:
        return self._synchronization.order

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._writing = []
        if is_proxy_fence(self._findings.usages.of(step)):
            self._proxy_fence = self.order.now

    def began(self, wave: Wave, operation: object) -> None:
        self._began[operation] = self.order.now

    def completed(
        self, wave: Wave, operation: object, lanes: Threads, barriers: Cells | None, *, is_read: bool
    ) -> None:
        threads, time = self.order.threads(wave, lanes), self._began[operation]
        self.order.copies(threads, writes=True)
        if barriers is None:
            self.order.complete(threads, time, is_read=is_read)
            return
        shadow = self._shared_shadow(wave, 8)
        places, inverse = np.unique(shadow.cells(barriers, 8)[:, 0], return_inverse=True)
        numbers = self.order.complete_at(threads, time, shadow.locations(places), inverse)
        shadow.set_locations(places, numbers)

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        shadow = self._shadow(wave, access)
        usage = self._findings.usages.of(step)
        if shadow is None or access.use == "land" or access.lanes.size == 0:
            return
        actors = threads = self.order.threads(wave, access.lanes)
        if access.by == "copy":
            threads = self.order.copies(actors, writes=access.use != "read")
        elif is_bulk(usage):
            return
        strong = access.use == "update" or is_strong(usage)
        use = MemoryUse(
            access, threads, actors, shadow.cells(access.offsets, access.size), shadow,
            access.use != "read", strong, strong and ".cta" in usage.modifiers,
        )
        if use.writes and not strong and access.by == "thread":
            use = replace(use, same=unchanged(wave, step, use))
        if strong and access.by == "thread":
            self._synchronization.acquire(use, usage)
        if access.by == "copy" and not use.writes:
            self._fenced(wave, step, use)
        for slot in dict.fromkeys((*_AGAINST[use.writes, strong], *_STRONG_SLOTS)):
            self._compare(wave, step, use, slot)
        if use.writes and use.shadow.rewrites is not None:
            self._compare_all(wave, step, use, use.shadow.rewrites)
        if strong and use.writes and access.by == "thread":
            self._synchronization.release(use, usage)
        self._record(step, use)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        """Lanes that wrote different things to one place with this instruction, or atomically, but for
        different blocks.
        """
        for use in self._writing:
            uses = use.shadow.slot(use.writing)
            lost = uses.thread[use.cells] != use.users
            if use.strong:
                others = uses.thread[use.cells].astype(np.int64)
                lost &= self.order.block(use.users) != self.order.block(others)
            elif not lost.any():
                continue
            elif (same := alike(wave, step, use)) is not None:
                self._rewritten(step, use, lost & same if use.same is None else lost & same & ~use.same)
                lost = ~same
            differ: Bools = np.asarray(lost.any(axis=1), np.bool_)
            if differ.any():
                first = int(np.flatnonzero(differ)[0])
                here = (use.cells == use.cells[first][lost[first]][0]).any(axis=1)
                others = use.threads[here & (use.threads != use.threads[first])]
                self._report(wave, step, use, differ, step.line, int(others[-1]), "written")
        self._writing = []

    # -- what is known of places ----------------------------------------------------------------

    def _shadow(self, wave: Wave, access: MemoryEvent) -> Shadow | None:
        if access.space == ".shared":
            return self._shared_shadow(wave, access.size & -access.size)
        if access.buffer is None or not access.data.flags.writeable:
            return None
        key = access.buffer.base
        if key not in self._global:
            shadow = Shadow(access.data.size, access.size & -access.size)
            self._global[key] = access.buffer, shadow
        return self._global[key][1]

    def _shared_shadow(self, wave: Wave, granule: int) -> Shadow:
        if wave not in self._shared:
            self._shared[wave] = Shadow(wave.shared.size, granule)
        return self._shared[wave]

    def _compare(self, wave: Wave, step: Step, use: MemoryUse, slot: Slot) -> None:
        """Sentence 2, against what one slot holds."""
        before = use.shadow.slots.get(slot)
        if before is None:
            return
        times, others = before.time[use.cells], before.thread[use.cells].astype(np.int64)
        users = np.broadcast_to(use.actors[:, None], use.cells.shape)
        suspect = (times > 0) & (others != users)
        if use.same is not None:
            suspect &= ~use.same
        if use.access.by == "copy":
            suspect &= (others != use.users) | (times < self.order.now)
        if slot not in _AGAINST[use.writes, use.strong]:  # both are strong, but perhaps not for each other
            if not use.writes and slot == "strong read":
                return
            apart = self.order.block(users) != self.order.block(others)
            suspect &= apart & ((before.line[use.cells] < 0) | use.narrow)
        if not suspect.any():
            return
        rows, columns = np.nonzero(suspect)
        at = use.cells[rows, columns]
        known = self.order.happens_before(users[rows, columns], others[rows, columns], before.time[at])
        if slot == "write" and not use.writes and use.shadow.rewrites is not None and not known.all():
            left = np.flatnonzero(~known)
            known[left] = use.shadow.rewrites.known(
                self.order, at[left], users[rows, columns][left], before.time[at[left]]
            )
        if known.all():
            return
        wrong = np.zeros(use.threads.shape, np.bool_)
        wrong[rows[~known]] = True
        bad = ~known & wrong[rows]
        for line in np.unique(before.line[at[bad]]).tolist():
            here = bad & (before.line[at] == line)
            lanes = np.zeros(use.threads.shape, np.bool_)
            lanes[rows[here]] = True
            other = int(before.thread[at[here][0]])
            self._report(wave, step, use, lanes, abs(line), other, "read" if "read" in slot else "written")

    def _compare_all(self, wave: Wave, step: Step, use: MemoryUse, rewrites: Rewrites) -> None:
        """A write that changes something, against all that wrote what stood there."""
        before = use.shadow.slot("write")
        changed = before.time[use.cells] > 0
        if use.same is not None:
            changed &= ~use.same
        rows, columns = np.nonzero(changed)
        at = use.cells[rows, columns]
        for bad, others, line in rewrites.unknown(self.order, at, use.actors[rows], before.time[at]):
            lanes = np.zeros(use.threads.shape, np.bool_)
            lanes[rows[bad]] = True
            self._report(wave, step, use, lanes, line, int(others[0]), "written")

    def _fenced(self, wave: Wave, step: Step, use: MemoryUse) -> None:
        """The end of sentence 3."""
        for slot in ("write", "strong write"):
            before = use.shadow.slots.get(slot)
            if before is None:
                continue
            bare = before.time[use.cells] > self._proxy_fence
            bare &= ~self.order.is_copy(before.thread[use.cells].astype(np.int64))
            rows = bare.any(axis=1)
            if rows.any():
                row = int(np.flatnonzero(rows)[0])
                cell = use.cells[row][bare[row]][0]
                where = self._variables.whereabouts(wave, use.access, row)
                line, lane = abs(int(before.line[cell])), lane_of(wave.launch, int(before.thread[cell]))
                message = (
                    f"the copy reads {_named(where.name, use.access)}, written at line {line} "
                    f"by block {lane.block}, thread {lane.thread}, without a "
                    "`fence.proxy.async` in between"
                )
                self._findings.add(
                    "missing-proxy-fence", message, wave, step, use.access.lanes[rows],
                    space=use.access.space, address=where.address, variable=where.name, other_line=line,
                    other_lane=lane,
                )

    def _record(self, step: Step, use: MemoryUse) -> None:
        now = self.order.now
        line = -step.line if use.narrow else step.line
        if use.writes:
            if use.same is None:
                use.shadow.slot(use.writing).set(use.cells, use.users, now, line)
            else:
                new = ~use.same
                use.shadow.slot(use.writing).set(use.cells[new], use.users[new], now, line)
                self._rewritten(step, use, use.same)
            if use.narrow or not use.strong:
                self._writing.append(use)
            return
        if use.strong:
            use.shadow.slot("strong read").set(use.cells, use.users, now, line)
            return
        last, earlier = use.shadow.slot("read"), use.shadow.slot("earlier read")
        moved = use.cells[last.thread[use.cells] != use.users]
        earlier.thread[moved], earlier.time[moved], earlier.line[moved] = (
            last.thread[moved], last.time[moved], last.line[moved]
        )
        last.set(use.cells, use.users, now, line)
        lost = last.thread[use.cells] != use.users  # several lanes read the same
        earlier.set(use.cells[lost], use.users[lost], now, line)

    def _rewritten(self, step: Step, use: MemoryUse, where: Bools) -> None:
        if where.any():
            if use.shadow.rewrites is None:
                use.shadow.rewrites = Rewrites()
            use.shadow.rewrites.add(use.cells[where], use.users[where], self.order.now, step.line)

    def _report(
        self, wave: Wave, step: Step, use: MemoryUse, wrong: Bools, line: int, other: int, done: str
    ) -> None:
        where = self._variables.whereabouts(wave, use.access, int(np.flatnonzero(wrong)[0]))
        began = bool(self.order.is_copy(np.array(other)))
        lane = lane_of(wave.launch, int(self.order.thread(np.array(other))))
        own = ("it " if use.access.by == "thread" else "the copy ") + (
            "writes" if use.writes else "reads"
        )
        name = _named(where.name, use.access)
        by = f"block {lane.block}, thread {lane.thread}"
        how = f"by the copy that {by} began at line {line}" if began else f"at line {line} by {by}"
        message = (
            f"{own} {name} at address {where.address:#x}, {done} {how}, without synchronization"
        )
        self._findings.add(
            "race", message, wave, step, use.access.lanes[wrong], space=use.access.space,
            address=where.address, variable=where.name, other_line=line, other_lane=lane,
        )


def _named(name: str, access: MemoryEvent) -> str:
    return f"`{name}`" if name else f"{access.space} memory"
