"""The rule `wgmma-not-waited`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.asynchronous.unwaited_async import MissingStep, unwaited_async
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes

_MESSAGES: dict[MissingStep, str] = {
    "fence": "no path from a `wgmma.fence` reaches this `mma_async`; the first one requires a fence",
    "commit": "no path from this `mma_async` reaches a `wgmma.commit_group`, which commits its group",
    "wait": "no path from this `mma_async` reaches a `wgmma.wait_group`, which waits for its result",
}


@function_rule("wgmma-not-waited", code="W242", wake=opcodes("wgmma"))
def wgmma_not_waited(function: Function) -> Iterator[Finding]:
    """A `wgmma.mma_async` without a fence, commit or wait.

    ## What it does
    Reports a `wgmma.mma_async` that no path from a `wgmma.fence` reaches, or from which no path reaches
    a `wgmma.commit_group` and a `wgmma.wait_group`. Calls are assumed to execute them, and functions
    other than kernels are not checked.

    ## Why it matters
    Without the fence, it may read registers before they are written. Without the commit and wait, its
    results may be read before they are complete. ptxas may then add waits, which is slow.

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
        st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
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
        st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
        ret;
    }
    ```

    ## Fix safety
    There is no fix: only the author knows how many groups may stay in flight.
    """
    for step, kind, lacks in unwaited_async(function):
        if kind == "wgmma":
            yield Finding(opcode_part(function, step.node, 1), _MESSAGES[lacks])
