"""One kernel on the page: its figures, its occupancy curves, its pressure and its control flow.

Every figure is labelled with its kind. Its element has `data-figure`, the path to it in the JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ptx_lsp.analyses.occupancy.calculator import Occupancy
from ptx_lsp.analyses.occupancy.curves import over_registers, over_shared, over_threads
from ptx_lsp.cli.graphs.flow_svg import flow_svg
from ptx_lsp.cli.page.charts import Chart, Marked, chart
from ptx_lsp.cli.page.text import number, safe
from ptx_lsp.ide.panels.layered_layout import TooLargeError
from ptx_lsp.ide.panels.occupancy_curve import next_steps
from ptx_lsp.lint.results.details import Flow, Pressure
from ptx_lsp.lint.results.display_names import display_names
from ptx_lsp.lint.results.kernels import resident
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.named_tuple import NamedTuple

_MOST_BLOCKS: Final = 400
_MOST_LIVE: Final = 200
_UNFOLDED_BLOCKS: Final = 60
_PERCENT: Final = "% of the warps of an SM"
_THREADS: Final = {
    "reqntid": "set by .reqntid",
    "maxntid": "at most, set by .maxntid",
    "option": "set by --threads",
    "metadata": "from the metadata beside the file",
    "best": "best size; no directive sets it",
}


def kernel_name(name: str, shown: Mapping[str, str]) -> str:
    """The name of a kernel in HTML, with its short form in `shown` first, if it has one."""
    return f'{safe(shown[name])} <span class="soft">{safe(name)}</span>' if name in shown else safe(name)


def kernel_section(path: str, rows: Sequence[Kernel], anchor: str) -> Iterator[str]:
    """The lines of HTML on one kernel; `rows` has one row per target."""
    name = kernel_name(rows[0].name, display_names([rows[0].name]))
    yield f'<section class="kernel" id="{anchor}">'
    yield f'<h3 class="name">{name} <span class="soft">{safe(path)}:{rows[0].line}</span></h3>'
    for row in rows:
        yield from _target(row)
    details = next((row.details for row in rows if row.details is not None), None)
    if details is not None:
        yield from _pressure(details.pressure)
        yield from _flow(details.flow)
    yield "</section>"


def _target(row: Kernel) -> Iterator[str]:
    yield f'<div data-kernel="{safe(row.name)}" data-target="{safe(row.target or "")}">'
    yield f"<h4>Metrics for {safe(row.target or 'an unknown target')}</h4>"
    yield '<dl class="tiles">'
    for tile in _tiles(row):
        yield (
            f'<div><dt>{safe(tile.name)}</dt><dd><span class="value" data-figure="{tile.figure}">'
            f'{safe(tile.value)}</span> <div class="kind">{safe(tile.kind)}</div></dd></div>'
        )
    yield "</dl>"
    found = resident(row)
    if found is not None:
        yield from _curves(found)
    yield "</div>"


class _Tile(NamedTuple):
    name: str
    figure: str
    value: str
    kind: str


def _tiles(row: Kernel) -> Iterator[_Tile]:
    registers, known = row.registers, row.occupancy
    interval = "estimated"
    if registers.interval is not None:
        interval += f"; {registers.low} to {registers.high} for about 90 % of unseen kernels"
    of = f"exact for {known.registers} registers ({known.registers_source})"
    if known.registers_source == "estimate":
        of = f"exact for the estimated {known.registers} registers"
    if row.dynamic_shared is not None and row.dynamic_shared.size is None:
        of += "; at most, for dynamic shared memory is unknown"
    limiters = ", ".join(known.limiters or ())
    measured = row.measured
    threads = row.threads_per_block or known.threads_per_block
    size = "threads_per_block" if row.threads_per_block else "occupancy.threads_per_block"
    tiles: list[tuple[str, str, float | None, str]] = [
        ("Registers", "registers.estimate", registers.estimate, interval),
        ("Registers", "registers.measured", registers.measured, "measured by ptxas"),
        ("Live at the peak", "registers.peak_live", registers.peak_live, "estimated, in machine code"),
        ("Register limit", "registers.limit", registers.limit, "exact, from the directives"),
        ("Threads per block", size, threads, _THREADS.get(row.threads_source or "", "")),
        ("Blocks per SM", "occupancy.blocks_per_sm", known.blocks_per_sm, f"limited by {limiters}"),
        ("Warps per SM", "occupancy.warps_per_sm", known.warps_per_sm, of),
        ("Occupancy, percent", "occupancy.percent", known.percent, of),
        ("Shared memory, bytes", "shared_bytes", row.shared_bytes, "exact, static"),
        ("Local memory, bytes", "local_bytes", row.local_bytes, "exact, as declared"),
        ("Parameters, bytes", "parameter_bytes", row.parameter_bytes, "exact"),
        ("Uniform branches", "branches.uniform", row.branches.uniform, "proved"),
        ("Divergent branches", "branches.divergent", row.branches.divergent, "depend on the thread"),
        ("Other branches", "branches.unknown", row.branches.unknown, "may be either"),
    ]
    if measured is not None:
        tiles += [
            ("Stack, bytes", "measured.stack_bytes", measured.stack_bytes, "measured by ptxas"),
            ("Spill stores, bytes", "measured.spill_store_bytes", measured.spill_store_bytes,
             "measured by ptxas"),
            ("Spill loads, bytes", "measured.spill_load_bytes", measured.spill_load_bytes,
             "measured by ptxas"),
        ]  # fmt: skip
    for name, figure, value, kind in tiles:
        if value is not None:
            yield _Tile(name, figure, f"{value:g}" if isinstance(value, float) else str(value), kind)
        if figure == "shared_bytes":
            yield from _dynamic(row)


def _dynamic(row: Kernel) -> Iterator[_Tile]:
    """Only of kernels that use it."""
    found = row.dynamic_shared
    if found is not None and found.source != "none":
        size = "?" if found.size is None else str(found.size)
        kind = "unknown: the launch gives it" if found.size is None else f"from the {found.source}"
        yield _Tile("Dynamic shared memory, bytes", "dynamic_shared_bytes", size, kind)


def _curves(found: Occupancy) -> Iterator[str]:
    block = found.block
    for_threads = [(float(one.block.threads), one.percent) for one in over_threads(found)]
    for_registers = [(float(one.block.registers_per_thread), one.percent) for one in over_registers(found)]
    for_shared = [(one.block.shared_bytes / 1024, one.percent) for one in over_shared(found)]
    top, share = 100, f"{round(found.percent, 1):g} %"
    yield '<div class="charts">'
    for wanted in (
        Chart("Occupancy over the size of a block", "threads per block", _PERCENT, for_threads, top,
              Marked(block.threads, found.percent, f"{share} at {block.threads}"), bars=True),
        Chart("Occupancy over registers", "registers per thread", _PERCENT, for_registers, top,
              Marked(block.registers_per_thread, found.percent,
                     f"{share} at {block.registers_per_thread}")),
        Chart("Occupancy over shared memory", "KiB of shared memory per block", _PERCENT, for_shared, top,
              Marked(block.shared_bytes / 1024, found.percent,
                     f"{share} at {block.shared_bytes} bytes")),
    ):  # fmt: skip
        yield "<figure>"
        yield from chart(wanted)
        yield "</figure>"
    yield "</div>"
    yield '<ul class="steps">'
    yield from (f"<li>{safe(step)}</li>" for step in next_steps(found))
    yield "</ul>"


def _pressure(pressure: Pressure) -> Iterator[str]:
    if pressure.peak_step is None or not pressure.live:
        return
    peak, line = pressure.units[pressure.peak_step], pressure.lines[pressure.peak_step]
    points = [(float(at), float(units)) for at, units in enumerate(pressure.units)]
    caption = f"peak: {peak} at line {line}"
    marked = Marked(pressure.peak_step, peak, caption)
    lines = pressure.lines

    def line_of(x: float) -> str:
        return str(lines[min(len(lines) - 1, max(0, round(x)))])

    yield "<h4>Register pressure along the code</h4>"
    yield "<figure>"
    yield from chart(
        Chart(
            "Register pressure along the code", "line", "live 32-bit registers of PTX", points, peak,
            marked, width=1100, height=240, x_text=line_of,
        )
    )  # fmt: skip
    yield (
        "<figcaption>Exact for this PTX. ptxas removes copies, conversions and more; the estimate "
        "above is for its machine code.</figcaption></figure>"
    )
    live = pressure.live
    yield f"<details><summary>{number(len(live), 'register')} live at line {line}</summary><div class='live'>"
    for one in live[:_MOST_LIVE]:
        times = f" &times;{one.units}" if one.units > 1 else ""
        yield f'<span>{safe(one.name)} <span class="soft">{safe(one.type)}{times}</span></span>'
    if len(live) > _MOST_LIVE:
        yield f"and {len(live) - _MOST_LIVE} more"
    yield "</div></details>"


def _flow(flow: Flow) -> Iterator[str]:
    count = len(flow.blocks) - 1
    split = sum(block.turn == "divergent" for block in flow.blocks)
    caption = f"Control flow: {number(count, 'block')}, {split} with a divergent branch"
    try:
        if count > _MOST_BLOCKS:
            raise TooLargeError(f"more than {_MOST_BLOCKS} blocks")
        lines = list(flow_svg(flow, style=""))
    except TooLargeError as error:
        yield f"<h4>{caption}</h4>"
        yield f"<p>Too large to draw here ({error}); use <code>ptx-lint --cfg</code>.</p>"
        return
    yield f"<details{' open' * (count <= _UNFOLDED_BLOCKS)}><summary>{caption}</summary>"
    yield (
        '<p class="soft">Orange: divergent within a warp; dashed border: unknown. '
        "Blue: jumps.</p>"
    )
    yield '<div class="scroll">'
    yield from lines
    yield "</div></details>"
