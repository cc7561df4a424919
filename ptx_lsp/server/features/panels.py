"""Requests beyond LSP, for panels beside the text. docs/protocol.md lists all of them.

`lint` and `ide` compute the results; this module converts them to JSON.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ptx_lsp.analyses.occupancy.calculator import Occupancy
from ptx_lsp.executor.launching.launch_comment import launch_comments
from ptx_lsp.ide.cursor.kernel_metrics import KnownFigures, kernel_metrics
from ptx_lsp.ide.cursor.measurements import NOT_MEASURED, Measurements
from ptx_lsp.ide.panels.occupancy_curve import OccupancyCurve, Shape, occupancy_curve
from ptx_lsp.isa.device_limits import (
    MAX_REGISTERS_PER_THREAD,
    MAX_THREADS_PER_BLOCK,
    WARP_SIZE,
    limits_of,
)
from ptx_lsp.isa.target import TARGETS, Target, parse_target
from ptx_lsp.lint.diagnostic import SEVERITIES, Diagnostic
from ptx_lsp.lint.results.flow import pressure_along
from ptx_lsp.lint.results.report import DynamicShared, Kernel
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.server.background.measuring import measured_json, state_json
from ptx_lsp.server.diagnostics_scheduler import FileDiagnostics
from ptx_lsp.server.feature import handler, panel, uri_of
from ptx_lsp.server.json import Json, at, number, text
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session, View
from ptx_lsp.text import Span


class KernelReport(NamedTuple):
    """The subject of a report: `module` has the requested target."""

    view: View
    findings: Sequence[Diagnostic]
    module: Module
    known: KnownFigures
    kernels: tuple[Function, ...]


@handler("ptx/kernelReport")
async def on_kernel_report(session: Session, asked: object) -> Json:
    """All kernels of a file with their metrics; of a file with many, once all its findings are known."""
    found = await session.diagnostics(uri_of(asked), complete=True)
    if found is None:
        return None
    file, findings = found
    view = session.view_of(file, findings.snapshot)
    report = await session.threads.answer(_begun, view, findings, asked)
    try:
        rows = await session.scheduler.of_each(
            report.module, report.kernels, lambda kernel: kernel_metrics(kernel, report.known)
        )
        return await session.threads.answer(report_json, report, rows)
    finally:
        if report.module is not view.module:
            report.module.dispose(report.module)  # the server collects no old cycles


def _begun(view: View, findings: FileDiagnostics, asked: object) -> KernelReport:
    module, target, known = view.module, _target(asked), view.known
    if target is not None and target != module.target:
        module = Module(module.document, None, target)
        known = known._replace(measured=NOT_MEASURED)
    return KernelReport(view, findings.diagnostics, module, known, tuple(kernels_of(module)))


def report_json(report: KernelReport, rows: Sequence[Kernel]) -> dict[str, Json]:
    """The answer, with a row for each kernel."""
    view, module = report.view, report.module
    launched = {one.entry for one in launch_comments(module)}
    view.display_names(one.name for one in report.kernels)  # all at once
    found = sorted(report.findings, key=_start)
    kernels: list[Json] = []
    for function, row in zip(report.kernels, rows, strict=True):
        span = Span(function.item.start, function.item.end)
        some = found[bisect_left(found, span.start, key=_start) : bisect_left(found, span.end, key=_start)]
        kernels.append({
            **_kernel(view, function, row, report.known),
            "findings": _counts(some),
            "canPreview": function.name in launched,
        })
    return {
        "ptxVersion": str(module.version) if module.version else None,
        "target": str(module.target) if module.target else None,
        "targets": _targets(),
        "ptxas": state_json(view.measured),
        "kernels": kernels,
    }


def _start(found: Diagnostic) -> int:
    return found.span.start


def _counts(found: Iterable[Diagnostic]) -> Json:
    counts = Counter(one.severity for one in found)
    return {severity: counts[severity] for severity in SEVERITIES}


def _kernel(view: View, function: Function, row: Kernel, given: KnownFigures) -> dict[str, Json]:
    registers, known = row.registers, row.occupancy
    return {
        "name": function.name,
        "displayName": view.display_name(function.name),
        "range": view.convert.json_range(Span(function.item.start, function.item.end)),
        "selectionRange": view.convert.json_range(function.module.span(function.symbol.place)),
        "registers": {
            "estimate": registers.estimate,
            "low": registers.low,
            "high": registers.high,
            "peakLive": registers.peak_live,
            "limit": registers.limit,
        },
        "measured": _measured(function.name, given.measured),
        "sharedBytes": row.shared_bytes,
        "dynamicShared": _dynamic_shared(row.dynamic_shared),
        "localBytes": row.local_bytes,
        "parameterBytes": row.parameter_bytes,
        "threadsPerBlock": row.threads_per_block,
        "threadsSource": row.threads_source,
        "clusterSize": row.cluster_size,
        "occupancy": {
            "blocksPerSm": known.blocks_per_sm,
            "warpsPerSm": known.warps_per_sm,
            "percent": known.percent,
            "limiters": list(known.limiters) if known.limiters is not None else None,
        },
        "branches": {
            "uniform": row.branches.uniform,
            "divergent": row.branches.divergent,
            "unknown": row.branches.unknown,
        },
    }


def _measured(kernel: str, given: Measurements) -> Json:
    found = given.of_kernels.get(kernel)
    return measured_json(found, given.version) if found is not None else None


@panel("ptx/occupancyCurve")
def on_occupancy_curve(view: View, asked: object) -> Json:
    """The occupancy over the resources of a block; null if there is no kernel."""
    function = chosen(view, asked)
    if function is None:
        return None
    shape = Shape(*(number(at(asked, key)) for key in ("threads", "registers", "sharedBytes")))
    found = occupancy_curve(function, shape, _target(asked), view.known)
    return _curve(view, found) if found is not None else None


def _curve(view: View, found: OccupancyCurve) -> Json:
    device = found.point.device
    return {
        "kernel": found.kernel,
        "displayName": view.display_name(found.kernel),
        "target": found.target,
        "targets": _targets(),
        "registersSource": found.registers_source,
        "interval": _interval(found),
        "staticSharedBytes": found.static_shared,
        "dynamicShared": _dynamic_shared(found.dynamic_shared),
        "point": {**_shape(found.point), **_occupancy(found.point)},
        "own": _shape(found.own),
        "limits": {
            "threads": MAX_THREADS_PER_BLOCK,
            "registers": MAX_REGISTERS_PER_THREAD,
            "sharedBytes": device.shared_bytes_opt_in,
            "warpsPerSm": device.warps_per_sm,
            "blocksPerSm": device.blocks_per_sm,
        },
        "curves": {
            "threads": [_point(one, one.block.threads) for one in found.over_threads],
            "registers": [_point(one, one.block.registers_per_thread) for one in found.over_registers],
            "sharedBytes": [_point(one, one.block.shared_bytes) for one in found.over_shared],
        },
        "steps": list[Json](found.steps),
    }


def _interval(found: OccupancyCurve) -> Json:
    """The registers and the occupancy at both ends of the estimate."""
    if found.interval is None:
        return None
    return [
        {"registers": one.block.registers_per_thread, **_occupancy(one)} for one in found.interval
    ]


def _dynamic_shared(found: DynamicShared | None) -> Json:
    return None if found is None else {"bytes": found.size, "source": found.source}


def _shape(found: Occupancy) -> dict[str, Json]:
    block = found.block
    return {
        "threads": block.threads,
        "registers": block.registers_per_thread,
        "sharedBytes": block.shared_bytes,
    }


def _occupancy(found: Occupancy) -> dict[str, Json]:
    return {
        "blocksPerSm": found.blocks_per_sm,
        "warpsPerSm": found.warps_per_sm,
        "percent": found.percent,
        "limiters": list[Json](found.limiters),
    }


def _point(found: Occupancy, x: int) -> Json:
    return [x, found.blocks_per_sm, found.warps_per_sm, round(found.percent, 4)]


@panel("ptx/pressureProfile")
def pressure_profile(view: View, asked: object) -> Json:
    """The number of live 32-bit registers at each line of a kernel; null if there is no kernel."""
    function = chosen(view, asked)
    if function is None:
        return None
    found, limit = pressure_along(function), kernel_metrics(function).registers.limit
    peak: Json = None
    if found.peak_step is not None:
        live: list[Json] = [{"name": one.name, "size": one.units} for one in found.live]
        step = found.peak_step
        peak = {"line": found.lines[step] - 1, "live": found.units[step], "registers": live}
    most: dict[int, int] = {}
    for line, units in zip(found.lines, found.units, strict=True):
        most[line - 1] = max(units, most.get(line - 1, 0))
    return {
        "kernel": function.name,
        "range": view.convert.json_range(Span(function.item.start, function.item.end)),
        "lines": [[line, units] for line, units in most.items()],
        "peak": peak,
        "limit": limit,
    }


# -- what is asked for ----------------------------------------------------------------------------


def chosen(view: View, asked: object) -> Function | None:
    """The named kernel or function, else the one at a position, else the first."""
    name, place = text(at(asked, "kernel")), at(asked, "position")
    if name is not None:
        return view.module.definitions.get(name)
    line, column = number(at(place, "line")), number(at(place, "character"))
    if line is not None and column is not None:
        return view.module.function_at(view.convert.offset_at(line, column))
    return next(kernels_of(view.module), None)


def kernels_of(module: Module) -> Iterator[Function]:
    """The kernels that a module defines."""
    return (f for f in module.functions if f.is_kernel and f.symbol.is_definition and f.name)


def _target(asked: object) -> Target | None:
    """The target that is asked for. Raises RefusalError where there is none of that name."""
    name = text(at(asked, "target"))
    if not name:
        return None
    found = parse_target(name)
    if found not in TARGETS:
        raise RequestFailedError(
            f"unknown target `{name}`; expected one such as `sm_90` or `sm_100a`"
        )
    return found


def _targets() -> list[Json]:
    """The targets with known limits."""
    return [str(target) for target in sorted(TARGETS) if _has_limits(target)]


def _has_limits(target: Target) -> bool:
    try:
        return limits_of(target).threads_per_sm >= WARP_SIZE
    except ValueError:
        return False
