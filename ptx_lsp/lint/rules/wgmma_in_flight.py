"""The rule `wgmma-in-flight`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.asynchronous.unwaited_async import unwaited_async
from ptx_lsp.analyses.asynchronous.wgmma_pipeline import Access, Conflict, wgmma_conflicts
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes

_MESSAGES: dict[Access, str] = {
    "read": "reads `{}`, an accumulator of a `wgmma.mma_async` that is still in flight",
    "write": "writes `{}`, an accumulator of a `wgmma.mma_async` that is still in flight",
    "write of A": "writes `{}`, an element of matrix A of a `wgmma.mma_async` that is still in flight",
    "exit": "leaves the kernel while `wgmma.mma_async` still accumulates into `{}`",
}
_CONSEQUENCES: dict[Access, str] = {
    "read": "ptxas inserts a wait (C7517) or serialises every `wgmma` (C7514)",
    "write": "ptxas may serialise every `wgmma` of the function (C7515)",
    "write of A": "ptxas may serialise every `wgmma` of the function (C7513)",
    "exit": "ptxas inserts a wait (C7517)",
}


@function_rule("wgmma-in-flight", code="W243", wake=opcodes("wgmma"))
def wgmma_in_flight(function: Function) -> Iterator[Finding]:
    """An access to a register of a `wgmma.mma_async` that is still in flight.

    ## What it does
    Reports instructions that read or write an accumulator, or write a register of matrix A, between a
    `wgmma.mma_async` and the `wgmma.wait_group` that completes it, and kernels that exit without that
    wait. Another `wgmma.mma_async` may accumulate into the same registers. A `mov` between registers is
    followed to the use of its copy.

    ## Why it matters
    PTX does not define the result of such an access. ptxas keeps the program correct but slow: it
    inserts a `wgmma.wait_group` (C7517), or serialises every `wgmma.mma_async` of the function (C7510 to
    C7519). It reports this in a note that has a line number at best and does not name the register.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 out)
    {
        .reg .f32 %f<4>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        ld.param.u64 %d2, [out];
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %d0, %d1, 0, 1, 1;
        wgmma.commit_group.sync.aligned;
        st.global.f32 [%d2], %f0;
        wgmma.wait_group.sync.aligned 0;
        st.global.f32 [%d2+4], %f1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 out)
    {
        .reg .f32 %f<4>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        ld.param.u64 %d2, [out];
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %d0, %d1, 0, 1, 1;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        st.global.f32 [%d2], %f0;
        st.global.f32 [%d2+4], %f1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: only the author knows where to wait, and how many groups may stay in flight.
    """
    reported = {step.number for step, kind, _ in unwaited_async(function) if kind == "wgmma"}
    for conflict in wgmma_conflicts(function):
        if conflict.mma.number not in reported:  # else the rule `wgmma-not-waited`
            yield _finding(function, conflict)


def _finding(function: Function, conflict: Conflict) -> Finding:
    register = instructions(function).registers[conflict.register]
    what = _MESSAGES[conflict.access].format(register.name)
    message = f"`{conflict.step.opcode}` {what}: {_CONSEQUENCES[conflict.access]}"
    started = opcode_part(function, conflict.mma.node, 1)
    place = opcode_part(function, conflict.step.node, 0)
    return Finding(place, message, ((started, "the operation starts here"),))
