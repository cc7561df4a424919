"""Computes the details of a kernel for a page: its control flow graph and its pressure."""

from __future__ import annotations

from analyses.control_flow.cfg import EXITS, JUMPS, BasicBlock, cfg
from analyses.control_flow.dominance import dominance
from analyses.divergence.divergence_sources import UniformityLevel
from analyses.divergence.uniformity import Uniformity, uniformity
from analyses.instructions.uses_and_defs import InstructionInfo, instructions
from analyses.registers.register_pressure import register_pressure
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.results.details import Details, Flow, FlowBlock, FlowEdge, Live, Pressure, Turn
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


def details(function: Function) -> Details:
    """Both."""
    return Details(flow(function), pressure_along(function))


def flow(function: Function) -> Flow:
    """The control flow graph of `function`, with the uniformity of each block's branch."""
    graph = cfg(function)
    found = uniformity(function)
    heads = {loop.header for loop in dominance(function).loops}
    blocks = [_block(function, block, found, block.number in heads) for block in graph.blocks]
    edges = [edge for block in graph.blocks for edge in _edges(function, block)]
    unreached = [block.number for block in graph.blocks if block.number not in graph.reached]
    return Flow(function.name, tuple(blocks), tuple(edges), (*graph.reverse_postorder, *unreached))


def pressure_along(function: Function) -> Pressure:
    """The pressure at each instruction, and the registers live at the peak."""
    found = register_pressure(function)
    lines = tuple([_line(function, step) for step in instructions(function).instructions])
    live = tuple([Live(one.name, one.type, _units(one)) for one in found.live_at_peak])
    return Pressure(found.units, lines, found.peak_instruction, live)


def _block(function: Function, block: BasicBlock, found: Uniformity, is_loop_head: bool) -> FlowBlock:
    inside = instructions(function).instructions[block.first : block.end]
    return FlowBlock(
        block.number,
        block.labels,
        _line(function, inside[0]) if inside else 0,
        _line(function, inside[-1]) if inside else 0,
        tuple([_opcode(step) for step in inside]),
        _turn(found.branches.get(block.number)),
        block.number in found.ssa.cfg.reached,
        is_loop_head,
    )


def _turn(level: UniformityLevel | None) -> Turn:
    if level is None:
        return "none"
    if level.is_uniform:
        return "uniform"
    return "divergent" if level == UniformityLevel.DIVERGENT else "unknown"


def _edges(function: Function, block: BasicBlock) -> list[FlowEdge]:
    """The first successor of a guarded jump is the one without a jump (`Block`)."""
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
                block.number, target, "next" if goes_on else "taken", condition,
                goes_on or not block.has_unknown_successors,
            )
        )
    return found


def _opcode(step: InstructionInfo) -> str:
    return f"@{_guard(step)} {step.spelling}" if step.is_guarded else step.spelling


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
