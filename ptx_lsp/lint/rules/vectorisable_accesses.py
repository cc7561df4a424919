"""The rule `vectorisable-accesses`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.divergence.memory_access import memory_access
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function


@function_rule("vectorisable-accesses", code="P313", severity="hint")
def vectorisable_accesses(function: Function) -> Iterator[Finding]:
    """Adjacent accesses that can be combined into one vector access.

    ## What it does
    Reports `ld` and `st` with the same base register and consecutive offsets, of up to 16 bytes
    together, if their address is known to be aligned for a vector and no instruction between them
    prevents it. It is a hint, so it only runs if it is selected.

    ## Why it matters
    `ld.v4.b32` is one instruction and one memory request instead of four. ptxas rarely combines them.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[4096];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<6>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %ctaid.x;
        mov.b32 %r1, tile;
        mad.lo.s32 %r2, %r0, 16, %r1;
        ld.shared.b32 %r3, [%r2];
        ld.shared.b32 %r4, [%r2+4];
        add.s32 %r5, %r3, %r4;
        red.global.add.u32 [%d], %r5;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[4096];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<6>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %ctaid.x;
        mov.b32 %r1, tile;
        mad.lo.s32 %r2, %r0, 16, %r1;
        ld.shared.v2.b32 {%r3, %r4}, [%r2];
        add.s32 %r5, %r3, %r4;
        red.global.add.u32 [%d], %r5;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the registers must be listed in one vector operand.
    """
    if not is_well_formed(function):
        return
    all_steps = instructions(function).instructions
    for accesses, size, is_aligned in memory_access(function).neighbours:
        if not is_aligned:
            continue
        first, *others = sorted(one.number for one in accesses)
        related = tuple(
            (function.place(all_steps[number].node.opcode), "part of the same vector")
            for number in others
        )
        message = f"{len(accesses)} adjacent accesses can be combined into one of {size} bytes"
        yield Finding(function.place(all_steps[first].node.opcode), message, related)
