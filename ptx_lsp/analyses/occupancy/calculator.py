"""Occupancy: the blocks and warps of a kernel that are resident on an SM, and the resources that limit them.

1. Each resource that a block uses allows `limit` blocks. The smallest limit is the number of resident blocks.
   The resources with that limit are the limiters.
2. `warps`: a block has ceil(threads / 32) warps. `blocks`: an SM has a maximum number of resident blocks.
3. `registers`: a warp gets its registers in units of 256, all from one sub-partition of the SM. Registers of
   a sub-partition that suffice for no further warp are lost. A block cannot be launched if it does not fit in
   one SM with its warps rounded up to fill all sub-partitions equally.
4. `shared`: static and dynamic shared memory and the driver's reservation, in units of 128 or 256 bytes.
   Beyond 48 KiB the launch has to opt in. A carve-out limits shared memory to a fraction of the memory that
   it shares with the cache, but always leaves enough for one block.
5. `barriers`: named barriers, from sm_90 on. `clusters`: the limit is 0 if a cluster has more blocks than the
   target supports, else unlimited. The number of clusters on a device depends on its number of SMs, which the
   target does not determine.

The results equal those of NVIDIA's calculator `cuda_occupancy.h` (`tests/oracle/figures/occupancy.py`
compares them). They may be lower on a device that runs other work, or whose driver reserves more.
"""

from __future__ import annotations

from ptx_lsp.isa.device_limits import (
    MAX_REGISTERS_PER_THREAD,
    MAX_STATIC_SHARED_BYTES,
    MAX_THREADS_PER_BLOCK,
    REGISTER_UNIT,
    WARP_SIZE,
    DeviceLimits,
    limits_of,
)
from ptx_lsp.isa.target import Target
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Limiter: TypeAlias = Literal["warps", "blocks", "registers", "shared", "barriers", "clusters"]

UNLIMITED: Final = 2**31 - 1
"""The limit of a resource that a block does not use."""


class BlockResources(NamedTuple):
    """The resources of one thread block."""

    threads: int
    registers_per_thread: int
    shared_bytes: int = 0
    """Static and dynamic bytes, without the driver's reservation."""
    barriers: int = 1
    cluster_size: int = 1
    """Blocks per cluster."""
    carveout_percent: int = 100
    """The requested percentage of the SM's combined cache and shared memory that becomes shared memory."""
    opt_in: bool = True
    """Whether the launch opts in to more than 48 KiB of shared memory if the block needs it."""


class Limits(NamedTuple):
    """The number of blocks that each resource allows by itself; `UNLIMITED` if a block does not use it."""

    warps: int
    blocks: int
    registers: int
    shared: int
    barriers: int
    clusters: int


class Occupancy(NamedTuple):
    """The resident blocks and warps of an SM. With no blocks, the launch fails and the limiters are the
    reason.
    """

    blocks_per_sm: int
    warps_per_sm: int
    percent: float
    """Resident warps as a percentage of the maximum."""
    limiters: tuple[Limiter, ...]
    limits: Limits
    registers_per_block: int
    """Registers as allocated."""
    shared_bytes_per_block: int
    """Bytes as allocated, with the driver's reservation."""
    device: DeviceLimits
    block: BlockResources

    @property
    def threads_per_sm(self) -> int:
        return self.blocks_per_sm * self.block.threads


def occupancy(
    target: str | Target,
    threads_per_block: int,
    registers_per_thread: int,
    shared_bytes_per_block: int = 0,
    *,
    barriers_per_block: int = 1,
    cluster_size: int = 1,
    carveout_percent: int = 100,
    opt_in: bool = True,
) -> Occupancy:
    """The occupancy of an SM of `target` by these blocks; see `BlockResources` for the arguments.

    A block that cannot be launched (over 1024 threads, too much shared memory, ...) gives 0 blocks. Raises
    ValueError for an unknown target and for invalid numbers: no threads, more than 255 registers, negative
    amounts, a carve-out that is not a percentage.
    """
    block = BlockResources(
        threads_per_block,
        registers_per_thread,
        shared_bytes_per_block,
        barriers_per_block,
        cluster_size,
        carveout_percent,
        opt_in,
    )
    return occupancy_of(limits_of(target), block)


def occupancy_of(device: DeviceLimits, block: BlockResources) -> Occupancy:
    """The occupancy for the given limits and block. Raises ValueError as `occupancy` does."""
    if not _is_sensible(block):
        raise ValueError(_invalid_reason(block))
    warps = -(-block.threads // WARP_SIZE)
    registers_per_warp = _allocated_registers(block.registers_per_thread)
    shared = _allocated_shared(device, block.shared_bytes)
    limits = Limits(
        device.warps_per_sm // warps if block.threads <= MAX_THREADS_PER_BLOCK else 0,
        device.blocks_per_sm,
        _register_limit(device, warps, registers_per_warp),
        _shared_limit(device, block, shared),
        _barrier_limit(device, block.barriers),
        _cluster_limit(device, block.cluster_size),
    )
    blocks = min(limits)
    return Occupancy(
        blocks,
        blocks * warps,
        100 * blocks * warps / device.warps_per_sm,
        tuple([name for name, limit in zip(_NAMES, limits, strict=True) if limit == blocks]),
        limits,
        registers_per_warp * warps,
        shared,
        device,
        block,
    )


_NAMES: Final[tuple[Limiter, ...]] = (
    "warps", "blocks", "registers", "shared", "barriers", "clusters",
)  # fmt: skip


def most_registers(device: DeviceLimits, threads: int, blocks: int) -> int:
    """The most registers per thread with which `blocks` blocks fit, considering only registers; 0 if even one
    register is too many.
    """
    warps = -(-threads // WARP_SIZE)
    per_partition = -(-warps * blocks // device.sub_partitions)
    of_partition = device.registers_per_sm // device.sub_partitions // per_partition
    checked = device.sub_partitions_checked
    of_block = device.registers_per_block // (-(-warps // checked) * checked)
    fit = min(of_partition, of_block) // (WARP_SIZE * REGISTER_UNIT) * REGISTER_UNIT
    return min(MAX_REGISTERS_PER_THREAD, fit)


def most_shared_bytes(
    device: DeviceLimits, blocks: int, *, carveout_percent: int = 100, opt_in: bool = True
) -> int:
    """The most shared memory of a block, in bytes without the reservation, with which `blocks` blocks fit,
    considering only shared memory; -1 if even blocks without any do not fit.
    """
    at_most = device.shared_bytes_opt_in if opt_in else MAX_STATIC_SHARED_BYTES
    available = carved_out(device, carveout_percent) or _next_carveout(device, 1)
    if blocks == 1:  # the carve-out is raised to fit one block
        available = device.shared_bytes_per_sm
    unit = device.shared_unit_bytes
    fit = available // blocks // unit * unit - device.shared_bytes_reserved
    return max(-1, min(at_most, fit))


def carved_out(device: DeviceLimits, percent: int) -> int:
    """The shared memory of an SM, in bytes, if a launch requests `percent` of it."""
    wanted = percent * device.shared_bytes_per_sm // 100
    return _next_carveout(device, wanted) if device.carveouts_kib else device.shared_bytes_per_sm


def _next_carveout(device: DeviceLimits, wanted: int) -> int:
    return next(size * 1024 for size in device.carveouts_kib if size * 1024 >= wanted)


def _is_sensible(block: BlockResources) -> bool:
    return (
        block.threads > 0
        and 0 <= block.registers_per_thread <= MAX_REGISTERS_PER_THREAD
        and block.shared_bytes >= 0
        and block.barriers >= 0
        and block.cluster_size > 0
        and 0 <= block.carveout_percent <= 100
    )


def _invalid_reason(block: BlockResources) -> str:
    if block.threads <= 0:
        return f"a block has at least one thread, not {block.threads}"
    if not 0 <= block.registers_per_thread <= MAX_REGISTERS_PER_THREAD:
        return (
            f"a thread has 0 to {MAX_REGISTERS_PER_THREAD} registers, "
            f"not {block.registers_per_thread}"
        )
    if block.cluster_size <= 0:
        return f"a cluster has at least one block, not {block.cluster_size}"
    if not 0 <= block.carveout_percent <= 100:
        return f"a carve-out is 0 to 100 percent, not {block.carveout_percent}"
    return f"a block cannot have {min(block.shared_bytes, block.barriers)} of a resource"


def _allocated_registers(registers_per_thread: int) -> int:
    """Registers of a warp, as allocated."""
    return -(-registers_per_thread // REGISTER_UNIT) * REGISTER_UNIT * WARP_SIZE


def _allocated_shared(device: DeviceLimits, shared_bytes: int) -> int:
    """The allocated shared memory of a block in bytes."""
    unit = device.shared_unit_bytes
    return -(-(shared_bytes + device.shared_bytes_reserved) // unit) * unit


def _register_limit(device: DeviceLimits, warps: int, registers_per_warp: int) -> int:
    """Sentence 3."""
    checked = device.sub_partitions_checked
    if registers_per_warp * -(-warps // checked) * checked > device.registers_per_block:
        return 0
    if not registers_per_warp:
        return UNLIMITED
    warps_of_partition = device.registers_per_sm // device.sub_partitions // registers_per_warp
    return warps_of_partition * device.sub_partitions // warps


def _shared_limit(device: DeviceLimits, block: BlockResources, allocated: int) -> int:
    """Sentence 4."""
    at_most = device.shared_bytes_opt_in if block.opt_in else MAX_STATIC_SHARED_BYTES
    if allocated > at_most + device.shared_bytes_reserved:
        return 0
    if not allocated:
        return UNLIMITED
    available = device.shared_bytes_per_sm
    if block.carveout_percent != 100 and device.carveouts_kib:
        available = carved_out(device, block.carveout_percent)
        if available < allocated:
            available = _next_carveout(device, allocated)
    return available // allocated


def _barrier_limit(device: DeviceLimits, barriers: int) -> int:
    return device.barriers_per_sm // barriers if device.barriers_per_sm and barriers else UNLIMITED


def _cluster_limit(device: DeviceLimits, size: int) -> int:
    """Sentence 5."""
    return UNLIMITED if size <= device.max_cluster_size else 0
