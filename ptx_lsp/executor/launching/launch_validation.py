"""Why a device refuses a launch (PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives";
CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").

1. If a directive is repeated, the last one applies.
2. `.reqntid` demands its block in each dimension; `.maxntid` limits the product of the dimensions only.
3. `.reqnctapercluster` demands its cluster if the launch names one; `.maxclusterrank` limits the product.
   `.explicitcluster` demands that the kernel or the launch defines the cluster.
4. Shared memory is checked against the device with the most of it among those that can run the module. The
   shared memory of called functions is not counted: only ptxas knows it.

Only ptxas knows the number of registers per thread, so a launch that would fail for lack of registers runs
here.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ptx_lsp.executor.machine.launch_config import Dimensions, LaunchConfig
from ptx_lsp.isa.device_limits import (
    LIMITS,
    MAX_BLOCK_DIMENSIONS,
    MAX_CLUSTER_SIZE,
    MAX_STATIC_SHARED_BYTES,
    MAX_THREADS_PER_BLOCK,
)
from ptx_lsp.isa.target import Target, has
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import shared_bytes

_WORD = 1 << 32
_LARGEST_GRID = (1 << 31) - 1, 65535, 65535


def launch_error(kernel: Function, shape: LaunchConfig) -> str:
    """The first reason for which a device refuses a launch, and what to do about it; "" if it does not."""
    return next(chain(_of_any_kernel(shape), _of_directives(kernel, shape), _of_memory(kernel, shape)), "")


def _of_any_kernel(shape: LaunchConfig) -> Iterator[str]:
    if shape.threads > MAX_THREADS_PER_BLOCK:
        yield f"a block has at most {MAX_THREADS_PER_BLOCK} threads, not {shape.threads}"
    if _exceeds(shape.block, MAX_BLOCK_DIMENSIONS):
        yield f"a block is at most {MAX_BLOCK_DIMENSIONS}, not {shape.block}"
    if _exceeds(shape.grid, _LARGEST_GRID):
        yield f"a grid is at most {_LARGEST_GRID}, not {shape.grid}"
    if shape.cluster_blocks > MAX_CLUSTER_SIZE:
        yield f"a cluster has at most {MAX_CLUSTER_SIZE} blocks, not {shape.cluster_blocks}"


def _of_directives(kernel: Function, shape: LaunchConfig) -> Iterator[str]:
    heads = effective_directives(kernel)
    given = heads.last(".reqntid")
    if given and given.product and given.extent != shape.block:
        yield (
            f"{_has(kernel, given)}: launch it with a block of {given.extent}, not {shape.block}"
        )
    given = heads.last(".maxntid")
    most = (given.product or 0) % _WORD if given else 0  # ptxas counts in 32 bits, and 0 is no bound
    if given and 0 < most < shape.threads:
        yield (
            f"{_has(kernel, given)}: a block has at most {most} threads, not {shape.threads}; launch smaller"
            " blocks, or compile it for larger ones (`__launch_bounds__` in CUDA C++)"
        )
    given = heads.last(".reqnctapercluster")
    if given and given.product and given.extent != shape.cluster:
        yield (
            f"{_has(kernel, given)}: launch it with a cluster of {given.extent} or without naming"
            f" one, not with {shape.cluster}"
        )
    if (given := heads.last(".maxclusterrank")) and given.product and shape.cluster_blocks > given.product:
        yield (
            f"{_has(kernel, given)}: a cluster has at most {given.product} blocks, not"
            f" {shape.cluster_blocks}; launch smaller clusters, or compile it for larger ones"
        )
    if (given := heads.last(".explicitcluster")) and not shape.is_explicit_cluster:
        yield f"{_has(kernel, given)}: the launch must specify the cluster size"
    if any(size % each for size, each in zip(shape.grid, shape.cluster, strict=True)):
        yield (
            f"a grid of {shape.grid} cannot be divided into clusters of {shape.cluster}: each "
            "dimension must be a multiple"
        )


def _of_memory(kernel: Function, shape: LaunchConfig) -> Iterator[str]:
    static = shared_bytes(kernel) or 0
    if static > MAX_STATIC_SHARED_BYTES:
        yield (
            f"`{kernel.name}` has {static} bytes of static shared memory, but at most "
            f"{MAX_STATIC_SHARED_BYTES} are allowed: declare it `.extern .shared` without a "
            "size, and give the size at launch"
        )
    target, total = kernel.module.target, static + shape.dynamic_bytes
    most = _most_shared_bytes(target)
    if total > most:
        device = "any device" if target is None else f"any device that runs `{target}` code"
        yield (
            f"{total} bytes of shared memory ({static} static, {shape.dynamic_bytes} dynamic) "
            f"exceed the {most} that a block can have on {device}"
        )


def _most_shared_bytes(target: Target | None) -> int:
    """What a block can have on some device that can run code for a target; for None on any."""
    able = (
        limits for number, limits in LIMITS.items()
        if target is None or has(Target(number, target.suffix), target)
    )
    return max(limits.shared_bytes_opt_in for limits in able)


def _exceeds(sizes: Dimensions, most: Dimensions) -> bool:
    return any(size > limit for size, limit in zip(sizes, most, strict=True))


def _has(kernel: Function, given: PerformanceDirective) -> str:
    return f"`{kernel.name}` has `{kernel.text(given.node)}`"
