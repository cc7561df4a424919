"""Operands that are registers."""

from __future__ import annotations

from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.syntax import nodes


def register_of(flow: FunctionInstructions, operand: nodes.Operand) -> int | None:
    """The register that an operand names; None if it is something else."""
    if not isinstance(operand, nodes.Name):
        return None
    return flow.indices.get(flow.body.symbols.get(operand.start))
