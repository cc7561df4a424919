"""The features of a kernel: the numbers that the correction of the register estimate is computed from.

They are cheap, because the simulation has computed most of them, and they are the same on every machine.
Training and the estimate read them here, in the order of `FEATURES`.

1. A feature of the simulation or the launch bounds depends on the target.
2. Counts are of instructions by what they do (`instruction_groups`), of the kernel and of the functions that
   it calls, each once.
3. Features of the control flow are counts of blocks and loops, and the most virtual registers that are live
   between blocks.
"""

from __future__ import annotations

from operator import add

from ptx_lsp.analyses._flow import registers_holding
from ptx_lsp.analyses.control_flow.call_graph import callees
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.registers.instruction_groups import GROUPS, PLACE, groups
from ptx_lsp.analyses.registers.machine_blocks import word_flags
from ptx_lsp.analyses.registers.register_files import registers_elsewhere
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import straight_line_regions
from ptx_lsp.analyses.registers.simulated_registers import SimulatedRegisters
from ptx_lsp.analyses.registers.virtual_register_liveness import virtual_register_liveness
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.facts import fact
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import local_bytes, parameter_bytes, shared_bytes
from ptx_lsp.model.instructions.shapes import shape_counts
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Features: TypeAlias = tuple[int, ...]

_SIMULATED: Final = (
    "class", "wanted", "peak", "without_hoisting", "used", "hoisting", "limit", "cap", "threads",
    "blocks_asked", "spread", "step",
    "elsewhere",
)  # fmt: skip
_CONTROL: Final = (
    "instructions", "eliminated", "blocks", "loops", "depth", "largest_block", "in_loops",
    "across_blocks", "across_loops", "mean_across", "pairs_across", "joins_across", "loaded_across",
    "virtual_registers", "parameters", "local_bytes", "shared_bytes", "callees",
    "text_bound", "hoisting_bound",
)  # fmt: skip
_RATIOS: Final = (
    "per_peak", "load_share", "f64_share", "memory_share", "across_share", "text_per_peak",
    "hoisting_per_peak",
)  # fmt: skip
FEATURES: Final = (*_SIMULATED, *_CONTROL, *GROUPS, *_RATIOS)
_SPREADS: Final = ("singles", "pairs", "matrix", "small block", "debug")
_MOST_CALLEES: Final = 200
_MOST: Final = 1_000_000
"""Larger numbers make no difference."""


def register_features(function: Function, simulated: SimulatedRegisters) -> Features:
    """The features of a kernel, in the order of `FEATURES`."""
    bounds, peak = simulated.bounds, simulated.peak_live
    control, counts = _control_features(function), _with_callees(function)
    total = max(1, control[0])
    memory = sum(counts[PLACE[name]] for name in ("ld_global", "st_global", "ld_shared", "st_shared"))
    return (
        target_class(simulated.target),
        simulated.wanted,
        peak,
        simulated.without_hoisting,
        simulated.used,
        peak - simulated.without_hoisting,
        simulated.hoisting_limit,
        bounds.register_limit,
        bounds.threads_per_block,
        bounds.blocks_asked,
        _SPREADS.index(simulated.spread),
        simulated.hoisting_limit - peak,
        sum(registers_elsewhere(function, simulated.target)),
        *control,
        *counts,
        control[0] // max(1, peak),
        1000 * counts[PLACE["ld_global"]] // total,
        1000 * counts[PLACE["f64"]] // total,
        1000 * memory // total,
        1000 * control[7] // max(1, peak),
        1000 * control[-2] // max(1, peak),
        1000 * control[-1] // max(1, peak),
    )


def target_class(target: Target) -> int:
    """The class of a target: ptxas gives those of a class the same registers, as far as is known. The classes
    are sm_75 and before, sm_80, sm_86 to sm_89, sm_90 to sm_110, and sm_120 and later.
    """
    number = target.number
    return (number >= 80) + (number >= 86) + (number >= 90) + (number >= 120)


@fact
def _control_features(function: Function) -> tuple[int, ...]:
    graph, left, alive = cfg(function), virtual_registers(function), virtual_register_liveness(function)
    found = dominance(function)
    loops, depths = found.loops, found.depth_of_loops
    sizes = [block.end - block.first for block in graph.blocks]
    live_in, reached = alive.sets.live_in, graph.reached
    across = [*map(int.bit_count, live_in)]
    for number in range(len(across)) if len(reached) < len(across) else ():
        if number not in reached:
            across[number] = -1
    most = max(across, default=0)
    fullest = alive.sets.members(live_in[across.index(most)]) if most else frozenset[int]()
    pairs, joins, loaded = _kinds(function, fullest)
    looping = [number for number, depth in enumerate(depths) if depth]
    return (
        len(function.body.instructions),
        sum(left.code.is_eliminated),
        len(graph.blocks),
        len(loops),
        max(depths, default=0),
        max(sizes, default=0),
        sum(sizes[number] for number in looping),
        most,
        max((live_in[loop.header].bit_count() for loop in loops), default=0),
        sum([count for count in across if count > 0]) // max(1, len(reached)),
        pairs,
        joins,
        loaded,
        sum([len(block.defined) for block in left.blocks.values()]),
        parameter_bytes(function) or 0,
        min(local_bytes(function) or 0, _MOST),
        min(shared_bytes(function) or 0, _MOST),
        len(callees(function)),
        *_bounds(function),
    )


def _bounds(function: Function) -> tuple[int, int]:
    """Bounds for the registers in text order, and with all loads hoisted."""
    regions = straight_line_regions(function)
    return (
        max(regions.bounds, default=0),
        max(map(add, regions.bounds, regions.results), default=0),
    )


def _kinds(function: Function, live: frozenset[int]) -> tuple[int, int, int]:
    """Of some virtual registers: those of 64-bit registers, with several definitions, and from loads."""
    left = virtual_registers(function)
    pairs = joins = loaded = 0
    flow = left.code.flow
    for register in registers_holding(left.code.of_registers, word_flags(live)):
        words = left.code.of_registers[register]
        if register not in flow.used or words is not left.code.allocated[register] or words[0] not in live:
            continue
        only = left.definitions.only[register]
        if len(words) > 1:
            pairs += len(words)
        if only < 0:
            joins += len(words)
        elif flow.kinds[only].opcode == "ld":
            loaded += len(words)
    return pairs, joins, loaded


def _with_callees(function: Function) -> list[int]:
    """The counts of a function and of those that it calls (2)."""
    counts = list(_counts(function))
    seen, waiting = {function.symbol}, [function]
    while waiting and len(seen) < _MOST_CALLEES:
        for reached in callees(waiting.pop()).values():
            for other in reached:
                if other.symbol not in seen:
                    seen.add(other.symbol)
                    waiting.append(other)
                    counts = [sum(pair) for pair in zip(counts, _counts(other), strict=True)]
    return counts


@fact
def _counts(function: Function) -> tuple[int, ...]:
    counts = [0] * len(GROUPS)
    by_spelling: dict[str, int] = {}
    for shape, number in shape_counts(function).counts.items():
        by_spelling[shape.spelling] = by_spelling.get(shape.spelling, 0) + number
    for spelling, number in by_spelling.items():
        for place, weight in groups(spelling):
            counts[place] += weight * number
    return tuple(counts)
