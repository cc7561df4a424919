"""How many registers ptxas lets its scheduler use.

1. The scheduler has a target: the most registers with which n warps are resident on each of the four
   sub-partitions of an SM, from the most warps that can be resident there down to 1. The target is the first
   that the code can keep to at all, and loads are hoisted up to it.
2. Without a block size, the most warps are those of the SM. With one, they are those of the blocks that fit
   by their threads, their number and their static shared memory. So a block of 1024 threads has a first
   target of 64 registers where an SM holds 1536 threads, although it could have 32 or 40 elsewhere; blocks
   of 32 threads have one of 64 or more, since an SM has no more than 16 to 32 of them.
3. The size of a block has no other influence. Fewer registers than necessary for as many blocks are often
   the target: blocks of 1024 threads on sm_90 have 32 or 40, though a block with 64 fits as often as one
   with 40.
4. `.minnctapersm`, `.maxnreg` and the option `-maxrregcount` give the only target.
5. `RESERVE` registers less than the target are live at once after hoisting: 28 with a target of 32, 60 with
   64, 124 with 128, 251 with 255. Code that needs up to 2 less than the target keeps to it. ptxas also
   computes values again to reach a target, so code that needs somewhat more by the simulation has the same
   target (`_MOST_REDUCED`, fitted to real kernels).
6. With a block size, code that needs far more registers than there are gets only those of the first target,
   and the rest is in local memory: 32 for blocks of 256 threads on sm_80, 64 on sm_75. With 280 live
   values it still gets 255, with 400 no longer; the simulation counts too many in such code
   (`_HOPELESS`). Without a block size it always gets 255.
7. From sm_90 on, the parameters that a loop reads are loaded before it, unless more than three quarters of
   the registers of the first target would be live: then the loop loads them each time.

The rest was observed in the machine code of ptxas 13.5 for kernels with up to 300 independent loads and 0 to
196 values that live across them, for sm_75, sm_90 and sm_120.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.calculator import BlockResources, occupancy_of
from ptx_lsp.analyses.occupancy.launch_bounds import LaunchBounds
from ptx_lsp.isa.device_limits import (
    MAX_REGISTERS_PER_THREAD,
    REGISTER_UNIT,
    WARP_SIZE,
    DeviceLimits,
)
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

RESERVE: Final = 4
_ONLY_TARGET: Final = frozenset({"minnctapersm", "maxnreg", "maxrregcount"})
_PARTITIONS: Final = 4
_NEVER_LIVE: Final = 2
"""The registers of a target that are never live."""
_MOST_REDUCED: Final = 1.04
"""How many times the registers that are live with a target may be necessary by the simulation."""
_MOST_HELD: Final = 0.75
"""How much of the first target is live at most while loops hold parameters (7)."""
_HOPELESS: Final = 2 * MAX_REGISTERS_PER_THREAD
"""From how many necessary registers on code is given those of the first target (6)."""


def scheduling_limit(bounds: LaunchBounds, static_shared_bytes: int, least: int) -> int:
    """The most registers that are live at once after hoisting, in code that needs at least `least`."""
    limit = bounds.register_limit
    if bounds.limit_source in _ONLY_TARGET:
        return limit - RESERVE
    for registers in _targets(bounds, static_shared_bytes):
        if _keeps_to(least, registers):
            return min(registers, limit, MAX_REGISTERS_PER_THREAD) - RESERVE
    return min(limit, MAX_REGISTERS_PER_THREAD) - RESERVE


def register_cap(bounds: LaunchBounds, static_shared_bytes: int, least: int) -> int:
    """The most registers that are used, in code that needs at least `least`."""
    limit = bounds.register_limit
    has_size = bounds.threads_per_block > 0 and bounds.limit_source not in _ONLY_TARGET
    if not has_size or least < _HOPELESS:
        return limit
    return min(limit, next(_targets(bounds, static_shared_bytes), limit))


def holds_parameters(bounds: LaunchBounds, static_shared_bytes: int, least: int) -> bool:
    """Whether loops hold parameters in code that then needs at least `least` registers (7)."""
    limit = bounds.register_limit
    has_only_target = bounds.limit_source in _ONLY_TARGET
    target = limit if has_only_target else next(_targets(bounds, static_shared_bytes), limit)
    return least <= _MOST_HELD * min(target, limit, MAX_REGISTERS_PER_THREAD)


def register_targets(device: DeviceLimits, most_warps: int) -> Iterator[int]:
    """The targets but the last, of one warp per sub-partition (1), if up to `most_warps` are resident."""
    partition = device.registers_per_sm // _PARTITIONS // WARP_SIZE
    for warps in range(most_warps // _PARTITIONS, 1, -1):
        yield partition // warps // REGISTER_UNIT * REGISTER_UNIT


def _targets(bounds: LaunchBounds, static_shared_bytes: int) -> Iterator[int]:
    return register_targets(bounds.device, _most_warps(bounds, static_shared_bytes))


def _keeps_to(least: int, registers: int) -> bool:
    return least < _MOST_REDUCED * (registers - RESERVE) + RESERVE - _NEVER_LIVE


def _most_warps(bounds: LaunchBounds, static_shared_bytes: int) -> int:
    """The warps that are resident on an SM if registers do not limit them (2)."""
    device, threads = bounds.device, bounds.threads_per_block
    if not 0 < threads <= device.threads_per_sm:
        return device.warps_per_sm
    block = BlockResources(threads, 1, static_shared_bytes)
    return occupancy_of(device, block).warps_per_sm or device.warps_per_sm
