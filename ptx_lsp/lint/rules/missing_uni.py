"""The rule `missing-uni`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.dominance import Dominance
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule("missing-uni", code="P310", severity="hint", wake=opcodes("bra"))
def missing_uni(function: Function) -> Iterator[Finding]:
    """A uniform branch without `.uni`.

    ## What it does
    Reports a guarded `bra` whose guard is uniform within each warp, unless the branch continues or
    leaves a loop. It is a hint, so it only runs if it is selected.

    ## Why it matters
    `.uni` informs ptxas and readers that the threads need not reconverge after the branch. The gain is
    small, because ptxas 13.5 finds such branches by itself. It does not unroll a loop whose branch has
    `.uni`, which may cost much more, so these branches are not reported.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u32 %r, [n];
        ld.param.u64 %d, [out];
        setp.eq.s32 %p, %r, 0;
        @%p bra done;
        st.global.b32 [%d], %r;
    done:
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u32 %r, [n];
        ld.param.u64 %d, [out];
        setp.eq.s32 %p, %r, 0;
        @%p bra.uni done;
        st.global.b32 [%d], %r;
    done:
        ret;
    }
    ```

    ## Fix safety
    The fix adds `.uni` and is safe.
    """
    found = [
        step
        for step in instructions(function).instructions
        if step.is_guarded and step.spelling == "bra"
    ]
    if not found or not is_well_formed(function):
        return
    known = uniformity(function)
    looping = _looping(known.dominance)
    for step in found:
        block = known.ssa.cfg.block_of[step.number]
        level = known.branches.get(block)
        if level is None or not level.is_uniform or block in looping:
            continue
        opcode = step.node.opcode
        replacement = Replacement(function.part(opcode.end, opcode.end), ".uni")
        remedy = FixProposal("Write `.uni`", (replacement,))
        message = "this branch is uniform within a warp; consider adding `.uni`"
        yield Finding(function.place(opcode), message, fix=remedy)


def _looping(known: Dominance) -> frozenset[int]:
    """The blocks at whose end a loop is gone round again or left."""
    return frozenset(
        block
        for loop in known.loops
        for block in loop.blocks
        if any(
            target == loop.header or target not in loop.blocks
            for target in known.graph.successors[block]
        )
    )
