"""The metrics of each kernel of a module: estimates of the analyses, and measurements of ptxas if it ran.

If some metrics of a kernel cannot be computed, the others are still reported. The failure is logged and
reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import prod

from ptx_lsp.analyses.control_flow.call_graph import call_graph_node
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.occupancy import launch_bounds as bounds
from ptx_lsp.analyses.occupancy.calculator import Occupancy as Resident
from ptx_lsp.analyses.occupancy.calculator import occupancy
from ptx_lsp.analyses.occupancy.curves import best_block_size
from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.containers.kernel_metadata import KernelMetadata
from ptx_lsp.lint.failures import report_failure
from ptx_lsp.lint.results.dynamic_shared import dynamic_shared
from ptx_lsp.lint.results.metadata import metadata_of, with_metadata
from ptx_lsp.lint.results.report import (
    Branches,
    Kernel,
    Measured,
    Occupancy,
    Registers,
    ThreadsSource,
)
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import local_bytes, parameter_bytes, shared_bytes
from ptx_lsp.model.instructions.shapes import shape_counts
from ptx_lsp.model.module import Module
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.ptxas import Resources  # starts processes, which an estimate does not need

_SYSTEM_CALLS = frozenset({"vprintf", "malloc", "free", "__assertfail"})
"""Functions of the driver: they use no shared memory, and no variables of the program."""


def kernels(
    module: Module,
    measured: Mapping[str, Resources] | None = None,
    threads: int | None = None,
    with_details: bool = False,
    maxrregcount: int | None = None,
    dynamic: int | None = None,
    metadata: Mapping[str, KernelMetadata] | None = None,
    with_fingerprints: bool = False,
) -> list[Kernel]:
    """One row per kernel definition, in order, with its dynamic shared memory.

    `measured` are the metrics of ptxas by kernel name. `threads` is the block size if no `.reqntid` fixes it
    and no `.maxntid` forbids it. `maxrregcount` is the option of ptxas. `dynamic` is the dynamic shared
    memory where no launch comment gives it. `metadata` by kernel name give what the others leave open.
    `with_fingerprints` adds those of their code.
    """
    defined = [f for f in module.functions if f.is_kernel and f.symbol.is_definition and f.name]
    rows = (
        kernel(function, (measured or {}).get(function.name), threads, with_details, maxrregcount)
        for function in defined
    )
    found = [
        with_launch(row, function, dynamic, metadata_of(function, metadata or {}))
        for row, function in zip(rows, defined, strict=True)
    ]
    if with_fingerprints:
        from ptx_lsp.lint.results.code_fingerprint import code_fingerprint

        pairs = zip(found, defined, strict=True)
        return [row._replace(fingerprint=code_fingerprint(function)) for row, function in pairs]
    return found


def kernel(
    function: Function,
    measured: Resources | None = None,
    threads: int | None = None,
    with_details: bool = False,
    maxrregcount: int | None = None,
) -> Kernel:
    """The row of one kernel, without its dynamic shared memory and its metadata."""
    module = function.module
    start = module.span(function.symbol.place).start
    row = Kernel(
        function.name,
        module.document.source.line_of(start) + 1,
        str(module.target) if module.target else None,
        Registers(measured=measured.registers if measured else None),
        measured=_measured(measured) if measured else None,
    )
    try:
        row = _computed(function, row, threads, maxrregcount)
        if with_details:
            from ptx_lsp.lint.results.flow import details

            row = row._replace(details=details(function))
        return row
    except Exception as error:  # a failure in one kernel must not lose the report of a file
        report_failure(__name__, f"the figures of kernel `{function.name}`", error)
        return row


def with_measured(row: Kernel, found: Resources) -> Kernel:
    """The row with the measurements of ptxas, and the occupancy that follows from them."""
    registers = row.registers._replace(measured=found.registers)
    row = row._replace(registers=registers, measured=_measured(found))
    return row._replace(occupancy=_occupancy(row))


def without_measured(row: Kernel) -> Kernel:
    """The row with the estimates alone, and the occupancy that follows from them."""
    if row.registers.measured is None:
        return row
    row = row._replace(registers=row.registers._replace(measured=None), measured=None)
    return row._replace(occupancy=_occupancy(row))


def resident(row: Kernel) -> Resident | None:
    """The occupancy in the row, with the inputs of its curves; None if it has none."""
    known = row.occupancy
    if row.target is None or known.threads_per_block is None or known.registers is None:
        return None
    return occupancy(
        row.target, known.threads_per_block, known.registers, all_shared(row) or 0,
        cluster_size=row.cluster_size,
    )


def with_launch(
    row: Kernel, function: Function, dynamic: int | None, known: KernelMetadata | None
) -> Kernel:
    """The row of a kernel with its dynamic shared memory and its metadata, and the occupancy that follows."""
    old = _launch_figures(row)
    row = with_metadata(row, known)._replace(dynamic_shared=dynamic_shared(function, dynamic, known))
    return row if _launch_figures(row) == old else row._replace(occupancy=_occupancy(row))


def all_shared(row: Kernel) -> int | None:
    """The shared memory per block, static and dynamic, as far as the latter is known."""
    static = _shared(row)
    dynamic = row.dynamic_shared.size if row.dynamic_shared is not None else None
    return None if static is None else static + (dynamic or 0)


def _launch_figures(row: Kernel) -> tuple[int | None, int, int]:
    dynamic = row.dynamic_shared
    return row.threads_per_block, row.cluster_size, (dynamic.size if dynamic is not None else None) or 0


def _computed(
    function: Function, row: Kernel, threads: int | None, maxrregcount: int | None
) -> Kernel:
    directives = bounds.directives_of(function)
    size, source = _threads(directives, threads)
    row = row._replace(
        registers=_registers(function, row.registers, maxrregcount),
        shared_bytes=_shared_with_calls(function),
        local_bytes=_local_with_calls(function),
        parameter_bytes=parameter_bytes(function),
        threads_per_block=size,
        threads_source=source,
        cluster_size=prod(directives.reqnctapercluster) or 1,
        cluster_source="reqnctapercluster" if directives.reqnctapercluster else None,
        branches=_branches(function),
        instructions=_instructions(function),
    )
    return row._replace(occupancy=_occupancy(row))


def _measured(resources: Resources) -> Measured:
    return Measured(
        resources.shared_bytes,
        resources.stack_bytes,
        resources.spill_store_bytes,
        resources.spill_load_bytes,
    )


def _threads(
    directives: bounds.Directives, option: int | None
) -> tuple[int | None, ThreadsSource | None]:
    """The block size: `.reqntid` fixes it, `.maxntid` bounds it, else it is the requested one."""
    required = prod(directives.reqntid) % 2**32 if directives.reqntid else 0
    if required:
        return required, "reqntid"
    most = prod(directives.maxntid) % 2**32 if directives.maxntid else 0
    if option is not None and (not most or option <= most):
        return option, "option"
    return (most, "maxntid") if most else (None, "best")


def _registers(function: Function, known: Registers, maxrregcount: int | None) -> Registers:
    found = _bounds(function, maxrregcount)
    limit = found.register_limit if found and found.limit_source != "target" else None
    estimate = estimated_registers(function, maxrregcount=maxrregcount)
    if estimate is None:
        return known._replace(limit=limit)
    return Registers(
        estimate.estimate, estimate.low, estimate.high, estimate.peak_live, known.measured, limit
    )


def _bounds(function: Function, maxrregcount: int | None) -> bounds.LaunchBounds | None:
    found = bounds.launch_bounds(function)
    if found is None or maxrregcount is None:
        return found
    return bounds.launch_bounds_of(str(function.module.target), found.directives, maxrregcount)


def _occupancy(row: Kernel) -> Occupancy:
    """The occupancy at the known block size, else at the best one (`occupancy_curves`)."""
    measured, estimate = row.registers.measured, row.registers.estimate
    registers = estimate if measured is None else measured
    shared = all_shared(row)
    if row.target is None or registers is None or shared is None:
        return Occupancy()
    try:
        found = occupancy(
            row.target, row.threads_per_block or 1, registers, shared, cluster_size=row.cluster_size
        )
    except ValueError:  # the limits of targets before sm_50 are unknown
        return Occupancy()
    if row.threads_per_block is None:
        found = best_block_size(found)
    return Occupancy(
        found.blocks_per_sm,
        found.warps_per_sm,
        round(found.percent, 1),
        found.limiters,
        found.block.threads,
        registers,
        "estimate" if measured is None else "measured",
    )


def _shared(row: Kernel) -> int | None:
    measured = row.measured.shared_bytes if row.measured else None
    return row.shared_bytes if measured is None else measured


def _branches(function: Function) -> Branches:
    """The reachable conditional jumps and guarded `ret` and `exit`, without those with a single successor."""
    levels = list(uniformity(function).branches.values())
    uniform = sum(level.is_uniform for level in levels)
    divergent = sum(level == UniformityLevel.DIVERGENT for level in levels)
    return Branches(uniform, divergent, len(levels) - uniform - divergent)


def _instructions(function: Function) -> tuple[tuple[str, int], ...]:
    counts = Counter[str]()
    for shape, count in shape_counts(function).counts.items():
        counts[shape.spelling] += count
    return tuple(sorted(counts.items(), key=lambda row: (-row[1], row[0])))


def _shared_with_calls(function: Function) -> int | None:
    """None if callees also have shared memory: how ptxas places that is unknown."""
    others = _called(function)
    if others is None or any(shared_bytes(other) != 0 for other in others):
        return None
    return shared_bytes(function)


def _local_with_calls(function: Function) -> int | None:
    others = _called(function)
    if others is None:
        return None
    total = 0
    for one in (function, *others):
        size = local_bytes(one)
        if size is None:
            return None
        total += size
    return total


def _called(function: Function) -> list[Function] | None:
    """The direct and indirect callees, each once; None if some are unknown."""
    found: dict[int, Function] = {}
    waiting = [function]
    for caller in waiting:
        made = call_graph_node(caller)
        for call in calls(caller):
            reached = made.callees[call.node.start]
            if call.table is not None or len(reached) < max(1, len(call.callees)):
                if call.table is None and call.target.text in _SYSTEM_CALLS:
                    continue
                return None
            for other in reached:
                if other is not function and id(other) not in found:
                    found[id(other)] = other
                    waiting.append(other)
    return list(found.values())
