"""The metrics of a kernel for editors, which request them after every edit: cached if its own text determines
them.
"""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.containers.kernel_metadata import KernelMetadata
from ptx_lsp.facts import fact, is_computed, small
from ptx_lsp.ide.cursor.measurements import NOT_MEASURED, Measurements
from ptx_lsp.isa.device_limits import MAX_REGISTERS_PER_THREAD
from ptx_lsp.lint.results.kernels import kernel, with_launch
from ptx_lsp.lint.results.metadata import metadata_of
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple

MANY = 20_000
"""With more instructions, computing the metrics takes longer than an editor should wait."""


class KnownFigures(NamedTuple):
    """Figures of the kernels of a file from elsewhere than its text."""

    dynamic_shared: int | None = None
    """Bytes per block, from the settings."""
    metadata: Mapping[str, KernelMetadata] = {}
    """By the name of the kernel."""
    measured: Measurements = NOT_MEASURED


NOTHING_KNOWN = KnownFigures()


def kernel_metrics(function: Function, known: KnownFigures = NOTHING_KNOWN) -> Kernel:
    """Registers, memory, occupancy and branches of a kernel, without `instructions`. Its `line` may be of an
    earlier text. Its `peak_live` is that of the PTX, as along its lines; None where that would take long.
    """
    row = _metrics(function) if calls(function) else _cached_metrics(function)
    row = with_launch(row, function, known.dynamic_shared, metadata_of(function, known.metadata))
    return known.measured.applied_to(row)


def is_cached(function: Function) -> bool:
    """Whether the metrics of a kernel are already computed."""
    return is_computed(_cached_metrics, function)


@fact
@small
def _cached_metrics(function: Function) -> Kernel:
    """The metrics of a kernel without calls, which depend only on its own text and environment."""
    return _metrics(function)


def _metrics(function: Function) -> Kernel:
    row = kernel(function)
    is_soon = len(function.body.instructions) <= MANY or is_computed(register_pressure, function)
    peak = register_pressure(function).peak if is_soon else None
    return row._replace(registers=row.registers._replace(peak_live=peak), instructions=())


def registers_text(row: Kernel) -> str:
    """`about 30 registers (26 to 34)`; empty where there is no estimate."""
    found = row.registers
    if found.estimate is None:
        return ""
    bound = found.limit is not None and found.limit < MAX_REGISTERS_PER_THREAD
    capped = f", at most {found.limit}" if bound else ""
    if found.low == found.high:
        return f"about {found.estimate} registers{capped}"
    return f"about {found.estimate} registers ({found.low} to {found.high}{capped})"


def occupancy_text(row: Kernel) -> str:
    """`75 % occupancy with 256 threads per block: 6 blocks, 48 warps per SM, limited by registers`."""
    found = row.occupancy
    if found.percent is None or found.threads_per_block is None:
        return ""
    if not found.blocks_per_sm:
        return f"cannot be launched: {limiters_text(row)}"
    percent = percent_text(row)
    size = f"{found.threads_per_block} threads per block"
    origin = _BLOCK_SIZES.get(row.threads_source or "", "")
    resident = (
        f"{_counted(found.blocks_per_sm, 'block')}, "
        f"{_counted(found.warps_per_sm or 0, 'warp')} per SM"
    )
    rests = " (for the estimated registers)" if found.registers_source == "estimate" else ""
    return f"{percent} occupancy with {size}{origin}: {resident}, limited by {limiters_text(row)}{rests}"


def percent_text(row: Kernel) -> str:
    """`37.5 %`; without the dynamic shared memory, `at most 37.5 %`."""
    percent = row.occupancy.percent
    bound = "at most " if row.dynamic_shared is not None and row.dynamic_shared.size is None else ""
    return "" if percent is None else f"{bound}{percent:g} %"


def dynamic_shared_text(row: Kernel) -> str:
    """`49152 bytes of dynamic shared memory (launch comment)`; empty if the kernel has none."""
    found = row.dynamic_shared
    if found is None or found.source == "none":
        return ""
    if found.size is None:
        return "dynamic shared memory unknown"
    return f"{found.size} bytes of dynamic shared memory ({found.source})"


def limiters_text(row: Kernel) -> str:
    """`registers and shared memory`."""
    return " and ".join(_LIMITERS.get(one, one) for one in row.occupancy.limiters or ())


_BLOCK_SIZES = {
    "best": " (the best block size; no directive fixes one)",
    "metadata": " (metadata)",
}
_LIMITERS = {"shared": "shared memory", "blocks": "places for blocks"}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"
