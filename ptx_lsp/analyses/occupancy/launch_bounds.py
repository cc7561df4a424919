"""The effect of a kernel's launch bounds on its registers, its residency and its launches.

1. `.reqntid`, else `.maxntid`, gives the threads of a block: the product of its numbers, of 32 bits. If a
   directive is repeated, the last one applies. If it gives more threads than an SM holds, ptxas ignores it
   and `.minnctapersm`.
2. `.minnctapersm n` asks for n resident blocks. ptxas ignores it in three cases: without a block size; if n
   exceeds the SM's maximum number of blocks; and if n blocks, counted in whole warps, do not fit on an SM.
3. The limit L is the most registers per thread with which the requested blocks (else one block) fit on an SM.
   `.maxnreg` is also a limit, raised to the minimum that ptxas uses; above 255 it means 255. The lower limit
   applies. With `.maxnreg`, a block size sets a limit only together with an effective `.minnctapersm`. A
   kernel can therefore get more registers than a block of that size can have. ptxas's option `-maxrregcount`
   is the limit of kernels that have neither `.maxnreg` nor an effective block size. These override it, even
   with more registers.
4. A kernel that needs more than L is reduced to L, at the expense of local memory. With only a block size it
   is often reduced further. A kernel that needs less keeps what it needs; ptxas may raise it up to L if
   `.minnctapersm` is effective. With only a block size, ptxas considers the thresholds (5).
5. A threshold is the most registers with which n blocks are resident. With one more register, fewer blocks
   are.
6. A launch fails ("too many resources requested") with more threads, registers, shared memory or blocks in a
   cluster than a block or cluster can have, or than the directives specify.

Sources: CUDA C++ Programming Guide, "Launch Bounds"; PTX ISA, "Performance-Tuning Directives"; 1 to 3 match
ptxas 12.9 and 13.5 without exception (`tests/oracle/figures/launch_bounds.py`, docs/ptxas.md). 4 is likely;
5 and 6 are exact.
"""

from __future__ import annotations

from math import prod

from ptx_lsp.analyses.occupancy.calculator import most_registers
from ptx_lsp.facts import fact
from ptx_lsp.isa.device_limits import (
    MAX_BLOCK_DIMENSIONS,
    MAX_REGISTERS_PER_THREAD,
    MAX_STATIC_SHARED_BYTES,
    MAX_THREADS_PER_BLOCK,
    PORTABLE_CLUSTER_SIZE,
    WARP_SIZE,
    DeviceLimits,
    limits_of,
    static_shared_limit,
)
from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final, TypeAlias

ThreadsSource: TypeAlias = Literal["reqntid", "maxntid", "none"]
LimitSource: TypeAlias = Literal["maxnreg", "minnctapersm", "block size", "maxrregcount", "target"]
Ignored: TypeAlias = Literal[
    "minnctapersm without block size",
    "minnctapersm above blocks per SM",
    "minnctapersm above warps per SM",
    "block size above threads per SM",
    "maxnreg above 255",
]
Outlook: TypeAlias = Literal["reduce", "may raise", "thresholds", "free"]
Resource: TypeAlias = Literal["threads", "dimension", "registers", "shared", "opt-in", "cluster"]


class Directives(NamedTuple):
    """The numbers in a kernel's directives as written; 0 or empty if absent."""

    reqntid: tuple[int, ...] = ()
    maxntid: tuple[int, ...] = ()
    minnctapersm: int = 0
    maxnreg: int = 0
    reqnctapercluster: tuple[int, ...] = ()
    maxclusterrank: int = 0


class Threshold(NamedTuple):
    """The most registers per thread with which this many blocks are resident."""

    blocks: int
    registers: int


class Failure(NamedTuple):
    """A launch failure due to one resource."""

    resource: Resource
    asked: int
    available: int
    always: bool
    """Whether every launch fails. Otherwise some fail: those with the largest block or cluster that the
    directives allow, those with more than `largest_block` threads, or those that do not opt in to more than
    the guaranteed amount (`opt-in`; a `cluster` of 9 to 16 blocks).
    """


class LaunchBounds(NamedTuple):
    """The consequences of a kernel's directives on one target."""

    directives: Directives
    device: DeviceLimits
    static_shared_limit: int
    """The most bytes of static shared memory that ptxas accepts."""
    threads_per_block: int
    """Threads per block; 0 if no directive gives it."""
    threads_source: ThreadsSource
    blocks_asked: int
    """The blocks of `.minnctapersm` if it is effective, else 0."""
    register_limit: int
    """L, in registers per thread."""
    limit_source: LimitSource
    ignored: tuple[Ignored, ...]
    """The directives that ptxas ignores, and why."""

    @property
    def exceeds_block(self) -> bool:
        """Whether L lets the kernel have more registers than its largest block can have (3)."""
        threads = min(self.threads_per_block, MAX_THREADS_PER_BLOCK)
        return threads > 0 and self.register_limit > most_registers(self.device, threads, 1)

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The thresholds (5), from many registers to few; empty without a block size or if no block can be
        launched.
        """
        return thresholds(self.device, self.threads_per_block)

    def outlook(self, registers: int) -> Outlook:
        """The likely result of ptxas for a kernel that needs `registers` per thread (4)."""
        if registers > self.register_limit:
            return "reduce"
        if self.blocks_asked:
            return "may raise"
        return "thresholds" if self.limit_source == "block size" else "free"

    def failures(
        self, registers: int, static_shared_bytes: int = 0, dynamic_shared_bytes: int = 0
    ) -> tuple[Failure, ...]:
        """The launches that fail for a kernel with `registers` per thread (6)."""
        shared = _shared_failures(self, static_shared_bytes, dynamic_shared_bytes)
        return (*_size_failures(self, registers), *shared, *_cluster_failures(self))


def launch_bounds_of(
    target: str | Target, directives: Directives, maxrregcount: int | None = None
) -> LaunchBounds:
    """The launch bounds from the directives on `target` and ptxas's option `-maxrregcount`.

    Raises ValueError for an unknown target and for targets before sm_50.
    """
    device = limits_of(target)
    static = static_shared_limit(parse_target(target) if isinstance(target, str) else target)
    threads, source = _threads(directives)
    ignored: list[Ignored] = []
    if threads > device.threads_per_sm:
        ignored.append("block size above threads per SM")
    counting = 0 if ignored else threads
    blocks = 0 if ignored else directives.minnctapersm
    reason = _why_ignored(device, counting, blocks)
    if reason is not None:
        ignored.append(reason)
        blocks = 0
    if directives.maxnreg > MAX_REGISTERS_PER_THREAD:
        ignored.append("maxnreg above 255")
    limit, limit_source = _register_limit(device, counting, blocks, directives.maxnreg, maxrregcount)
    return LaunchBounds(
        directives, device, static, threads, source, blocks, limit, limit_source, tuple(ignored)
    )


@fact
def directives_of(function: Function) -> Directives:
    """The directives of a kernel; if one is repeated, the last."""
    found: dict[str, tuple[int, ...]] = {}
    for directive in function.node.directives:
        numbers = [
            integer(argument.text) if isinstance(argument, nodes.Number) else None
            for argument in directive.arguments
        ]
        known = tuple(number for number in numbers if number is not None)
        if known and len(known) == len(numbers):
            found[directive.name.text] = known
    return Directives(
        found.get(".reqntid", ()),
        found.get(".maxntid", ()),
        found.get(".minnctapersm", (0,))[0],
        found.get(".maxnreg", (0,))[0],
        found.get(".reqnctapercluster", ()),
        found.get(".maxclusterrank", (0,))[0],
    )


@fact
def launch_bounds(function: Function) -> LaunchBounds | None:
    """The launch bounds of a kernel on its module's target; None if the target's limits are unknown."""
    try:
        return launch_bounds_of(str(function.module.target), directives_of(function))
    except ValueError:
        return None


def thresholds(device: DeviceLimits, threads: int) -> tuple[Threshold, ...]:
    """The thresholds (5) of blocks of this size; empty if none can be launched."""
    if not 0 < threads <= MAX_THREADS_PER_BLOCK:
        return ()
    warps = -(-threads // WARP_SIZE)
    most = min(device.blocks_per_sm, device.warps_per_sm // warps)
    found: dict[int, Threshold] = {}
    for blocks in range(
        1, most + 1
    ):  # of several numbers of blocks with the same registers the largest
        registers = most_registers(device, threads, blocks)
        found[registers] = Threshold(blocks, registers)
    return tuple(found.values())


def largest_block(device: DeviceLimits, registers: int) -> int:
    """The most threads in a launchable block of a kernel with this many registers per thread."""
    sizes = range(MAX_THREADS_PER_BLOCK, 0, -WARP_SIZE)
    return next((size for size in sizes if most_registers(device, size, 1) >= registers), 0)


_COMPILED_SUB_PARTITIONS: Final = 4
"""ptxas assumes this number on every target, including sm_60."""


def _threads(directives: Directives) -> tuple[int, ThreadsSource]:
    """Sentence 1."""
    if threads := prod(directives.reqntid) % 2**32 if directives.reqntid else 0:
        return threads, "reqntid"
    if threads := prod(directives.maxntid) % 2**32 if directives.maxntid else 0:
        return threads, "maxntid"
    return 0, "none"


def _why_ignored(device: DeviceLimits, threads: int, blocks: int) -> Ignored | None:
    """Sentence 2."""
    if not blocks:
        return None
    if not threads:
        return "minnctapersm without block size"
    if blocks > device.blocks_per_sm:
        return "minnctapersm above blocks per SM"
    if blocks * -(-threads // WARP_SIZE) > device.warps_per_sm:
        return "minnctapersm above warps per SM"
    return None


def _register_limit(
    device: DeviceLimits, threads: int, blocks: int, maxnreg: int, maxrregcount: int | None
) -> tuple[int, LimitSource]:
    """Sentence 3."""
    compiled = device._replace(sub_partitions=_COMPILED_SUB_PARTITIONS)
    limit = MAX_REGISTERS_PER_THREAD
    source: LimitSource = "target"
    if blocks:
        limit, source = most_registers(compiled, threads, blocks), "minnctapersm"
    elif threads and not maxnreg:
        limit, source = most_registers(compiled, threads, 1), "block size"
    elif maxrregcount is not None and not maxnreg:
        asked = max(maxrregcount, device.least_registers)
        return (asked, "maxrregcount") if asked < limit else (limit, source)
    if maxnreg and max(maxnreg, device.least_registers) < limit:
        return max(maxnreg, device.least_registers), "maxnreg"
    return limit, source


def _size_failures(bounds: LaunchBounds, registers: int) -> list[Failure]:
    device, threads = bounds.device, bounds.threads_per_block
    exact = bounds.threads_source == "reqntid"
    found: list[Failure] = []
    for size, most in zip(bounds.directives.reqntid, MAX_BLOCK_DIMENSIONS, strict=False):
        if size > most:
            found.append(Failure("dimension", size, most, always=True))
    if threads > MAX_THREADS_PER_BLOCK:
        found.append(Failure("threads", threads, MAX_THREADS_PER_BLOCK, always=exact))
    most = most_registers(device, min(threads or MAX_THREADS_PER_BLOCK, MAX_THREADS_PER_BLOCK), 1)
    if registers > most:
        found.append(Failure("registers", registers, most, always=exact))
    return found


def _shared_failures(bounds: LaunchBounds, static_bytes: int, dynamic_bytes: int) -> list[Failure]:
    total, most = static_bytes + dynamic_bytes, bounds.device.shared_bytes_opt_in
    if static_bytes > bounds.static_shared_limit:
        return [Failure("shared", static_bytes, bounds.static_shared_limit, always=True)]
    if total > most:
        return [Failure("shared", total, most, always=True)]
    if dynamic_bytes and total > MAX_STATIC_SHARED_BYTES:
        return [Failure("opt-in", total, MAX_STATIC_SHARED_BYTES, always=False)]
    return []


def _cluster_failures(bounds: LaunchBounds) -> list[Failure]:
    required = prod(bounds.directives.reqnctapercluster)
    is_required = bool(bounds.directives.reqnctapercluster)
    size = required if is_required else bounds.directives.maxclusterrank
    most = bounds.device.max_cluster_size
    if size > most:
        return [Failure("cluster", size, most, always=is_required)]
    if size > PORTABLE_CLUSTER_SIZE:
        return [Failure("cluster", size, PORTABLE_CLUSTER_SIZE, always=False)]
    return []
