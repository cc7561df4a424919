"""The rule `setmaxnreg-ignored`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.launch_bounds import launch_bounds, launch_bounds_of
from ptx_lsp.analyses.registers.out_of_line_calls import OutOfLineCall
from ptx_lsp.analyses.registers.register_reallocation import (
    Request,
    Unknown,
    call_in_the_way,
    requests,
    unknown_entry_count,
)
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, opcodes
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place

_MESSAGES: dict[Unknown, str] = {
    "no block size": "give `.reqntid` or `.maxntid` with `.minnctapersm`, or `.maxnreg`",
    "no minnctapersm": "add `.minnctapersm 1`",
    "minnctapersm ignored": "its `.minnctapersm` exceeds the limits of an SM",
}
_CALLS = {
    "indirect": "through a register is not inlined",
    "recursive": "to a recursive function is not inlined",
}
_REQUESTS = opcodes("setmaxnreg")


@module_rule("setmaxnreg-ignored", code="W244", wake=_REQUESTS)
def setmaxnreg_ignored(module: Module) -> Iterator[Finding]:
    """A kernel whose `setmaxnreg` ptxas ignores.

    ## What it does
    Reports the first `setmaxnreg` of a kernel whose register count at entry is unknown to ptxas (C7508);
    it is given by `.maxnreg`, or by `.minnctapersm` with `.reqntid` or `.maxntid`. Also reports it if a
    call through a register, or to a recursive function, prevents it (C7506).

    ## Why it matters
    Every warp keeps the registers that the kernel starts with: warps that should release some keep them,
    and warps that should get more spill. ptxas reports it in a note without a line number.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    .reqntid 128
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        setmaxnreg.dec.sync.aligned.u32 40;
        st.global.u32 [%d], 1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    .reqntid 128 .minnctapersm 1
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        setmaxnreg.dec.sync.aligned.u32 40;
        st.global.u32 [%d], 1;
        ret;
    }
    ```

    ## Fix safety
    The fix is safe, because the kernel computes the same. `.minnctapersm 1` requires no more than every
    launch does, and lets ptxas use all registers that a block of that size can have.
    """
    for name in dict.fromkeys(collect_over_functions(_with_requests, module, _REQUESTS)):
        function = module.definitions.get(name)
        if function is not None and requests(function):  # of several with one name it may be another
            yield from _of_kernel(function)


@fact
def _with_requests(function: Function) -> tuple[str, ...]:
    return (function.name,) if requests(function) else ()


def _of_kernel(function: Function) -> Iterator[Finding]:
    first = requests(function)[0]
    unknown = unknown_entry_count(function)
    if unknown is not None:
        message = (
            "ptxas ignores this `setmaxnreg` (C7508) because the register count at entry is "
            f"unknown: {_MESSAGES[unknown]}"
        )
        remedy = _minimum(function) if unknown == "no minnctapersm" else None
        yield Finding(_place(function, first), message, fix=remedy)
        return
    kept = call_in_the_way(function)
    if kept is not None:
        yield _of_call(function, first, kept)


def _place(function: Function, request: Request) -> Place:
    return opcode_part(function, request.step.node, 0)


def _of_call(function: Function, first: Request, kept: OutOfLineCall) -> Finding:
    where = kept.function.place(kept.call.target)
    message = f"ptxas ignores this `setmaxnreg` (C7506) because a call {_CALLS[kept.reason]}"
    return Finding(_place(function, first), message, ((where, "this call"),))


def _minimum(function: Function) -> FixProposal | None:
    """`.minnctapersm 1` behind the block size, where it would count."""
    block, bounds = effective_directives(function).block, launch_bounds(function)
    if block is None or bounds is None:
        return None
    asking = bounds.directives._replace(minnctapersm=1)
    if not launch_bounds_of(str(function.module.target), asking).blocks_asked:
        return None
    end = function.place(block.node).end
    insertion = Replacement(function.part(end, end), " .minnctapersm 1")
    return FixProposal("Add `.minnctapersm 1`", (insertion,))
