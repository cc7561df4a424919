"""Why a device refuses a launch (PTX ISA, "Performance-Tuning Directives" and "Cluster Dimension Directives";
CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").

1. If a directive is repeated, the last one applies.
2. `.reqntid` demands its block in each dimension; `.maxntid` limits the product of the dimensions only.
   `.minnctapersm` and `.maxnctapersm` advise ptxas and refuse nothing.
3. `.reqnctapercluster` demands its cluster if the launch names one; `.maxclusterrank` limits the product.
   `.explicitcluster` demands that the kernel or the launch defines the cluster.
4. Resources are checked against the device that is named, else against the best of those that can run the
   module. The host is assumed to opt in to what needs it: more than 48 KiB of shared memory, and more than 8
   blocks in a cluster. The shared memory of called functions is not counted: only ptxas knows it.
5. Only ptxas knows the registers of a thread. Where they are not given, they refuse no launch.

Each message ends with the error of the CUDA driver that stands for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, NamedTuple

from ptx_lsp.analyses.occupancy.calculator import BlockResources, most_registers
from ptx_lsp.executor.launching.device import Devices
from ptx_lsp.executor.machine.launch_config import Dimensions, LaunchConfig
from ptx_lsp.isa.device_limits import (
    MAX_BLOCK_DIMENSIONS,
    MAX_CLUSTER_SIZE,
    MAX_THREADS_PER_BLOCK,
    static_shared_limit,
)
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import parameter_bytes, parameter_limit, shared_bytes
from ptx_lsp.model.module import module_of

_WORD = 1 << 32
_LARGEST_GRID = (1 << 31) - 1, 65535, 65535

Error = Literal[
    "INVALID_VALUE", "INVALID_PTX", "INVALID_CLUSTER_SIZE", "LAUNCH_OUT_OF_RESOURCES",
    "COOPERATIVE_LAUNCH_TOO_LARGE",
]


class Refusal(NamedTuple):
    """The reason why a launch is refused, with the remedy, and the error of the driver."""

    message: str
    error: Error

    def __str__(self) -> str:
        return f"{self.message} (CUDA_ERROR_{self.error})"


def refusal(
    kernel: Function, shape: LaunchConfig, devices: Devices, registers: int, *, is_cooperative: bool
) -> Refusal | None:
    """The first reason for which a device refuses a launch; None if it does not. `registers` are those of a
    thread, 0 if they are not known.
    """
    return next(
        chain(
            _of_any_kernel(shape),
            _of_directives(kernel, shape),
            _of_clusters(kernel, shape, devices),
            _of_memory(kernel, shape, devices),
            _of_registers(kernel, shape, devices, registers),
            _of_cooperative(kernel, shape, devices, is_cooperative=is_cooperative),
        ),
        None,
    )


def block_resources(kernel: Function, shape: LaunchConfig, registers: int) -> BlockResources:
    """The resources of a block, as far as they are known."""
    shared = (shared_bytes(kernel) or 0) + shape.dynamic_bytes
    return BlockResources(shape.threads, registers, shared, cluster_size=shape.cluster_blocks)


def _of_any_kernel(shape: LaunchConfig) -> Iterator[Refusal]:
    if shape.threads > MAX_THREADS_PER_BLOCK:
        yield Refusal(
            f"a block has at most {MAX_THREADS_PER_BLOCK} threads, not {shape.threads}", "INVALID_VALUE"
        )
    if _exceeds(shape.block, MAX_BLOCK_DIMENSIONS):
        yield Refusal(f"a block is at most {MAX_BLOCK_DIMENSIONS}, not {shape.block}", "INVALID_VALUE")
    if _exceeds(shape.grid, _LARGEST_GRID):
        yield Refusal(f"a grid is at most {_LARGEST_GRID}, not {shape.grid}", "INVALID_VALUE")


def _of_directives(kernel: Function, shape: LaunchConfig) -> Iterator[Refusal]:
    heads = effective_directives(kernel)
    given = heads.last(".reqntid")
    if given and given.product and given.extent != shape.block:
        yield Refusal(
            f"{_has(kernel, given)}: launch it with a block of {given.extent}, not {shape.block}",
            "INVALID_VALUE",
        )
    given = heads.last(".maxntid")
    most = (given.product or 0) % _WORD if given else 0  # ptxas counts in 32 bits, and 0 is no bound
    if given and 0 < most < shape.threads:
        yield Refusal(
            f"{_has(kernel, given)}: a block has at most {most} threads, not {shape.threads}; launch smaller"
            " blocks, or compile it for larger ones (`__launch_bounds__` in CUDA C++)",
            "INVALID_VALUE",
        )


def _of_clusters(kernel: Function, shape: LaunchConfig, devices: Devices) -> Iterator[Refusal]:
    error: Error = "INVALID_CLUSTER_SIZE"
    heads = effective_directives(kernel)
    if shape.cluster_blocks > MAX_CLUSTER_SIZE:
        yield Refusal(
            f"a cluster has at most {MAX_CLUSTER_SIZE} blocks, not {shape.cluster_blocks}", error
        )
    if shape.cluster_blocks > 1 and not devices.have_clusters:
        yield Refusal(f"{devices.name} has no clusters of blocks; sm_90 and later devices do", error)
    given = heads.last(".reqnctapercluster")
    if given and given.product and given.extent != shape.cluster:
        yield Refusal(
            f"{_has(kernel, given)}: launch it with a cluster of {given.extent} or without naming"
            f" one, not with {shape.cluster}",
            error,
        )
    if (given := heads.last(".maxclusterrank")) and given.product and shape.cluster_blocks > given.product:
        yield Refusal(
            f"{_has(kernel, given)}: a cluster has at most {given.product} blocks, not"
            f" {shape.cluster_blocks}; launch smaller clusters, or compile it for larger ones",
            error,
        )
    if (given := heads.last(".explicitcluster")) and not shape.is_explicit_cluster:
        yield Refusal(f"{_has(kernel, given)}: the launch must specify the cluster size", error)
    if any(size % each for size, each in zip(shape.grid, shape.cluster, strict=True)):
        yield Refusal(
            f"a grid of {shape.grid} cannot be divided into clusters of {shape.cluster}: each "
            "dimension must be a multiple",
            error,
        )


def _of_memory(kernel: Function, shape: LaunchConfig, devices: Devices) -> Iterator[Refusal]:
    size, limit = parameter_bytes(kernel), parameter_limit(module_of(kernel))
    if size is not None and limit is not None and size > limit:
        more = "" if limit > 4352 else "; from `.version 8.1` and sm_70 on it is 32764"
        yield Refusal(
            f"the parameters of `{kernel.name}` have {size} bytes; the limit is {limit}{more}", "INVALID_PTX"
        )
    static = shared_bytes(kernel) or 0
    most = static_shared_limit(module_of(kernel).target)
    if static > most:
        yield Refusal(
            f"`{kernel.name}` has {static} bytes of static shared memory, but at most {most} are "
            "allowed: declare it `.extern .shared` without a size, and give the size at launch",
            "INVALID_PTX",
        )
    total, most = static + shape.dynamic_bytes, devices.shared_bytes
    if total > most:
        yield Refusal(
            f"{total} bytes of shared memory ({static} static, {shape.dynamic_bytes} dynamic) "
            f"exceed the {most} that a block can have on {devices.name}",
            "INVALID_VALUE",
        )


def _of_registers(
    kernel: Function, shape: LaunchConfig, devices: Devices, registers: int
) -> Iterator[Refusal]:
    if not registers or devices.allowed(block_resources(kernel, shape, registers)).registers:
        return
    most = max(most_registers(one, shape.threads, 1) for one in devices.limits)
    yield Refusal(
        f"a block of {shape.threads} threads can have {most} registers per thread on {devices.name}, but"
        f" `{kernel.name}` uses {registers}: launch smaller blocks, or compile it with"
        f" `.maxntid {shape.threads}` (`__launch_bounds__({shape.threads})` in CUDA C++)",
        "LAUNCH_OUT_OF_RESOURCES",
    )


def _of_cooperative(
    kernel: Function, shape: LaunchConfig, devices: Devices, *, is_cooperative: bool
) -> Iterator[Refusal]:
    if is_cooperative and shape.blocks > shape.resident_blocks:
        yield Refusal(
            f"all blocks of a cooperative launch must be resident at once: of {shape.blocks} blocks of"
            f" `{kernel.name}`, at most {shape.resident_blocks} fit on {devices.name}; launch fewer blocks"
            " that do more each",
            "COOPERATIVE_LAUNCH_TOO_LARGE",
        )


def _exceeds(sizes: Dimensions, most: Dimensions) -> bool:
    return any(size > limit for size, limit in zip(sizes, most, strict=True))


def _has(kernel: Function, given: PerformanceDirective) -> str:
    return f"`{kernel.name}` has `{kernel.text(given.node)}`"
