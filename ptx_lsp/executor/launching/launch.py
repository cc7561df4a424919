"""Launches a kernel: `launch(source, entry=..., grid=..., block=..., args=[...])`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import read_address
from ptx_lsp.executor.check.checker import Checker
from ptx_lsp.executor.decoding.decode import decode
from ptx_lsp.executor.launching.launch_request import launch_config_of
from ptx_lsp.executor.launching.parameters import Value, parameters
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.memory import Memory, bytes_of
from ptx_lsp.executor.machine.observer import Observer, combined
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.scheduling.convergence_groups import Budget
from ptx_lsp.executor.scheduling.machine import Machine, Progress
from ptx_lsp.executor.textures.handles import bound
from ptx_lsp.model.module import Module

_WORKSPACE_BYTES = 256
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
    cluster: int | Sequence[int] | None = None,
    check: bool = False,
    observers: Sequence[Observer] = (),
    progress: Progress | None = None,
    bind: Mapping[str, Opaque] | None = None,
) -> tuple[Finding, ...]:
    """Runs the kernel `entry` of a PTX text, or of the file at a path, which may be that of a member of a
    container: `libfoo.so!3:sm_90`.

    Arrays are device buffers, passed as addresses of 64 bits, or of 32 for a parameter of 4 bytes; they hold
    the results afterwards. NumPy scalars and Python numbers are passed by value, `bytes` as a structure.
    `shared_bytes` is the dynamic shared memory of a block, `cluster` the blocks of a cluster if the kernel
    does not fix them (`.reqnctapercluster`). `bind` maps variable names to textures, samplers and surfaces;
    these can also be arguments.

    The `seed` selects the order in which threads are scheduled. `observers` receive all events. Raises
    ExecutionError if the launch does not match the kernel or the kernel fails. It is also raised after
    `limit` instructions during which no wave has ended, or after `seconds` in total, decoding included.

    `progress` is called periodically with the number of finished blocks, of all blocks, and of executed
    instructions. With `check`, the findings are returned, without duplicates in the order in which they
    occurred. If the kernel fails, the ExecutionError has them, with the failure last.
    """
    budget = Budget(limit, time.monotonic() + seconds)
    if shared_bytes < 0:
        raise ExecutionError(f"cannot allocate {shared_bytes} bytes of shared memory", "launch")
    module = _module(_text(source))
    kernel = module.definitions.get(entry)
    if kernel is None or not kernel.is_kernel:
        names = ", ".join(f"`{f.name}`" for f in module.functions if f.is_kernel)
        message = f"kernel `{entry}` does not exist; the kernels are {names or 'none'}"
        raise ExecutionError(message, "launch")
    memory = Memory(is_narrow=module.stated_address_size != 64)
    image = ModuleMemory(module, kernel, memory, shared_bytes)
    checker = Checker() if check else None
    observer = combined((checker, *observers) if checker is not None else observers)
    opaque = bound(kernel, image, bind or {})
    spaces = Spaces(memory, parameters(kernel, image, memory, opaque, args), observer)
    spaces.opaque = opaque
    frame = RegisterLayout()
    blocks = decode(kernel, frame, image, spaces, budget, is_fine=seed != 0)
    shape = launch_config_of(kernel, image, grid, block, cluster, shared_bytes)
    shape = replace(shape, workspace=_workspace(frame, memory))
    if observer is not None:
        observer.decoded(blocks)
        observer.launched(shape, image, memory)
    try:
        machine = Machine(blocks, frame, shape, memory, budget, observer, seed=seed)
        machine.run(progress)
    except MemoryError as error:
        raise ExecutionError(
            "the host does not have enough memory for this launch", "limit"
        ) from error
    except ExecutionError as error:
        if checker is not None:
            checker.stopped(error)
            error.findings = checker.findings
        raise
    finally:
        if observer is not None:
            observer.ended()
    return checker.findings if checker is not None else ()


def _workspace(frame: RegisterLayout, memory: Memory) -> int:
    """The address of the grid's workspace where the kernel asks for it: its size, and the word in which
    `grid.sync()` of cooperative groups counts the blocks that have come (CUDA's `driver_abi.h`).
    """
    if not {"%envreg1", "%envreg2"} & frame.specials.keys():
        return 0
    workspace = np.zeros(_WORKSPACE_BYTES // 4, np.uint32)
    workspace[0] = _WORKSPACE_BYTES
    return memory.add("the workspace of the grid", bytes_of(workspace))


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
