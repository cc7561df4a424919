"""Places of the parts of an instruction, for rules that report them."""

from __future__ import annotations

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes

_PART = lazy_pattern(
    r"(?s)//[^\n]*|/\*.*?\*/|#[^\n]*|\[\d+\]|(?P<part>\.?[A-Za-z0-9_$]+(?:::[A-Za-z0-9_]+(?::[0-9]+)?)*)",
)


def opcode_part(function: Function, instruction: nodes.Instruction, index: int) -> Place:
    """The opcode (`index` 0) or its modifier number `index` as written in the file."""
    start = instruction.opcode.start
    found = _PART.finditer(function.text(instruction.opcode))
    parts = [part.span("part") for part in found if part["part"] is not None]
    first, end = parts[min(index, len(parts) - 1)]
    return function.part(start + first, start + end)


def operand_place(function: Function, instruction: nodes.Instruction, index: int) -> Place:
    """Operand number `index`; if absent, the end of the instruction's last one."""
    operands = instruction.operands
    if index < len(operands):
        return function.place(operands[index])
    last = operands[-1] if operands else instruction.opcode
    return function.part(last.end, last.end)


def problem_place(function: Function, instruction: nodes.Instruction, problem: Problem) -> Place:
    """The place of a problem reported by the instruction table."""
    if problem.kind in ("operand", "narrow-pointer"):
        return operand_place(function, instruction, problem.index)
    if problem.kind == "operand-count":
        if problem.index < len(instruction.operands):
            return operand_place(function, instruction, problem.index)
        return function.place(instruction.opcode)
    return opcode_part(function, instruction, problem.index)
