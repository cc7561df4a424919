"""How occupancy changes with the resources of a block: curves, the next step, the best block size.

1. A curve varies one resource of a block and keeps the others.
2. The occupancy changes in steps: another block fits only after registers and shared memory fall below a
   step. Threads, the maximum number of blocks and barriers bound the steps.
3. The best block size is the one with the most threads on an SM; of several, the largest.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.calculator import (
    BlockResources,
    Occupancy,
    most_registers,
    most_shared_bytes,
    occupancy_of,
)
from ptx_lsp.isa.device_limits import (
    MAX_REGISTERS_PER_THREAD,
    MAX_STATIC_SHARED_BYTES,
    MAX_THREADS_PER_BLOCK,
    WARP_SIZE,
)
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

SHARED_STEP_BYTES: Final = 1024


class OccupancyStep(NamedTuple):
    """The reductions of both resources after which this many blocks are resident."""

    fewer_registers: int
    """Registers per thread."""
    fewer_shared_bytes: int
    """Bytes per block."""
    result: Occupancy
    more_blocks: int


class Headroom(NamedTuple):
    """How much each resource can grow by itself without losing a block; 0 for blocks that cannot be launched.
    """

    registers: int
    """Registers per thread."""
    shared_bytes: int
    """Bytes per block."""


def over_threads(result: Occupancy) -> tuple[Occupancy, ...]:
    """The occupancy for blocks of 32, 64, ... 1024 threads."""
    sizes = range(WARP_SIZE, MAX_THREADS_PER_BLOCK + 1, WARP_SIZE)
    return tuple([_with(result, result.block._replace(threads=size)) for size in sizes])


def over_registers(result: Occupancy) -> tuple[Occupancy, ...]:
    """The occupancy for 1, 2, ... 255 registers per thread."""
    counts = range(1, MAX_REGISTERS_PER_THREAD + 1)
    return tuple(
        [_with(result, result.block._replace(registers_per_thread=count)) for count in counts]
    )


def over_shared(result: Occupancy, step_bytes: int = SHARED_STEP_BYTES) -> tuple[Occupancy, ...]:
    """The occupancy for 0, `step_bytes`, ... bytes of shared memory, up to the maximum of a block."""
    device, block = result.device, result.block
    most = device.shared_bytes_opt_in if block.opt_in else MAX_STATIC_SHARED_BYTES
    sizes = range(0, most + 1, step_bytes)
    return tuple([_with(result, block._replace(shared_bytes=size)) for size in sizes])


def steps(result: Occupancy) -> tuple[OccupancyStep, ...]:
    """Every higher occupancy that fewer registers and less shared memory reach, the nearest first."""
    return tuple(_steps(result))


def _steps(result: Occupancy) -> Iterator[OccupancyStep]:
    device, block, limits = result.device, result.block, result.limits
    blocks = result.blocks_per_sm
    most_blocks = min(limits._replace(registers=limits.blocks, shared=limits.blocks))
    while blocks < most_blocks:
        registers = min(
            block.registers_per_thread, most_registers(device, block.threads, blocks + 1)
        )
        shared = min(block.shared_bytes, _most_shared(result, blocks + 1))
        if shared < 0 or (registers == 0 < block.registers_per_thread):
            return
        less = _with(result, block._replace(registers_per_thread=registers, shared_bytes=shared))
        yield OccupancyStep(
            block.registers_per_thread - registers,
            block.shared_bytes - shared,
            less,
            less.blocks_per_sm - result.blocks_per_sm,
        )
        blocks = less.blocks_per_sm


def headroom(result: Occupancy) -> Headroom:
    """The distance of the block from the next lower step."""
    if result.blocks_per_sm == 0:
        return Headroom(0, 0)
    block, blocks = result.block, result.blocks_per_sm
    return Headroom(
        most_registers(result.device, block.threads, blocks) - block.registers_per_thread,
        _most_shared(result, blocks) - block.shared_bytes,
    )


def best_block_size(result: Occupancy, at_most: int = MAX_THREADS_PER_BLOCK) -> Occupancy:
    """The occupancy at the best block size, independent of the size of `result`: `at_most` threads or a lower
    multiple of 32. If no size can be launched, the occupancy at the smallest. Raises ValueError if `at_most`
    is below 1.
    """
    at_most = min(at_most, MAX_THREADS_PER_BLOCK)
    smallest, *larger = (*range(WARP_SIZE, at_most, WARP_SIZE), at_most)
    found = [_with(result, result.block._replace(threads=smallest))]
    warps = min(result.device.warps_per_sm, found[0].limits.registers)
    for size in reversed(larger):
        found.append(_with(result, result.block._replace(threads=size)))
        if found[-1].threads_per_sm == warps * WARP_SIZE:  # no size has more
            break
    if not any(one.blocks_per_sm for one in found):
        return found[0]
    return max(found, key=lambda one: (one.threads_per_sm, one.block.threads))


def _with(result: Occupancy, block: BlockResources) -> Occupancy:
    return occupancy_of(result.device, block)


def _most_shared(result: Occupancy, blocks: int) -> int:
    block = result.block
    return most_shared_bytes(
        result.device, blocks, carveout_percent=block.carveout_percent, opt_in=block.opt_in
    )
