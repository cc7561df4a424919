"""The synchronisation of the threads of a launch: fences, barriers, strong accesses (`Order`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.races.happens_before import VectorClocks
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
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave


class Synchronization(Observer):
    """Tracks the happens-before order of a launch."""

    def __init__(self, findings: Findings, weak: WeakMemory | None = None) -> None:
        """`weak`: memory in which loads may see older values. There the order of `fence.sc` counts, too."""
        self._findings = findings
        self._order: VectorClocks | None = None
        self._weak = weak
        self._scopes: set[Scope] = set()

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
        self.order.now += 1
        usage = self._findings.usages.of(step)
        mask = wave.full_mask(active)
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
        masks = np.broadcast_to(masks, wave.shape)
        for value in np.unique(masks[mask]).tolist():
            here = mask & (masks == value)
            self.order.warp(wave, step.action.awaited(wave, here), here)

    def acquire(self, use: MemoryUse, usage: Usage) -> None:
        """Threads have accessed a location with a strong access."""
        stale = None if self._weak is None else self._weak.stale(use.access)
        if stale is not None:
            use = replace(use, threads=use.threads[~stale], cells=use.cells[~stale])
        if use.access.use != "write":
            locations = use.shadow.locations(use.cells[:, 0])
            self.order.acquire(use.threads, locations, fence=not acquires(usage), scope=use.scope)

    def release(self, use: MemoryUse, usage: Usage) -> None:
        """Threads have written there with a strong access. Atomic operations are sequential and continue
        release sequences.
        """
        gives = self.order.gives(use.threads, fence=not releases(usage))
        if use.access.use != "update":
            self._release_at_once(use, usage)
        if use.access.use != "update" or not gives:
            return
        for turn in turns(use.cells[:, 0]):
            each = replace(use, threads=use.threads[turn], cells=use.cells[turn])
            self.acquire(each, usage)
            self._release_at_once(each, usage)

    def _release_at_once(self, use: MemoryUse, usage: Usage) -> None:
        places, inverse = np.unique(use.cells[:, 0], return_inverse=True)
        numbers = self.order.release(
            use.threads, use.shadow.locations(places), inverse, fence=not releases(usage),
            update=use.access.use == "update", scope=use.scope,
        )
        use.shadow.set_locations(places, numbers)


def _has_scope(usage: Usage) -> bool:
    return is_fence(usage) or is_strong(usage) or usage.opcode in ("atom", "red")
