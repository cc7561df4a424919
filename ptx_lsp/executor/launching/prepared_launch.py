"""A kernel with its arguments and memory, decoded once and run with one seed or with several."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np

from ptx_lsp.executor.check.bounds import VariableBounds
from ptx_lsp.executor.check.certificate import (
    Certifiable,
    Certificates,
    Certifying,
    SuspectError,
    certifiable,
)
from ptx_lsp.executor.check.checker import Checker
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.decoding.decode import decode
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.launching.launch_request import launch_config_of
from ptx_lsp.executor.launching.parameters import Value, parameters
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.console import Console, to_standard_output
from ptx_lsp.executor.machine.data_segment import ModuleMemory, Resident
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.heap import Heap
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.locals import Placed
from ptx_lsp.executor.machine.memory import Buffer, Bytes, Memory, bytes_of
from ptx_lsp.executor.machine.observer import Observer, Observers
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.texture import Opaque, Surface
from ptx_lsp.executor.native.hot import WAVE_LANES, HotKernel, NativeMode, check_available
from ptx_lsp.executor.native.tracking import MOST_LANES, Checks
from ptx_lsp.executor.scheduling.convergence_groups import Budget
from ptx_lsp.executor.scheduling.machine import Machine, Progress
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.stepping import Director
from ptx_lsp.executor.textures.handles import bound
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

_WORKSPACE_BYTES = 256
_WORKSPACE = frozenset(("%envreg1", "%envreg2"))
"""The registers with the address of the workspace of a cooperative launch."""
_RESERVED = "%reserved_smem_offset_"
"""So begin the registers that tell where reserved shared memory lies."""


@dataclass(frozen=True)
class LaunchOptions:
    """The parameters of `launch` that are the same in all of its runs."""

    grid: int | Sequence[int]
    block: int | Sequence[int]
    args: Sequence[Value] = ()
    shared_bytes: int = 0
    limit: int = 0
    seconds: float = math.inf
    cluster: int | Sequence[int] | None = None
    check: bool = False
    weak: bool = False
    benign: bool = False
    observers: Sequence[Observer] = ()
    progress: Progress | None = None
    bind: Mapping[str, Opaque] = field(default_factory=dict[str, Opaque])
    console: Console = to_standard_output
    device: str | None = None
    registers: int = 0
    cooperative: bool | None = None
    parameters: bytes | None = None
    """The contents of parameter memory, instead of `args`."""
    resident: Resident | None = None
    """Memory that other launches have used; None for a new one."""
    native: NativeMode = "auto"
    clock: Callable[[], float] = time.monotonic
    """The clock for `seconds`."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run with a seed: what the checks found, and the error that ended it."""

    seed: int
    findings: tuple[Finding, ...]
    error: ExecutionError | None

    def completed(self) -> tuple[Finding, ...]:
        """The findings. Raises the error."""
        if self.error is not None:
            raise self.error
        return self.findings


class PreparedLaunch:
    """A launch that can be run. Memory is as the last run left it, until `restore`."""

    def __init__(
        self, module: Module, kernel: Function, options: LaunchOptions, *, is_fine: bool = False
    ) -> None:
        """`is_fine`: threads may be interrupted before each access to memory (`decode`)."""
        self.module, self.kernel, self._options = module, kernel, options
        self.progress = options.progress
        self._deadline = options.clock() + options.seconds
        resident = options.resident or Resident(Memory(is_narrow=module.stated_address_size != 64))
        self._memory = memory = resident.memory
        self._image = ModuleMemory(module, kernel, resident, options.shared_bytes)
        self._observers = Observers(()) if options.check or options.observers else None
        self.opaque = opaque = bound(kernel, self._image, options.bind) | resident.opaque
        """Textures, samplers and surfaces by their handles."""
        given = options.parameters
        if given is None:
            given = parameters(kernel, self._image, memory, opaque, options.args)
        elif len(given) != self._image.parameter_bytes:
            message = f"the parameters have {len(given)} bytes, not {self._image.parameter_bytes}"
            raise ExecutionError(message, "launch")
        self._parameters = np.frombuffer(bytearray(given), np.uint8)
        self._spaces = spaces = Spaces(memory, self._parameters.view(), self._observers)
        spaces.opaque = opaque
        spaces.console = options.console
        self._frame = RegisterLayout()
        budget = Budget(options.limit, self._deadline, options.clock)
        self.blocks = decode(kernel, self._frame, self._image, spaces, budget, is_fine=is_fine)
        if any(one.startswith(_RESERVED) for one in self._frame.specials):
            self._image.reserve()
        self.shape = self._shape()
        if self._is_cooperative and _WORKSPACE & self._frame.specials.keys():
            self.shape = replace(self.shape, workspace=resident.workspace or _workspace(memory))
        check_available(options.native)
        self._is_fine = is_fine
        self._native = self._hot()
        self._usages: Usages | None = None
        self._is_certifiable: tuple[tuple[bytes, int], Certifiable | None] | None = None
        self._certificates: Certificates | None = None
        surfaces = [one for _, one in sorted(opaque.items()) if isinstance(one, Surface)]
        self._surfaces = [bytes_of(one.array) for one in surfaces]
        self.saved: list[tuple[Bytes, Bytes]] = []
        """All that a run may write, with copies of the contents before."""

    def change(
        self, grid: int | Sequence[int], block: int | Sequence[int], cluster: int | Sequence[int] | None,
        given: bytes,
    ) -> None:
        """Prepares the kernel for another launch, with the contents of parameter memory. Raises
        ExecutionError if the launch does not match the kernel.
        """
        self._options = replace(self._options, grid=grid, block=block, cluster=cluster)
        self._deadline = self._options.clock() + self._options.seconds
        block_before = self.shape.block
        self.shape = replace(self._shape(), workspace=self.shape.workspace)
        if self.shape.block != block_before:
            self._native, self._certificates = self._hot(), None
        self._parameters[:] = np.frombuffer(given, np.uint8)

    def _hot(self) -> HotKernel:
        """The kernel, for native code."""
        layout = (self._is_fine, *self._image.addresses.values())
        return HotKernel(
            self.kernel, layout, self.blocks, self._frame, self.shape, self._spaces, self._options.native
        )

    def _certifiable(self) -> Certifiable | None:
        """What makes runs of the kernel with these parameters certain to have no findings."""
        key = self._parameters.tobytes(), len(self._memory.buffers)
        if self._is_certifiable is None or self._is_certifiable[0] != key:
            self._usages = self._usages or Usages()
            bounds = VariableBounds(Findings(self._usages), Variables())
            bounds.launched(self.shape, self._image, self._memory)
            found = certifiable(self.blocks, self._usages, self._frame, self._spaces, bounds)
            self._is_certifiable = key, found
        return self._is_certifiable[1]

    def _certifying(self, checks: Checks) -> Certifying:
        layout = ("checked", self.shape.shared_bytes, *self._image.addresses.values())
        return Certifying(
            self.kernel, layout, self.blocks, self._frame, self.shape, self._spaces, self._options.native,
            checks,
        )

    @property
    def image(self) -> ModuleMemory:
        """The addresses of the variables."""
        return self._image

    def _shape(self) -> LaunchConfig:
        options = self._options
        return launch_config_of(
            self.kernel, self._image, options.grid, options.block, options.cluster, options.shared_bytes,
            device=options.device, registers=options.registers, is_cooperative=self._is_cooperative,
        )

    @property
    def _is_cooperative(self) -> bool:
        """As the launch says, or else as the kernel needs it."""
        wanted = self._options.cooperative
        return bool(_WORKSPACE & self._frame.specials.keys()) if wanted is None else wanted

    @property
    def options(self) -> LaunchOptions:
        return self._options

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        return self._memory.buffers

    @property
    def memory(self) -> Memory:
        return self._memory

    @property
    def parameters(self) -> Bytes:
        """The parameter memory."""
        return self._parameters

    @property
    def placed(self) -> list[Placed]:
        """The variables of shared and local memory, and the parameters."""
        return self._image.placed

    @property
    def fixed(self) -> tuple[object, ...]:
        """The objects that all runs have in common, and none changes, but for the contents of memory."""
        return (
            self.blocks, self._frame, self.shape, self._memory, self._image, self._spaces, self._observers,
            self._options,
        )

    @property
    def allocations(self) -> Heap | None:
        """A copy of the heap, without its memory."""
        return self._memory.allocations

    def written(self) -> list[Bytes]:
        """All arrays that a run may write: buffers and surfaces, each in the order of their addresses."""
        return [*(one.data for one in self._memory.buffers if one.data.flags.writeable), *self._surfaces]

    def save(self) -> None:
        """Keeps the contents of memory, to be restored."""
        self.saved = [(data, data.copy()) for data in self.written()]

    def restore(self) -> None:
        """Puts the saved contents back. Memory that did not exist, as that of the heap, is zero."""
        known = {id(data) for data, _ in self.saved}
        for data in self.written():
            if id(data) not in known:
                data[:] = 0
        for data, before in self.saved:
            data[:] = before
        self._memory.reset_heap()

    def run(self, schedule: Schedule, *more: Observer) -> Run:
        """Runs the kernel, with more observers. Only errors of the host are raised."""
        if not more and self._is_certain(schedule):
            return Run(schedule.seed, (), None)
        execution = self.begin(schedule, *more)
        found = execution.run()
        if self._certificates is not None:
            lanes = min(self.shape.blocks * self.shape.lanes, WAVE_LANES)
            self._certificates.kernel.ran(execution.machine.executed, lanes)
        return found

    def _is_certain(self, schedule: Schedule) -> bool:
        """Whether the kernel has been run, and it is certain that no check finds anything (`certificate`)."""
        options = self._options
        if not options.check or options.weak or options.observers or not self._may_be_native(schedule):
            return False
        found = self._certifiable()
        lanes = self.shape.blocks * self.shape.lanes
        if found is None or self.shape.cluster_blocks > 1 or lanes >= MOST_LANES:
            return False
        if self._certificates is None:
            kernel = self._certifying(found.checks)
            self._certificates = Certificates(kernel, self._memory, self.blocks)
        certificates = self._certificates
        if not certificates.kernel.anticipate(lanes):
            return False
        while True:
            try:
                certificates.begin(found)
            except MemoryError:
                return False
            budget = Budget(options.limit, self._deadline, options.clock)
            machine = Machine(
                self.blocks, self._frame, self.shape, self._memory, budget, schedule=schedule,
                native=certificates.kernel,
            )
            try:
                machine.run()
                if certificates.is_certain():
                    if self.progress is not None:
                        self.progress(self.shape.blocks, self.shape.blocks, machine.executed)
                    return True
            except (SuspectError, ExecutionError):
                pass
            if not certificates.undo():
                return False

    def begin(self, schedule: Schedule, *more: Observer) -> Execution:
        """A run that has not begun, with more observers."""
        options = self._options
        is_weak = options.weak and bool(schedule.seed)
        checker = None
        if options.check:
            weak = Random(schedule.seed) if is_weak else None
            checker = Checker(self._usages, weak, benign=options.benign)
            self._usages = checker.usages
        observer = self._observers
        self._watch(checker, more)
        if observer is not None:
            observer.decoded(self.blocks)
            observer.launched(self.shape, self._image, self._memory)
        budget = Budget(options.limit, self._deadline, options.clock)
        machine = Machine(
            self.blocks, self._frame, self.shape, self._memory, budget, observer, schedule=schedule,
            director=next((one for one in options.observers if isinstance(one, Director)), None),
            native=self._native if observer is None and self._may_be_native(schedule) else None,
        )
        return Execution(machine, checker, observer, self.progress, schedule.seed)

    def resumed(self, machine: Machine, checker: Checker | None, heap: Heap | None, seed: int) -> Execution:
        """The run that these copies of a machine, its checker and the heap were made of."""
        self._watch(checker, ())
        self._memory.reset_heap(heap)
        return Execution(machine, checker, self._observers, self.progress, seed)

    def exchange(self, machine: Machine, schedule: Schedule, between: Callable[[], None] | None) -> None:
        """From now on nobody observes a run, but for a function that is called between two turns. With None,
        those who did before observe it again.
        """
        if between is None and self._observers is not None:
            self._spaces.observer = self._observers
            machine.exchange(self._observers, None, self._observers.turn)
        else:
            self._spaces.observer = None
            machine.exchange(None, self._native if self._may_be_native(schedule) else None, between)

    def report_accesses(self, *, wanted: bool) -> None:
        """Whether observers are to see accesses to memory."""
        self._spaces.observer = self._observers if wanted else None

    def _may_be_native(self, schedule: Schedule) -> bool:
        return schedule.order is None and not schedule.is_shuffled and self._options.native != "off"

    def _watch(self, checker: Checker | None, more: Sequence[Observer]) -> None:
        self._spaces.older = None if checker is None else checker.weak
        self._spaces.observer = self._observers
        if self._observers is not None:
            checks = (checker,) if checker is not None else ()
            self._observers.exchange((*checks, *more, *self._options.observers))


@dataclass(eq=False)
class Execution:
    """A run of a prepared launch."""

    machine: Machine
    checker: Checker | None
    observer: Observer | None
    progress: Progress | None
    seed: int

    def run(self) -> Run:
        """Runs to the end. Only errors of the host are raised."""
        failure: ExecutionError | None = None
        checker = self.checker
        try:
            self.machine.run(self.progress)
        except MemoryError as error:
            raise ExecutionError(
                "the host does not have enough memory for this launch", "limit"
            ) from error
        except ExecutionError as error:
            failure = error
            failure.seed = self.seed
            if checker is not None:
                checker.stopped(error)
        finally:
            if self.observer is not None:
                self.observer.ended()
        findings: tuple[Finding, ...] = ()
        if checker is not None:
            findings = tuple(replace(one, seed=self.seed) for one in checker.findings)
        if failure is not None:
            failure.findings = findings
        return Run(self.seed, findings, failure)


def _workspace(memory: Memory) -> int:
    """The address of the grid's workspace: its size, and the word in which `grid.sync()` of cooperative
    groups counts the blocks that have come (CUDA's `driver_abi.h`).
    """
    workspace = np.zeros(_WORKSPACE_BYTES // 4, np.uint32)
    workspace[0] = _WORKSPACE_BYTES
    return memory.add("the workspace of the grid", bytes_of(workspace))
