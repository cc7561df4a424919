"""Hover text for the uniformity of registers and branches."""

from __future__ import annotations

from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.ide.cursor.live_range import step_number
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

_MOST = 3
"""The maximum number of reasons shown."""

DESCRIPTIONS = {
    UniformityLevel.GRID: "the same for all threads of the grid",
    UniformityLevel.BLOCK: "the same for all threads of a block",
    UniformityLevel.WARP: "the same for all threads of a warp",
    UniformityLevel.UNKNOWN: "may differ within a warp",
    UniformityLevel.DIVERGENT: "differs within a warp",
}


def register_uniformity(
    function: Function, register: Register, instruction: nodes.Instruction, written: bool
) -> list[str]:
    """The level of a register as `instruction` reads or writes it, then the reasons, one per line.

    Empty if the instruction is unreachable.
    """
    known = uniformity(function)
    flow = known.ssa.instructions
    step = flow.instructions[step_number(function, flow, instruction)]
    number = flow.index_of(register)
    value = _value(known, step, number, written) if number is not None else -1
    if value < 0:
        return []
    block = known.ssa.cfg.block_of[step.number]
    level = known.level(value) if written else known.level_at(value, block)
    lines = [DESCRIPTIONS[level]]
    for reason in known.value_reasons(value)[:_MOST]:
        where = _line(function, flow.instructions[reason.instruction]) if reason.instruction >= 0 else ""
        lines.append(f"{where}{reason.text}")
    return lines


def branch_uniformity(function: Function, instruction: nodes.Instruction) -> list[str]:
    """The uniformity of a jump, then the reasons; empty for instructions that are not conditional jumps."""
    known = uniformity(function)
    flow = known.ssa.instructions
    step = flow.instructions[step_number(function, flow, instruction)]
    block = known.ssa.cfg.block_of[step.number]
    level = known.branches.get(block)
    if level is None or known.ssa.cfg.blocks[block].end != step.number + 1:
        return []
    words = "threads of a warp may take different paths" if level == UniformityLevel.UNKNOWN else ""
    words = (
        "threads of a warp take different paths" if level == UniformityLevel.DIVERGENT else words
    )
    lines = [words or "all threads of a warp take the same path"]
    for reason in known.reasons(step.number)[:_MOST]:
        where = _line(function, flow.instructions[reason.instruction]) if reason.instruction >= 0 else ""
        lines.append(f"{where}{reason.text}")
    return lines


def _value(known: Uniformity, step: InstructionInfo, number: int, written: bool) -> int:
    found = known.ssa.by_instruction[step.number]
    if written:
        return dict(zip(step.defs, found.defs, strict=True)).get(number, -1)
    reads = zip((*step.uses, step.guard), (*found.uses, found.guard), strict=True)
    return dict(reads).get(number, -1)


def _line(function: Function, step: InstructionInfo) -> str:
    source = function.module.document.source
    return f"line {source.line_of(function.item.offset(step.node.start)) + 1}: "
