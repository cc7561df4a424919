"""The synchronisation of the threads of a launch: fences, barriers, strong accesses (`Order`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.races.happens_before import VectorClocks
from ptx_lsp.executor.check.races.late_loads import Settled
from ptx_lsp.executor.check.races.memory_order import (
    Scope,
    acquires,
    is_fence,
    is_sequential,
    is_strong,
    releases,
    scope,
)
from ptx_lsp.executor.check.races.weak_memory import WeakMemory
from ptx_lsp.executor.check.shadow_access import MemoryUse, turns
from ptx_lsp.executor.instructions.warp import Warp
from ptx_lsp.executor.instrumentation.usage import Usage
from ptx_lsp.executor.machine.control import Barrier, Block, ClusterBarrier, Step
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


class Synchronization(Observer):
    """Tracks the happens-before order of a launch."""

    def __init__(self, findings: Findings, weak: WeakMemory | None = None) -> None:
        """`weak`: memory in which loads may see older values. There the order of `fence.sc` counts, too."""
        self._findings = findings
        self._order: VectorClocks | None = None
        self._weak = weak
        self._scopes: set[Scope] = set()
        self._strong_loads: WeakKeyDictionary[MemoryEvent, MemoryUse] = WeakKeyDictionary()
        """Those that may take place late."""

    @property
    def order(self) -> VectorClocks:
        assert self._order is not None
        return self._order

    def decoded(self, blocks: tuple[Block, ...]) -> None:
        usages = (self._findings.usages.of(step) for block in blocks for step in block.steps)
        self._scopes = {scope(usage) for usage in usages if _has_scope(usage)}

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        self._order = VectorClocks(shape, self._scopes, sequential=self._weak is not None)
        if self._weak is not None:
            self._weak.follow(self._order)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        usage = self._findings.usages.of(step)
        mask = wave.full_mask(active)
        if self._weak is not None:
            self._take_place(wave, self._weak.late.reach(wave, step, usage, mask))
        self.order.now += 1
        if self._weak is not None:
            self._take_place(wave, self._weak.late.reach(wave, step, usage, mask))
        if is_fence(usage):
            self.order.fence(
                self.order.threads(wave, np.flatnonzero(mask)), acquires=".release" not in usage.modifiers,
                releases=".acquire" not in usage.modifiers, scope=scope(usage),
                sequential=is_sequential(usage),
            )
        elif isinstance(step.action, Barrier | ClusterBarrier):
            self._arrive(wave, step.action, mask, relaxed=".relaxed" in usage.modifiers)
        elif usage.opcode == "bar" and ".warp" in usage.modifiers:
            self._warp(wave, step, mask)
        self._allocated(wave, step, active)

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if self._weak is not None:
            self._take_place(wave, self._weak.late.use(wave, access))

    def _take_place(self, wave: Wave, late: Iterable[Settled]) -> None:
        """Late loads see the last writes, and synchronise with them."""
        for usage, event, rows, element in late:
            assert self._weak is not None
            self._weak.sees_last(wave, event, rows, element)
            use = self._strong_loads.get(event)
            if use is not None:
                cells = use.shadow.cells(event.offsets[rows], event.size)
                late_use = replace(use, threads=use.threads[rows], cells=cells)
                self._acquire_at_once(late_use.by_element, usage, is_last=True)

    def after(self, wave: Wave, step: Step, active: Bools | None) -> None:
        self._allocated(wave, step, active)

    def _allocated(self, wave: Wave, step: Step, active: Bools | None) -> None:
        """`tcgen05.alloc` stores for the whole warp, in order with what its lanes do there."""
        usage = self._findings.usages.of(step)
        if usage.opcode == "tcgen05" and ".alloc" in usage.modifiers:
            mask = wave.full_mask(active)
            self.order.warp(wave, mask, mask)

    def met(self, wave: Wave, step: Step, arrived: Bools, released: Bools, number: int | None) -> None:
        if number is None:
            self.order.cluster(wave, arrived, released)
        else:
            self.order.barrier(wave, arrived, released, number)

    def _arrive(
        self, wave: Wave, barrier: Barrier | ClusterBarrier, mask: Bools, *, relaxed: bool
    ) -> None:
        if barrier.kind != ".arrive":
            return
        if isinstance(barrier, ClusterBarrier):
            self.order.arrive(self.order.threads(wave, np.flatnonzero(mask)), relaxed=relaxed)
            return
        numbers = barrier.numbers(wave)
        for number in np.unique(numbers[mask]).tolist():
            lanes = np.flatnonzero(mask & (numbers == number))
            self.order.arrive(self.order.threads(wave, lanes), number)

    def _warp(self, wave: Wave, step: Step, mask: Bools) -> None:
        """Threads synchronise with those that they name."""
        masks = step.action.masks(wave) if isinstance(step.action, Warp) else None
        if not isinstance(step.action, Warp) or masks is None:
            self.order.warp(wave, mask, mask)
            return
        masks = wave.broadcast(masks)
        for value in np.unique(masks[mask]).tolist():
            here = mask & (masks == value)
            self.order.warp(wave, step.action.awaited(wave, here), here)

    def acquire(self, use: MemoryUse, usage: Usage) -> None:
        """Threads have accessed a location with a strong access."""
        if use.access.use != "write":
            if self._weak is not None:
                self._strong_loads[use.access] = use
            self._acquire_at_once(use.by_element, usage)

    def release(self, use: MemoryUse, usage: Usage) -> None:
        """Threads have written there with a strong access. Atomic operations are sequential and continue
        release sequences.
        """
        gives = self.order.gives(use.threads, fence=not releases(usage))
        if use.access.use != "update":
            self._release_at_once(use.by_element, usage)
            return
        if not gives:
            return
        use = use.by_element
        for turn in turns(use.cells[:, 0]):
            each = replace(use, threads=use.threads[turn], cells=use.cells[turn])
            self._acquire_at_once(each, usage)
            self._release_at_once(each, usage)

    def _acquire_at_once(self, use: MemoryUse, usage: Usage, *, is_last: bool = False) -> None:
        """`is_last`: what was written last has been read, in any case."""
        locations = use.shadow.locations(use.cells[:, 0])
        if self._weak is not None and not is_last:
            locations = self._weak.locations(use.access, max(use.elements, use.shadow.granule), locations)
        self.order.acquire(use.threads, locations, fence=not acquires(usage), scope=use.scope)

    def _release_at_once(self, use: MemoryUse, usage: Usage) -> None:
        places, inverse = np.unique(use.cells[:, 0], return_inverse=True)
        before = use.shadow.locations(places)
        if self._weak is not None:
            self._weak.replaced(use.access, places * use.shadow.granule, before)
        numbers = self.order.release(
            use.threads, before, inverse, fence=not releases(usage), update=use.access.use == "update",
            scope=use.scope,
        )
        use.shadow.set_locations(places, numbers)


def _has_scope(usage: Usage) -> bool:
    return is_fence(usage) or is_strong(usage) or usage.opcode in ("atom", "red")
