"""The rule `false-uni`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.divergent_control import divergent_control
from ptx_lsp.analyses.divergence.lane_predicates import UNKNOWN, lane_predicates
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.divergence import MAY_DIVERGE, reasons
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes, woken_by
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.static_typing import Literal

_PROMISES = frozenset({"bra.uni", "call.uni", "ret.uni", "brx.idx.uni"})
_PROMISE = woken_by(InstructionWake(spelled=_PROMISES.__contains__))


@function_rule("false-uni", code="W252", wake=_PROMISE & (MAY_DIVERGE | opcodes("call")), words=("uni",))
def false_uni(function: Function) -> Iterator[Finding]:
    """A `.uni` on a branch that is divergent.

    ## What it does
    Reports `bra.uni`, `brx.idx.uni`, `call.uni` and `ret.uni` whose guard, index or address differs
    between the threads of a warp: as a warning if lanes of the first warp of a block are known to take
    different paths, and as information if that depends on unknown values.

    ## Why it matters
    `.uni` promises that all active threads of a warp behave alike. ptxas relies on it and omits the
    instructions that make threads reconverge. If the promise is broken, the behaviour is undefined.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u64 %d, [out];
        mov.u32 %r, %tid.x;
        setp.ne.u32 %p, %r, 0;
        @%p bra.uni join;
        st.global.b32 [%d], %r;
    join:
        st.global.b32 [%d+4], %r;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u64 %d, [out];
        mov.u32 %r, %tid.x;
        setp.ne.u32 %p, %r, 0;
        @%p bra join;
        st.global.b32 [%d], %r;
    join:
        st.global.b32 [%d+4], %r;
        ret;
    }
    ```

    ## Fix safety
    The fix removes `.uni`. It is safe, because it only removes a promise.
    """
    found = _promising(function)
    found = [step for step in found if step.is_guarded or (step.opcode in _THROUGH and step.uses)]
    if not found or not is_well_formed(function):
        return
    known = uniformity(function)
    for step in found:
        if known.ssa.cfg.block_of[step.number] not in known.ssa.cfg.reached:
            continue
        if _level(known, step) != UniformityLevel.DIVERGENT:
            continue
        severity = _severity(function, step)
        if severity is None:
            continue
        part = step.spelling.count(".")
        place = opcode_part(function, step.node, part)
        verb = "is" if severity == "warning" else "may be"
        message = f"this `{step.opcode}` is marked `.uni` but {verb} divergent within a warp"
        remedy = FixProposal("Remove `.uni`", (Replacement(place, ""),))
        yield Finding(place, message, tuple(reasons(function, step.number)), remedy, severity)


_THROUGH = frozenset({"brx", "call"})
_promising = instructions_matching(_PROMISES.__contains__)


def _level(known: Uniformity, step: InstructionInfo) -> UniformityLevel:
    """How uniform that is which the jump itself depends on; not whether it is reached."""
    block = known.ssa.cfg.block_of[step.number]
    levels = [known.guard_level(step.number)]
    levels.extend(
        known.level_at(value, block)
        for value in known.transfers.of(step.number).target_inputs
    )
    return max(levels)


def _severity(function: Function, step: InstructionInfo) -> Literal["warning", "info"] | None:
    """None where the guard is the same for all threads of each warp after all."""
    condition = lane_predicates(function).guard(step) if step.is_guarded else UNKNOWN
    if condition.is_divergent is False:
        return None
    here = divergent_control(function).lanes_reaching(step.number)
    if (
        condition.first_warp_lanes is not None
        and len({condition.first_warp_lanes[lane] for lane in here.active}) == 2
    ):
        return "warning"
    return "info"
