"""Whether a function is well-formed. Analyses of a malformed function may be wrong, so rules do not report on
it.

A function is well-formed if its syntax is valid, every name is declared, and the instruction table has each
instruction with its operands. Its graph must also be simple enough for the analyses (`dominance.py`,
`sync_dependence.py`, `ssa.py`).
"""

from __future__ import annotations

from ptx_lsp.analyses.control_flow.cfg import STRAIGHT, cfg
from ptx_lsp.analyses.dataflow.phi_placement import phi_placement
from ptx_lsp.analyses.divergence.sync_dependence import sync_dependence
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.instructions.wakes import InstructionWake, is_awake
from ptx_lsp.model.module import Module


@fact
def is_well_formed(function: Function) -> bool:
    """Whether `function` has a body without errors that would invalidate analyses."""
    body = function.body
    if not function.symbol.is_definition or function.item.problems or function.item.is_unclosed:
        return False
    if function.undeclared or function.undeclared_late or body.duplicates or function.early_uses:
        return False
    if is_awake(function, _MALFORMED):
        return False
    if cfg(function).graph is STRAIGHT:
        return True
    return phi_placement(function).is_available and not sync_dependence(function).is_too_complex


_MALFORMED = InstructionWake(where=lambda shape: shape.match is None or bool(shape.match.problems))


def all_well_formed(module: Module) -> bool:
    """Whether every function of a module that has a body is well-formed."""
    return not any(collect_over_functions(_is_malformed, module))


@fact
def _is_malformed(function: Function) -> tuple[bool, ...]:
    return (True,) if function.symbol.is_definition and not is_well_formed(function) else ()
