"""The devices for which a launch is checked: the one that is named, or all that can run the kernel."""

from __future__ import annotations

from typing import NamedTuple

from ptx_lsp.analyses.occupancy.calculator import BlockResources, Limits, occupancy_of
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.isa.device_limits import LIMITS, MULTIPROCESSORS, DeviceLimits
from ptx_lsp.isa.target import Target, has, parse_target


class Devices(NamedTuple):
    """Devices by the numbers of their targets, and their name in messages."""

    name: str
    numbers: tuple[int, ...]

    @property
    def limits(self) -> tuple[DeviceLimits, ...]:
        return tuple(LIMITS[number] for number in self.numbers)

    @property
    def shared_bytes(self) -> int:
        """The most shared memory of a block."""
        return max(one.shared_bytes_opt_in for one in self.limits)

    @property
    def have_clusters(self) -> bool:
        return any(one.clusters for one in self.limits)

    def allocated_bytes(self, shared_bytes: int) -> int:
        """Shared memory in the units in which blocks get it."""
        unit = min(one.shared_unit_bytes for one in self.limits)
        return -(-shared_bytes // unit) * unit

    def allowed(self, block: BlockResources) -> Limits:
        """How many blocks of a kind each resource of a multiprocessor has room for, on the best device."""
        return Limits(*(max(each) for each in zip(*self._limits(block), strict=True)))

    def resident_blocks(self, block: BlockResources) -> int:
        """How many blocks of a kind, in whole clusters, are resident at once on the largest device."""
        counts = [min(one) for one in self._limits(block)]
        most = max(
            count * MULTIPROCESSORS[number] for count, number in zip(counts, self.numbers, strict=True)
        )
        return most // block.cluster_size * block.cluster_size

    def _limits(self, block: BlockResources) -> list[Limits]:
        return [occupancy_of(one, block).limits for one in self.limits]


def devices(target: Target | None, named: str | None) -> Devices:
    """The device `named`, or those that can run code for a target. Raises ExecutionError if there is none."""
    if named is None:
        numbers = tuple(number for number in LIMITS if _runs(number, target))
        return Devices("any device" if target is None else f"any device that runs `{target}` code", numbers)
    parsed = parse_target(named)
    if parsed is None or parsed.number not in LIMITS:
        known = ", ".join(f"sm_{number}" for number in LIMITS)
        raise ExecutionError(f"no device `{named}` is known; the devices are {known}", "launch")
    if not _runs(parsed.number, target):
        message = f"the kernel is for `{target}`, which sm_{parsed.number} cannot run"
        raise ExecutionError(f"{message} (CUDA_ERROR_NO_BINARY_FOR_GPU)", "launch")
    return Devices(f"sm_{parsed.number}", (parsed.number,))


def _runs(number: int, target: Target | None) -> bool:
    return target is None or has(Target(number, target.suffix), target)
