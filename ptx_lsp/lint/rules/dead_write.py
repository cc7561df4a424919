"""The rule `dead-write`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.dead_writes import dead_writes, registers_read
from ptx_lsp.analyses.instructions.uses_and_defs import (
    FunctionInstructions,
    InstructionInfo,
    instructions,
)
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding, FixProposal
from ptx_lsp.lint.fixes.deletion_edits import deletion
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function


@function_rule("dead-write", code="W232", tag="unnecessary")
def dead_write(function: Function) -> Iterator[Finding]:
    """A result that is never read.

    ## What it does
    Reports, as a hint, arithmetic, logic, comparisons, conversions and moves whose results are never
    read: on every path, the register is overwritten first or not read at all.

    ## Why it matters
    The instruction has no effect. ptxas removes it, and compilers rely on that. In handwritten code,
    another register was often meant, or a store is missing.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r<3>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        add.s32 %r1, %r0, 1;
        st.global.b32 [%d], %r0;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r<3>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        add.s32 %r1, %r0, 1;
        st.global.b32 [%d], %r1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the instruction may be unnecessary, or its reader may be wrong. The editor offers to
    remove it.
    """
    if not is_well_formed(function):
        return
    dead, flow = dead_writes(function), instructions(function)
    if not dead:
        return
    read = registers_read(flow)
    for step in dead:
        place = function.place(step.node.operands[0])
        is_read = not read.isdisjoint(step.defs)
        remedy = FixProposal(
            f"Remove this `{step.opcode}`", (deletion(function.place(step.node)),), safe=False
        )
        message = _message(step, flow, is_read=is_read)
        yield Finding(place, message, severity="hint", alternatives=(remedy,))


def _message(step: InstructionInfo, flow: FunctionInstructions, *, is_read: bool) -> str:
    names = " and ".join(f"`{flow.register(one).name}`" for one in dict.fromkeys(step.defs))
    if not is_read:
        return f"{names} is never read, so this `{step.opcode}` has no effect"
    return f"the value of {names} is never read: it is overwritten, or the kernel ends first"
