"""How many blocks and warps of a kernel an SM holds at once, and what keeps it from more.

1. A resource that a block takes a share of allows `limit` blocks; the least of the limits is how many are
   resident. The resources whose limit is that least are the limiters.
2. `warps`: a block has ceil(threads / 32) warps. `blocks`: an SM has only so many places for blocks.
3. `registers`: a warp gets its registers in units of 256, all from one sub-partition of the SM, so
   what is left of a sub-partition when no further warp fits is lost. A block that would not fit in one SM,
   its warps rounded up to fill all sub-partitions alike, is not launched at all.
4. `shared`: static and dynamic shared memory and what the driver reserves, in units of 128 or 256
   bytes. Beyond 48 KiB the launch has to opt in. A carve-out leaves shared memory only a part of the
   memory it has in common with the cache, though always enough for one block.
5. `barriers`: named barriers, from sm_90 on. `clusters`: allow none when a cluster has more blocks than
   the target takes, else any number; how many clusters a device holds depends on its number of
   SMs, which a target does not tell.

Exact: the same as NVIDIA's calculator `cuda_occupancy.h`, which `tests/oracle/occupancy.py` compares.
Figures for a device on which other work runs, or whose driver reserves more, may be lower.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias

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

Limiter: TypeAlias = Literal["warps", "blocks", "registers", "shared", "barriers", "clusters"]

UNLIMITED: Final = 2**31 - 1
"""The limit of a resource that a block takes nothing of."""


class BlockResources(NamedTuple):
    """The resources of one thread block."""

    threads: int
    registers_per_thread: int
    shared_bytes: int = 0
    """Static and dynamic, without what the driver reserves."""
    barriers: int = 1
    cluster_size: int = 1
    """Blocks in a cluster."""
    carveout_percent: int = 100
    """How much of the memory that an SM has for cache and shared memory the launch wants shared."""
    opt_in: bool = True
    """Whether the launch asks for more than 48 KiB of shared memory where the block needs it."""


class Limits(NamedTuple):
    """How many blocks each resource allows by itself; `UNLIMITED` where a block takes nothing of it."""

    warps: int
    blocks: int
    registers: int
    shared: int
    barriers: int
    clusters: int


class Occupancy(NamedTuple):
    """What an SM holds at once. No blocks at all: the launch fails, and the limiters say why."""

    blocks_per_sm: int
    warps_per_sm: int
    percent: float
    """Of the warps that an SM can hold."""
    limiters: tuple[Limiter, ...]
    limits: Limits
    registers_per_block: int
    """As allocated."""
    shared_bytes_per_block: int
    """As allocated, with what the driver reserves."""
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
    """The occupancy of an SM of `target` by such blocks; see `Block` for the arguments.

    A block that cannot be launched (over 1024 threads, too much shared memory, ...) gives no blocks.
    Raises ValueError for an unknown target and for numbers that no kernel has: no threads, more than 255
    registers, negative amounts, a carve-out that is no percentage.
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
    """The same for limits and a block at hand. Raises ValueError as `occupancy` does."""
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
    """The most registers a thread can have so that `blocks` blocks fit, as far as registers go; 0 where
    not even one each is possible.
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
    """The most shared memory a block can have, in bytes and without what is reserved, so that `blocks`
    blocks fit, as far as shared memory goes; -1 where not even blocks without any do.
    """
    at_most = device.shared_bytes_opt_in if opt_in else MAX_STATIC_SHARED_BYTES
    available = carved_out(device, carveout_percent) or _next_carveout(device, 1)
    if blocks == 1:  # a carve-out gives way to the one block
        available = device.shared_bytes_per_sm
    unit = device.shared_unit_bytes
    fit = available // blocks // unit * unit - device.shared_bytes_reserved
    return max(-1, min(at_most, fit))


def carved_out(device: DeviceLimits, percent: int) -> int:
    """The shared memory of an SM, in bytes, when a launch wants `percent` of it."""
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
    """Shared memory of a block in bytes, as allocated."""
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
