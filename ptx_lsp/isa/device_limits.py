"""The resources of a multiprocessor (SM) of each target that blocks share.

Sources: NVIDIA's CCCL header `cuda/__device/arch_traits.h` 13.3.5 (registers, shared memory, threads);
NVIDIA's `cuda_occupancy.h` 13.5 (blocks, sub-partitions, barriers, carve-outs); both agree with what ptxas
12.9 and 13.5 say of threads and blocks for each SM when `.minnctapersm` asks for too many. In none of these
are the shared memory of `sm_72` (taken to be that of `sm_70`) and, in the first, that of `sm_101` (the same
as `sm_110`, its later name). For `sm_107` the first has 228 KiB, while the carve-outs of the second go up to
328 KiB: the smaller stands here until there is a device to ask.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

WARP_SIZE: Final = 32
MAX_THREADS_PER_BLOCK: Final = 1024
MAX_BLOCK_DIMENSIONS: Final = (1024, 1024, 64)
MAX_REGISTERS_PER_THREAD: Final = 255
REGISTER_UNIT: Final = 8
"""A warp gets registers in units of 256, which is 8 for each of its threads."""
MAX_STATIC_SHARED_BYTES: Final = 48 * 1024
"""The shared memory of a block without an opt-in of the launch. Static shared memory has another limit on
some targets: `static_shared_limit`.
"""
PORTABLE_CLUSTER_SIZE: Final = 8
MAX_CLUSTER_SIZE: Final = 16
"""Above 8 blocks a launch has to allow a size that not every device has."""

_K: Final = 1024


class DeviceLimits(NamedTuple):
    """The resources of one SM, and the maximum for one block."""

    threads_per_sm: int
    blocks_per_sm: int
    barriers_per_sm: int
    """Named barriers; 0 where their number limits nothing (before sm_90)."""
    registers_per_sm: int
    registers_per_block: int
    sub_partitions: int
    """A warp lives in one of them, which owns this share of the registers."""
    sub_partitions_checked: int
    """A launch is refused when one block would not fit into so many. sm_60 is held to the 4 of its
    family, though it has 2.
    """
    shared_bytes_per_sm: int
    shared_bytes_opt_in: int
    """The most that one block may have."""
    shared_bytes_reserved: int
    """The driver's reservation in each block's shared memory."""
    shared_unit_bytes: int
    carveouts_kib: tuple[int, ...]
    """How much of the common memory can be shared memory; the rest is cache. Empty where it is fixed."""
    clusters: bool
    """Whether blocks can form clusters."""
    least_registers: int
    """The fewest registers of a thread that `.maxnreg` can make ptxas keep to."""

    @property
    def warps_per_sm(self) -> int:
        return self.threads_per_sm // WARP_SIZE

    @property
    def max_cluster_size(self) -> int:
        """The most blocks in a cluster; 1 where there are no clusters."""
        return MAX_CLUSTER_SIZE if self.clusters else 1


@lru_cache(maxsize=256)
def limits_of(target: str | Target) -> DeviceLimits:
    """The limits of `target`, which may have a suffix or be called `compute_90`.

    Raises ValueError where there is no such target or its limits are not known (before sm_50).
    """
    parsed = parse_target(target) if isinstance(target, str) else target
    if parsed is None:
        raise ValueError(f"not a target: {target!r}")
    found = LIMITS.get(parsed.number)
    if found is None:
        raise ValueError(f"the limits of target {parsed} are not known")
    return found


def static_shared_limit(target: Target | None) -> int:
    """The most bytes of static shared memory that ptxas accepts in a kernel: 48 KiB, or for a target with a
    suffix `a` what a block may have with an opt-in. Probed with ptxas 13.5 on all targets; 12.9 still has
    48 KiB on every target (docs/ptxas.md).
    """
    found = LIMITS.get(target.number) if target is not None and target.suffix == "a" else None
    return MAX_STATIC_SHARED_BYTES if found is None else found.shared_bytes_opt_in


_OLD_CARVEOUTS: Final = (0, 8, 16, 32, 64, 96)
_CARVEOUTS: Final = (0, 8, 16, 32, 64, 100, 132, 164, 196, 228)
_TURING_CARVEOUTS: Final = (32, 64)


def _limits() -> dict[int, DeviceLimits]:
    limits: dict[int, DeviceLimits] = {}
    for line in _TABLE.strip().splitlines():
        number, threads, blocks, barriers, registers, partitions, shared, opt_in = map(
            int, line.split()
        )
        limits[number] = DeviceLimits(
            threads,
            blocks,
            barriers,
            64 * _K,
            registers * _K,
            partitions,
            4,
            shared * _K,
            opt_in * _K,
            _K if number >= 80 else 0,
            128 if number >= 80 else 256,
            _carveouts(number, shared),
            number >= 90,
            24 if number >= 70 else 16,
        )
    return limits


def _carveouts(number: int, shared_kib: int) -> tuple[int, ...]:
    if number < 70:
        return ()
    if number < 80:
        return _TURING_CARVEOUTS if number == 75 else _OLD_CARVEOUTS
    return tuple(size for size in _CARVEOUTS if size <= shared_kib)


# registers: of one block, in thousands (1024); shared memory: of an SM and, opted in, of a block, in KiB
_TABLE: Final = """
     50  2048  32   0  64  4   64   48
     52  2048  32   0  64  4   96   48
     53  2048  32   0  32  4   64   48
     60  2048  32   0  64  2   64   48
     61  2048  32   0  64  4   96   48
     62  2048  32   0  32  4   64   48
     70  2048  32   0  64  4   96   96
     72  2048  32   0  64  4   96   96
     75  1024  16   0  64  4   64   64
     80  2048  32   0  64  4  164  163
     86  1536  16   0  64  4  100   99
     87  1536  16   0  64  4  164  163
     88  1536  16   0  64  4  100   99
     89  1536  24   0  64  4  100   99
     90  2048  32  64  64  4  228  227
    100  2048  32  64  64  4  228  227
    101  1536  24  24  64  4  228  227
    103  2048  32  32  64  4  228  227
    107  1024  16  16  64  4  228  227
    110  1536  24  24  64  4  228  227
    120  1536  24  24  64  4  100   99
    121  1536  24  24  64  4  100   99
"""

LIMITS: Final = _limits()
"""By the number of the target: 90 for sm_90 and sm_90a."""

MULTIPROCESSORS: Final = {
    50: 5, 52: 24, 53: 2, 60: 56, 61: 30, 62: 2, 70: 80, 72: 8, 75: 72, 80: 108, 86: 84, 87: 16, 88: 16,
    89: 142, 90: 132, 100: 148, 101: 20, 103: 160, 107: 224, 110: 20, 120: 188, 121: 48,
}  # fmt: skip
"""The most SMs of a device, by the number of the target, from NVIDIA's data sheets. For sm_88 that of sm_87
stands here, and for sm_107 that of the whole chip, which no product exceeds.
"""
