"""Launches a kernel: `launch(source, entry=..., grid=..., block=..., args=[...])`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path

from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import read_address
from ptx_lsp.executor.launching.explore import explore
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.launching.recorder import Recorder, run_recorded
from ptx_lsp.executor.machine.console import Console, to_standard_output
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.native.hot import NativeMode
from ptx_lsp.executor.scheduling.machine import Progress
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for, shown_names

LIMIT = 1 << 23
"""The instruction limit: a thread that runs a loop a million times executes a few million instructions."""


def launch(
    source: str | Path,
    *,
    entry: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Value] = (),
    shared_bytes: int = 0,
    limit: int = LIMIT,
    seconds: float = math.inf,
    seed: int = 0,
    seeds: int = 0,
    jobs: int | None = 1,
    cluster: int | Sequence[int] | None = None,
    check: bool = False,
    weak: bool = False,
    benign: bool = False,
    observers: Sequence[Observer] = (),
    progress: Progress | None = None,
    bind: Mapping[str, Opaque] | None = None,
    console: Console = to_standard_output,
    native: NativeMode = "auto",
    device: str | None = None,
    registers: int = 0,
    cooperative: bool | None = None,
    recorder: Recorder | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Finding, ...]:
    """Runs the kernel `entry` of a PTX text, or of the file at a path, which may be that of a member of a
    container: `libfoo.so!3:sm_90`.

    Arrays are device buffers, passed as addresses of 64 bits, or of 32 for a parameter of 4 bytes; they hold
    the results afterwards. NumPy scalars and Python numbers are passed by value; a structure is
    `bytes`, or a tuple of its members (arrays, NumPy scalars, tuples), which are placed as in C.
    `shared_bytes` is the dynamic shared memory of a block, `cluster` the blocks of a cluster if the kernel
    does not fix them (`.reqnctapercluster`). `bind` maps variable names to textures, samplers and surfaces;
    these can also be arguments.

    The launch is checked for the `device`, such as `sm_86`, else for the best of all that can run the kernel.
    `registers` are those of a thread, if they are known. In a `cooperative` launch all blocks are resident at
    once; None stands for what the kernel needs: `grid.sync()` of cooperative groups needs it.

    The `seed` selects the order in which threads are scheduled. With `seeds` the kernel is checked in so many
    orders, from `seed` on, each with the same arguments; arrays hold the results of the first. The others run
    in `jobs` processes (None: one per core), unless there are observers or the system cannot fork. With
    `weak`, and a seed other than 0, loads may see what PTX's memory model allows. `observers` receive all
    events.

    Raises ExecutionError if the launch does not match the kernel or the kernel fails. It is also raised after
    `limit` instructions during which no wave has ended, or after `seconds` in total, decoding included. The
    `clock` measures them: `time.thread_time` counts only those in which this thread runs.

    `progress` is called periodically with the number of finished blocks, of all blocks, and of executed
    instructions, `console` with what threads print, which by default goes to the standard output. A
    `recorder` such as `RecordingFile("x.ptxrec")` keeps the launch, to be debugged later. With `check`, the
    findings are returned, without duplicates in the order in which they occurred; with `benign`, also notes
    on unordered writes of equal values. If the kernel fails, the ExecutionError has them, with the failure
    last.
    """
    if shared_bytes < 0:
        raise ExecutionError(f"cannot allocate {shared_bytes} bytes of shared memory", "launch")
    module = _module(_text(source))
    kernel = _kernel(module, entry)
    options = LaunchOptions(
        grid, block, args, shared_bytes, limit, seconds, cluster, check or weak or benign or seeds > 0,
        weak, benign, observers, progress, bind or {}, console, device, registers, cooperative, native=native,
        clock=clock,
    )
    prepared = cache(partial(PreparedLaunch, module, kernel, options, is_fine=seed != 0))
    if seeds:
        run = partial(explore, module, kernel, options, seed, seeds, jobs)
        return run_recorded(recorder, prepared, seed, run, is_repeated=True)
    return run_recorded(recorder, prepared, seed, lambda: prepared().run(Schedule(seed)).completed())


def _kernel(module: Module, entry: str) -> Function:
    """The kernel with a name, which can be demangled. Raises ExecutionError."""
    found = module.definitions.get(entry)
    if found is not None and found.is_kernel:
        return found
    known = [one.name for one in module.functions if one.is_kernel]
    named = names_for(entry, known)
    if len(named) > 1:
        raise ExecutionError(f"`{entry}` is ambiguous: {shown_names(named)}", "launch")
    found = module.definitions.get(named[0]) if named else None
    if found is None:
        message = f"kernel `{entry}` does not exist; the kernels are {shown_names(known) or 'none'}"
        raise ExecutionError(message, "launch")
    return found


def _text(source: str | Path) -> str:
    if isinstance(source, str) and any(sign in source for sign in "\n{"):  # a path has none of these
        return source
    try:
        member = read_address(str(source))
    except ContainerError as error:
        raise ExecutionError(f"{source}: {error}", "launch") from error
    if member is not None:
        return member.decode("utf-8", "replace")
    return Path(source).read_text(encoding="utf-8", errors="replace")


@lru_cache(maxsize=8)
def _module(text: str) -> Module:
    return Module.parse(text)
