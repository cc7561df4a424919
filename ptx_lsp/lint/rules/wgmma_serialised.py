"""The rule `wgmma-serialised`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.asynchronous.wgmma_fence import Unfenced, unfenced_in_divergence
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.registers.out_of_line_calls import Reason, out_of_line_calls
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, opcodes
from ptx_lsp.model.module import Module

_CALLS: dict[Reason, str] = {
    "indirect": "a call through a register",
    "external": "a call to a function of another file",
    "recursive": "a call to a recursive function",
}
_WGMMA = opcodes("wgmma")


@module_rule("wgmma-serialised", code="W245", wake=_WGMMA)
def wgmma_serialised(module: Module) -> Iterator[Finding]:
    """A call or missing fence that makes ptxas serialise every `wgmma` of a kernel.

    ## What it does
    Reports the first call that ptxas cannot inline (through a register, to a function of another file,
    or to a recursive function) anywhere in a kernel with `wgmma.mma_async`; and a `wgmma.mma_async` in
    divergent code whose `wgmma.fence` is outside that code.

    ## Why it matters
    ptxas then makes every `wgmma.mma_async` wait for the preceding one (C7509, C7510, C7519), which
    defeats its purpose. It reports this in a note that has a line number at best.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 out)
    {
        .reg .pred %p;
        .reg .b32 %r;
        .reg .f32 %f<4>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        ld.param.u64 %d2, [out];
        mov.u32 %r, %tid.x;
        setp.ge.u32 %p, %r, 128;
        wgmma.fence.sync.aligned;
        @%p bra DONE;
        wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %d0, %d1, 0, 1, 1;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
    DONE:
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
        .reg .pred %p;
        .reg .b32 %r;
        .reg .f32 %f<4>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [a];
        ld.param.u64 %d1, [b];
        ld.param.u64 %d2, [out];
        mov.u32 %r, %tid.x;
        setp.ge.u32 %p, %r, 128;
        @%p bra DONE;
        wgmma.fence.sync.aligned;
        wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f0, %f1, %f2, %f3}, %d0, %d1, 0, 1, 1;
        wgmma.commit_group.sync.aligned;
        wgmma.wait_group.sync.aligned 0;
        st.global.v4.f32 [%d2], {%f0, %f1, %f2, %f3};
    DONE:
        ret;
    }
    ```

    ## Fix safety
    There is no fix: a fence may fit in several places, and the call may be necessary.
    """
    for name in dict.fromkeys(collect_over_functions(_with_wgmma, module, _WGMMA)):
        function = module.definitions.get(name)
        if function is not None and _mmas(function):  # of several with one name it may be another
            yield from _of_call(function)
            yield from (_of_fence(function, one) for one in unfenced_in_divergence(function))


_mmas = instructions_matching(lambda spelling: spelling.startswith("wgmma.mma_async"))


@fact
def _with_wgmma(function: Function) -> tuple[str, ...]:
    return (function.name,) if _mmas(function) else ()


def _of_call(function: Function) -> Iterator[Finding]:
    kept = next(out_of_line_calls(function), None)
    if kept is None:
        return
    mma = opcode_part(function, _mmas(function)[0].node, 1)
    place = kept.function.place(kept.call.target)
    why = f"because of {_CALLS[kept.reason]} (C7510)"
    message = f"ptxas serialises every `wgmma` of `{function.name}` {why}"
    yield Finding(place, message, ((mma, "the first `wgmma`"),))


def _of_fence(function: Function, found: Unfenced) -> Finding:
    place = opcode_part(function, found.mma.node, 1)
    if found.mma is found.branch:
        message = "a divergent guard makes ptxas serialise every `wgmma` (C7519)"
        return Finding(place, message)
    message = (
        "no `wgmma.fence` between this and the preceding divergent branch: ptxas serialises "
        "every `wgmma` (C7519)"
    )
    branch = opcode_part(function, found.branch.node, 0)
    return Finding(place, message, ((branch, "the divergent branch"),))
