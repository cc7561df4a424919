"""Launches of kernels in the memory of the device, and reports of what is wrong with them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from ptx_lsp.cuda.modules import Kernel
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.launching.explore import explore
from ptx_lsp.executor.launching.launch import LIMIT
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.launching.recorder import Recorder, run_recorded
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.launch_config import Dimensions
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule

_RESULTS = {
    "out-of-bounds": Result.ILLEGAL_ADDRESS, "misaligned": Result.MISALIGNED_ADDRESS,
    "read-only": Result.ILLEGAL_ADDRESS, "limit": Result.LAUNCH_TIMEOUT, "deadlock": Result.LAUNCH_TIMEOUT,
    "unsupported": Result.NOT_SUPPORTED,
}
"""By the kind of the error; LAUNCH_FAILED for all others."""


def _result(error: ExecutionError) -> Result:
    """What the driver returns. The messages of refused launches end with it (launch_validation.py)."""
    if error.kind == "launch":
        named = re.search(r"\(CUDA_ERROR_(\w+)\)$", error.message)
        return Result[named[1]] if named else Result.INVALID_VALUE
    return _RESULTS.get(error.kind, Result.LAUNCH_FAILED)


@dataclass(frozen=True)
class LaunchReport:
    """A launch with new findings, and the error that ended it."""

    kernel: str
    module: str
    text: str
    """The PTX text of the module."""
    grid: Dimensions
    block: Dimensions
    findings: tuple[Finding, ...]
    error: ExecutionError | None


@dataclass(frozen=True)
class Settings:
    """How kernels are executed, as for `launch`; `device` is the target of the device that programs see."""

    device: str = "sm_90"
    check: bool = False
    weak: bool = False
    benign: bool = False
    seed: int = 0
    seeds: int = 0
    limit: int = LIMIT
    seconds: float = math.inf
    module_folder: str = ""
    """Where the PTX of loaded modules is written; nowhere if empty."""


@dataclass(frozen=True)
class LaunchShape:
    """The sizes of a launch, and its kind; `cluster` is None if the launch does not name one."""

    grid: Dimensions
    block: Dimensions
    shared_bytes: int = 0
    cluster: Sequence[int] | None = None
    is_cooperative: bool = False


@dataclass
class Launches:
    """Runs kernels, and reports each finding once."""

    settings: Settings
    report: Callable[[LaunchReport], None]
    count: int = 0
    recorder: Recorder | None = None
    _known: set[tuple[str, str, str, int, int, str]] = field(
        default_factory=set[tuple[str, str, str, int, int, str]]
    )

    def launch(self, kernel: Kernel, shape: LaunchShape, parameters: bytes) -> None:
        """Runs a kernel to its end. Raises DriverError if it fails."""
        self.count += 1
        if self.recorder is not None:
            self.recorder.path = kernel.module.name
        error: ExecutionError | None = None
        try:
            findings = self._run(kernel, shape, parameters)
        except ExecutionError as failure:
            error, findings = failure, failure.findings
        new = tuple(one for one in findings if self._is_new(kernel, one))
        if new or error is not None:
            module = kernel.module
            self.report(
                LaunchReport(kernel.name, module.name, module.text, shape.grid, shape.block, new, error)
            )
        if error is not None:
            raise DriverError(_result(error))

    def _run(self, kernel: Kernel, shape: LaunchShape, parameters: bytes) -> tuple[Finding, ...]:
        settings = self.settings
        key = shape.shared_bytes, shape.is_cooperative
        prepared = kernel.prepared.get(key)
        if prepared is not None and not settings.seeds:
            prepared.change(shape.grid, shape.block, shape.cluster, parameters)
        else:
            options = LaunchOptions(
                shape.grid, shape.block, (), shape.shared_bytes, settings.limit, settings.seconds,
                shape.cluster, settings.check or settings.weak or settings.benign or settings.seeds > 0,
                settings.weak, settings.benign, device=settings.device, cooperative=shape.is_cooperative,
                parameters=parameters, resident=kernel.module.resident,
            )
            module = kernel.module.module
            if settings.seeds:
                once = partial(PreparedLaunch, module, kernel.function, options)
                run = partial(explore, module, kernel.function, options, settings.seed, settings.seeds)
                return run_recorded(self.recorder, once, settings.seed, run, is_repeated=True)
            prepared = PreparedLaunch(module, kernel.function, options, is_fine=settings.seed != 0)
            kernel.prepared[key] = prepared
        launch = prepared
        return run_recorded(
            self.recorder, lambda: launch, settings.seed,
            lambda: launch.run(Schedule(settings.seed)).completed(),
        )

    def _is_new(self, kernel: Kernel, one: Finding) -> bool:
        key = kernel.module.text, kernel.name, one.kind, one.line, one.other_line, one.message
        is_new = key not in self._known
        self._known.add(key)
        return is_new
