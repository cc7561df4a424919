"""The occupancy of one kernel over the resources of its blocks, and the changes that affect it."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.calculator import Occupancy, occupancy_of
from ptx_lsp.analyses.occupancy.curves import (
    headroom,
    over_registers,
    over_shared,
    over_threads,
    steps,
)
from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.ide.cursor.kernel_metrics import NOTHING_KNOWN, KnownFigures, kernel_metrics
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.results.kernels import resident
from ptx_lsp.lint.results.report import DynamicShared, Kernel, RegistersSource
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple


class Shape(NamedTuple):
    """The resources of a block; None means the kernel's own."""

    threads: int | None = None
    registers: int | None = None
    shared_bytes: int | None = None


class OccupancyCurve(NamedTuple):
    """`own` is the occupancy of the unchanged kernel, `point` that of the requested shape."""

    kernel: str
    target: str
    own: Occupancy
    point: Occupancy
    registers_source: RegistersSource
    interval: tuple[Occupancy, Occupancy] | None
    """The occupancy for the lowest and the highest of the estimated registers; None if those of `point` are
    no estimate.
    """
    static_shared: int | None
    dynamic_shared: DynamicShared | None
    over_threads: tuple[Occupancy, ...]
    over_registers: tuple[Occupancy, ...]
    over_shared: tuple[Occupancy, ...]
    steps: tuple[str, ...]
    """The reductions that allow more blocks, and the headroom that loses none."""


def occupancy_curve(
    function: Function, shape: Shape | None = None, target: Target | None = None,
    known: KnownFigures = NOTHING_KNOWN,
) -> OccupancyCurve | None:
    """The curves for the file's target or another one; None if the kernel has no metrics for it."""
    row = kernel_metrics(function, known)
    if target is not None and str(target) != row.target:
        estimate = estimated_registers(function, target)
        registers = estimate.estimate if estimate is not None else None
        interval = (estimate.low, estimate.high) if estimate is not None else (None, None)
        row = row._replace(
            target=str(target),
            registers=row.registers._replace(estimate=registers, low=interval[0], high=interval[1]),
            occupancy=row.occupancy._replace(registers=registers, registers_source="estimate"),
        )
    try:
        own = resident(row)
        if own is None:
            return None
        point = _with(own, shape or Shape())
    except ValueError:  # a target with unknown limits, or an invalid block
        return None
    return OccupancyCurve(
        function.name,
        row.target or "",
        own,
        point,
        row.occupancy.registers_source or "estimate",
        _interval(row, point),
        row.shared_bytes,
        row.dynamic_shared,
        over_threads(point),
        over_registers(point),
        over_shared(point),
        tuple(next_steps(point)),
    )


def _interval(row: Kernel, point: Occupancy) -> tuple[Occupancy, Occupancy] | None:
    known = row.registers
    is_own = point.block.registers_per_thread == row.occupancy.registers
    if not is_own or row.occupancy.registers_source != "estimate" or known.low is None or known.high is None:
        return None
    return _with(point, Shape(registers=known.low)), _with(point, Shape(registers=known.high))


def _with(own: Occupancy, shape: Shape) -> Occupancy:
    block = own.block
    return occupancy_of(
        own.device,
        block._replace(
            threads=block.threads if shape.threads is None else shape.threads,
            registers_per_thread=(
                block.registers_per_thread if shape.registers is None else shape.registers
            ),
            shared_bytes=block.shared_bytes if shape.shared_bytes is None else shape.shared_bytes,
        ),
    )


def next_steps(found: Occupancy) -> Iterator[str]:
    """The distances to the next steps up and down, in words."""
    for step in steps(found)[:2]:
        less = " and ".join(
            text
            for amount, text in (
                (
                    step.fewer_registers,
                    f"{_counted(step.fewer_registers, 'register')} fewer per thread",
                ),
                (
                    step.fewer_shared_bytes,
                    (f"{step.fewer_shared_bytes} fewer bytes of shared memory"),
                ),
            )
            if amount
        )
        percent = round(step.result.percent, 1)
        yield f"{less}: {_counted(step.more_blocks, 'more block')} per SM ({percent:g} %)"
    if not found.blocks_per_sm:
        yield f"A block of this size cannot be launched: {', '.join(found.limiters)}"
        return
    left = headroom(found)
    more = " or ".join(
        text
        for amount, text in (
            (left.registers, f"{_counted(left.registers, 'more register')} per thread"),
            (left.shared_bytes, f"{left.shared_bytes} more bytes of shared memory"),
        )
        if amount
    )
    if more:
        yield f"{more} would not reduce the number of blocks"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
