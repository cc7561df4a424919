"""Operands that name jump and call targets, which the operand kinds of the instruction table do not fully
describe.
"""

from __future__ import annotations

from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Prototype, Register, TargetTable, Variable
from ptx_lsp.syntax import nodes


def names_target(function: Function, instruction: nodes.Instruction, index: int) -> bool:
    """Whether operand `index` is a declared name in the place of a label, a target list or a callee. The
    rules `wrong-target` and `call-mismatch` check any such name.
    """
    operands = instruction.operands
    operand = operands[index] if index < len(operands) else None
    if not isinstance(operand, nodes.Name):
        return False
    symbol = function.resolve(operand)
    if symbol is None:
        return False
    match instruction.opcode.text.removesuffix(".uni"):
        case "bra":
            return True
        case "brx.idx":
            return index == 1
        case "call":  # a register before a list or prototype holds an address, which has a type
            is_known = any(call.node is instruction for call in calls(function))
            has_type = isinstance(symbol, Register) and _is_table(function, operands[index + 1 :])
            return is_known and not has_type
        case _:
            return False


def is_indirect_branch(function: Function, instruction: nodes.Instruction) -> bool:
    """Whether this is `bra %r, list`, the indirect branch of old manuals."""
    match instruction.operands:
        case (nodes.Name() as name, _):
            is_branch = instruction.opcode.text.removesuffix(".uni") == "bra"
            return is_branch and isinstance(function.resolve(name), Register)
        case _:
            return False


def _is_table(function: Function, rest: tuple[nodes.Operand, ...]) -> bool:
    """Whether the last of these operands lists the possible callees of an indirect call."""
    last = rest[-1] if rest else None
    return isinstance(last, nodes.Name) and isinstance(
        function.resolve(last), Prototype | TargetTable | Variable
    )
