"""Findings about an instruction that only some lanes of a warp reach."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.divergence.divergent_control import DivergentBranch, divergent_control
from ptx_lsp.analyses.divergence.uniformity import Reason, uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.lint.diagnostic import Finding, Severity
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes, woken_by
from ptx_lsp.model.instructions.features import GUARDED, PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.place import Place
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

MAY_DIVERGE: Final = woken_by(InstructionWake(features=GUARDED)) | opcodes("brx")
"""Without it, all threads execute the same instructions."""
MAY_KNOW_LANES: Final = woken_by(InstructionWake(features=PREDEFINED))
"""Without it, no value is known to differ between lanes."""

_MOST = 3
"""The maximum number of reasons."""


def related(function: Function, branch: DivergentBranch) -> tuple[tuple[Place, str], ...]:
    """The divergent branch, and why it may diverge."""
    found = [
        (function.place(branch.instruction.node.opcode), "threads of a warp may diverge at this branch")
    ]
    found.extend(reasons(function, branch.instruction.number))
    return tuple(found)


def reasons(function: Function, number: int) -> list[tuple[Place, str]]:
    """Why an instruction is not executed uniformly: the last links of the explanation."""
    known = uniformity(function)
    flow = known.ssa.instructions
    chain: list[Reason] = [one for one in known.reasons(number) if one.instruction >= 0]
    if len(chain) > _MOST:
        chain = [*chain[: _MOST - 1], chain[-1]]
    return [(function.place(flow.info(one.instruction).node), one.text) for one in chain]


def possibly_divergent(function: Function, found: list[InstructionInfo]) -> list[InstructionInfo]:
    """The instructions that are guarded or control-dependent on some branch. Full warps execute the others.

    This is much cheaper than uniformity.
    """
    if not found:
        return []
    known = dominance(function)
    blocks = cfg(function).block_of
    return [step for step in found if step.is_guarded or known.control_dependences[blocks[step.number]]]


def divergence_finding(
    function: Function, step: InstructionInfo, *, counts_exited: bool = False
) -> Finding | None:
    """A finding if only some threads of a warp reach an instruction that all of them should execute together.

    It is a warning if the form of the condition shows that lanes differ. Its severity is information if
    that depends on data or on other branches. With `counts_exited`, the instruction also needs the exited
    threads: it is a warning if the form of the condition shows that some may have exited.
    """
    known = divergent_control(function)
    found: Sequence[DivergentBranch] = known.divergent_branches(step.number)
    how = "while others take another path"
    if not found and counts_exited:
        found = [one for one in known.divergent_exits(step.number) if one.predicate.is_divergent]
        how = "after others have exited"
    if not found:
        return None
    parting = next((one for one in found if one.predicate.is_divergent), found[0])
    is_sure = parting.predicate.is_divergent is True
    verb = "is" if is_sure else "may be"
    message = f"`{step.spelling}` {verb} reached by only some threads of a warp {how}"
    severity: Severity = "warning" if is_sure else "info"
    place = function.place(step.node.opcode)
    return Finding(place, message, related(function, parting), severity=severity)
