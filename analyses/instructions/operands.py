"""Operands that are registers or integers."""

from __future__ import annotations

from analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.model.scope import integer
from ptx_lsp.syntax import nodes


def constant(value: nodes.Operand) -> int | None:
    """The integer value of an operand; None if it is not an integer."""
    match value:
        case nodes.Number(kind="integer", text=text):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(kind="integer", text=text)):
            number = integer(text)
            return None if number is None else -number
        case _:
            return None


def register_of(flow: FunctionInstructions, operand: nodes.Operand) -> int | None:
    """The register that an operand names; None if it is something else."""
    if not isinstance(operand, nodes.Name):
        return None
    return flow.indices.get(flow.body.symbols.get(operand.start))
