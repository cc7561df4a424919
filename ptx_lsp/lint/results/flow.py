"""Computes the details of a kernel for a page: its control flow graph and its pressure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptx_lsp.analyses.control_flow.cfg import EXITS, JUMPS, BasicBlock, Cfg, cfg
from ptx_lsp.analyses.control_flow.dominance import Loop, dominance
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.results.details import (
    MOST_SHOWN,
    Details,
    Flow,
    FlowBlock,
    FlowEdge,
    FlowLoop,
    Live,
    Pressure,
    Turn,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.debug_labels import debug_labels
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


def details(function: Function) -> Details:
    """Both."""
    return Details(flow(function), pressure_along(function))


def flow(function: Function) -> Flow:
    """The control flow graph of `function`, with the uniformity of each block's branch."""
    graph, found = cfg(function), uniformity(function)
    runs = list(_runs(function, graph))
    number_of = [number for number, run in enumerate(runs) for _ in run]
    ways = dominance(function)
    heads = {number_of[loop.header] for loop in ways.loops}
    idle = debug_labels(function)
    blocks = [
        _block(function, number, run, graph, found.branches.get(run[-1]), number in heads, idle)
        for number, run in enumerate(runs)
    ]
    edges = [edge for run in runs for edge in _edges(function, graph.blocks[run[-1]], number_of)]
    order = dict.fromkeys([number_of[block] for block in graph.reverse_postorder])
    unreached = [number for number in range(len(runs)) if number not in order]
    loops = [_loop(loop, number_of) for loop in ways.loops]
    return Flow(function.name, tuple(blocks), tuple(edges), (*order, *unreached), tuple(loops))


def _runs(function: Function, graph: Cfg) -> Iterator[range]:
    """The blocks of `graph` that one block of the flow has. A label that nothing jumps to begins a block of
    `graph`, but control does not arrive there from elsewhere.
    """
    shown = shapes(function)
    first = 0
    for block in graph.blocks[1:]:
        before = graph.blocks[block.number - 1]
        goes_on = (
            block.number < graph.exit
            and before.successors == (block.number,)
            and block.predecessors == (before.number,)
            and shown[before.end - 1].opcode not in JUMPS | EXITS
        )
        if not goes_on:
            yield range(first, block.number)
            first = block.number
    yield range(first, graph.exit + 1)


def _loop(loop: Loop, number_of: Sequence[int]) -> FlowLoop:
    inside = dict.fromkeys([number_of[block] for block in sorted(loop.blocks)])
    return FlowLoop(number_of[loop.header], tuple(inside))


def pressure_along(function: Function) -> Pressure:
    """The pressure at each instruction, and the registers live at the peak."""
    found = register_pressure(function)
    lines = tuple([_line(function, step) for step in instructions(function).instructions])
    live = tuple([Live(one.name, one.type, _units(one)) for one in found.live_at_peak])
    return Pressure(found.units, lines, found.peak_instruction, live)


def _block(
    function: Function,
    number: int,
    run: range,
    graph: Cfg,
    level: UniformityLevel | None,
    is_loop_head: bool,
    debug: frozenset[str],
) -> FlowBlock:
    head, last = graph.blocks[run[0]], graph.blocks[run[-1]]
    inside = instructions(function).instructions[head.first : last.end]
    half = MOST_SHOWN // 2
    shown = inside if len(inside) <= MOST_SHOWN + 1 else (*inside[:half], *inside[-half:])
    return FlowBlock(
        number,
        tuple([label for label in head.labels if label not in debug]),
        head.first,
        last.end,
        _line(function, inside[0]) if inside else 0,
        _line(function, inside[-1]) if inside else 0,
        tuple([_text(function, step) for step in shown]),
        _turn(level),
        head.number in graph.reached,
        is_loop_head,
    )


def _turn(level: UniformityLevel | None) -> Turn:
    if level is None:
        return "none"
    if level.is_uniform:
        return "uniform"
    return "divergent" if level == UniformityLevel.DIVERGENT else "unknown"


def _edges(function: Function, block: BasicBlock, number_of: Sequence[int]) -> list[FlowEdge]:
    """The first successor of a guarded jump is the one without a jump (`BasicBlock`)."""
    if not block.instructions:
        return []
    last = instructions(function).instructions[block.end - 1]
    guard = _guard(last) if last.is_guarded and block.is_branching else ""
    found: list[FlowEdge] = []
    for index, target in enumerate(block.successors):
        goes_on = target == block.number + 1 and (
            (last.is_guarded and not index) or last.opcode not in JUMPS | EXITS
        )
        condition = _inverted(guard) if goes_on else guard
        found.append(
            FlowEdge(
                number_of[block.number], number_of[target], "next" if goes_on else "taken", condition,
                goes_on or not block.has_unknown_successors,
            )
        )
    return found


def _text(function: Function, step: InstructionInfo) -> str:
    """The instruction on one line, without its semicolon."""
    text = function.module.document.source.decoded(*function.span(step.node))
    return " ".join(text.split()).removesuffix(";").rstrip()


def _guard(step: InstructionInfo) -> str:
    guard = step.node.guard
    if guard is None or not isinstance(guard.predicate, nodes.Name):
        return "?"
    return f"!{guard.predicate.text}" if guard.negated else guard.predicate.text


def _inverted(guard: str) -> str:
    if not guard:
        return ""
    return guard[1:] if guard.startswith("!") else f"!{guard}"


def _line(function: Function, step: InstructionInfo) -> int:
    start = function.span(step.node).start
    return function.module.document.source.line_of(start) + 1


def _units(register: Register) -> int:
    """As `pressure` counts them."""
    type = TYPES.get(register.type)
    if register.type == ".pred":
        return 0
    return register.vector * (-(-type.width // 32) if type is not None else 1)
