"""The rule `bank-conflict`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.divergence.divergent_control import divergent_control
from ptx_lsp.analyses.divergence.memory_access import (
    WarpAccess,
    accesses_by_lane,
    may_access_by_lane,
)
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.divergence import MAY_KNOW_LANES
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule(
    "bank-conflict", code="P312", wake=opcodes("ld", "st") & MAY_KNOW_LANES, words=("shared",)
)
def bank_conflict(function: Function) -> Iterator[Finding]:
    """An access to shared memory whose lanes use different words of one bank.

    ## What it does
    Reports `ld.shared` and `st.shared` whose addresses differ between lanes by known amounts, if lanes
    that are served together access several words of one bank. Only the first access at each base
    register is reported. Accesses that only some lanes are known to execute are not checked.

    ## Why it matters
    A bank serves one word at a time: an access with an *n*-way conflict takes *n* times as long.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[4096];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    .maxntid 32
    {
        .reg .b32 %r<5>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %tid.x;
        mov.b32 %r1, tile;
        mad.lo.s32 %r2, %r0, 128, %r1;
        st.shared.b32 [%r2], %r0;
        bar.warp.sync -1;
        mad.lo.s32 %r3, %r0, 4, %r1;
        ld.shared.b32 %r4, [%r3];
        mul.wide.u32 %d1, %r0, 4;
        add.s64 %d2, %d0, %d1;
        st.global.b32 [%d2], %r4;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[4224];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    .maxntid 32
    {
        .reg .b32 %r<5>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [out];
        mov.u32 %r0, %tid.x;
        mov.b32 %r1, tile;
        mad.lo.s32 %r2, %r0, 132, %r1;
        st.shared.b32 [%r2], %r0;
        bar.warp.sync -1;
        mad.lo.s32 %r3, %r0, 4, %r1;
        ld.shared.b32 %r4, [%r3];
        mul.wide.u32 %d1, %r0, 4;
        add.s64 %d2, %d0, %d1;
        st.global.b32 [%d2], %r4;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: pad the rows by one word, or store the words in another order.
    """
    if not may_access_by_lane(function) or not is_well_formed(function):
        return
    flow = instructions(function)
    groups: dict[int, list[WarpAccess]] = {}
    for access in accesses_by_lane(function):
        if (access.bank_conflict or 1) > 1 and flow.info(access.number).opcode in ("ld", "st"):
            groups.setdefault(access.base, []).append(access)
    for accesses in groups.values():
        first = accesses[0]
        if not divergent_control(function).is_full_warp(first.number):
            continue
        more = f" ({len(accesses) - 1} more at this base)" if len(accesses) > 1 else ""
        message = f"the lanes of a warp access {first.bank_conflict} different words of one bank{more}"
        yield Finding(function.place(flow.info(first.number).node.opcode), message)
