"""The rule `async-copy-not-waited`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.asynchronous.unwaited_async import MissingStep, OperationKind, unwaited_async
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes

_NEEDED = {
    ("copy", "wait"): "a `cp.async.wait_group` or `cp.async.wait_all`",
    ("copy", "commit"): (
        "a `cp.async.commit_group`, and `cp.async.wait_group` waits only for committed groups"
    ),
    ("bulk group", "wait"): "a `cp.async.bulk.wait_group`",
    ("bulk group", "commit"): (
        "a `cp.async.bulk.commit_group`, and waits are only for committed groups"
    ),
}


@function_rule("async-copy-not-waited", code="W241", wake=opcodes("cp"))
def async_copy_not_waited(function: Function) -> Iterator[Finding]:
    """An asynchronous copy that the kernel never waits for.

    ## What it does
    Reports a `cp.async`, `cp.async.bulk` or `cp.reduce.async.bulk` from which no path reaches an
    instruction that waits for it, or the `commit_group` that this wait requires. Bulk copies that
    complete on an mbarrier may be waited for anywhere in the kernel. Calls are assumed to wait, and
    functions other than kernels are not checked.

    ## Why it matters
    Data that is read too early still has its old value, and a kernel must not end before its copies have
    accessed its shared memory.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[1024];
    .visible .entry kernel(.param .u64 in, .param .u64 out)
    {
        .reg .b32 %r;
        .reg .b64 %d<2>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        cp.async.ca.shared.global [tile], [%d0], 16;
        cp.async.commit_group;
        ld.shared.b32 %r, [tile];
        st.global.b32 [%d1], %r;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[1024];
    .visible .entry kernel(.param .u64 in, .param .u64 out)
    {
        .reg .b32 %r;
        .reg .b64 %d<2>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        cp.async.ca.shared.global [tile], [%d0], 16;
        cp.async.commit_group;
        cp.async.wait_group 0;
        ld.shared.b32 %r, [tile];
        st.global.b32 [%d1], %r;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: only the author knows where the data is needed first.
    """
    for step, kind, lacks in unwaited_async(function):
        if kind == "wgmma":
            continue  # the rule `wgmma-not-waited`
        yield Finding(opcode_part(function, step.node, 0), _message(step, kind, lacks))


def _message(step: InstructionInfo, kind: OperationKind, lacks: MissingStep) -> str:
    if kind == "bulk barrier":
        return "no `mbarrier.try_wait` or `mbarrier.test_wait` in this kernel waits for this copy"
    return f"no path from this `{step.spelling}` reaches {_NEEDED[kind, lacks]}"
