"""The configuration that a launch requests: its grid, blocks, clusters and memory."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import SupportsIndex

import numpy as np

from ptx_lsp.executor.launching.device import devices
from ptx_lsp.executor.launching.launch_validation import block_resources, refusal
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import Dimensions, LaunchConfig
from ptx_lsp.isa.device_limits import MAX_REGISTERS_PER_THREAD
from ptx_lsp.model.calls.dynamic_shared import uses_dynamic_shared
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function

_MOST_BLOCKS = 1 << 32
_MOST_SHARED_BYTES = 1 << 20  # of all variables of a module, also of those that the kernel does not use
_MOST_LOCAL_BYTES = 512 << 10  # of a thread


def launch_config_of(
    kernel: Function, image: ModuleMemory, grid: int | Sequence[int], block: int | Sequence[int],
    cluster: int | Sequence[int] | None, dynamic_bytes: int, *, device: str | None = None, registers: int = 0,
    is_cooperative: bool = False,
) -> LaunchConfig:
    """The shape of a launch. Raises ExecutionError if the device rejects it, or if it is too large for the
    executor. `registers` are those of a thread, 0 if they are not known.
    """
    if not 0 <= registers <= MAX_REGISTERS_PER_THREAD:
        message = f"a thread has at most {MAX_REGISTERS_PER_THREAD} registers, not {registers}"
        raise ExecutionError(message, "launch")
    target = devices(kernel.module.target, device)
    heads = effective_directives(kernel)
    required = heads.last(".reqnctapercluster")
    demanded = None if required is None else required.extent
    blocks = _dimensions(grid, "grid")
    clusters = demanded or (1, 1, 1) if cluster is None else _dimensions(cluster, "cluster")
    if heads.last(".blocksareclusters") is not None:
        x, y, z = (count * size for count, size in zip(blocks, clusters, strict=True))
        blocks = x, y, z
    shape = LaunchConfig(
        blocks, _dimensions(block, "block"), image.shared_bytes, dynamic_bytes, image.local_bytes, clusters,
        is_explicit_cluster=cluster is not None or demanded is not None,
        uses_dynamic_bytes=uses_dynamic_shared(kernel), reserved=image.reserved,
    )
    resources = block_resources(kernel, shape, registers)
    shape = replace(
        shape, allocated_bytes=target.allocated_bytes(resources.shared_bytes),
        resident_blocks=target.resident_blocks(resources),
    )
    found = refusal(kernel, shape, target, registers, is_cooperative=is_cooperative)
    message = str(found) if found else ""
    if not message and shape.blocks >= _MOST_BLOCKS:
        message = f"a grid of {shape.blocks} blocks exceeds the limit of the executor"
    if not message and shape.shared_bytes > _MOST_SHARED_BYTES:
        message = f"{shape.shared_bytes} bytes of shared memory exceed the limit of the executor"
    if not message and shape.local_bytes > _MOST_LOCAL_BYTES:
        message = (
            f"{shape.local_bytes} bytes of local memory per thread exceed the limit of the executor"
        )
    if message:
        raise ExecutionError(message, "launch")
    return shape


def _dimensions(size: int | Sequence[int], what: str) -> Dimensions:
    given: Sequence[SupportsIndex] = (size,) if isinstance(size, int | np.integer) else size
    try:
        sizes = tuple(operator.index(one) for one in given)
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(one < 1 for one in sizes):
        raise ExecutionError(
            f"the {what} must have one to three positive sizes, not {size}", "launch"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
