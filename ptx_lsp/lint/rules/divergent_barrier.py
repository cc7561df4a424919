"""The rule `divergent-barrier`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.divergence import MAY_DIVERGE, divergence_finding, possibly_divergent
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule("divergent-barrier", code="W250", wake=opcodes("bar", "barrier") & MAY_DIVERGE)
def divergent_barrier(function: Function) -> Iterator[Finding]:
    """A barrier reached by only some threads of a warp.

    ## What it does
    Reports `bar` and the aligned forms of `barrier` that are controlled by a divergent branch or guard
    while the other threads continue after them or wait at another barrier. The severity is *information*
    if the branch depends on data, which may be uniform. Barriers do not wait for threads that have
    exited, so threads that leave the kernel on a path of their own do not count: `if (i >= n) return;`
    is allowed before a barrier.

    ## Why it matters
    All threads of a warp must reach an aligned barrier together. If some do not, the kernel hangs, or
    threads continue too early and read data that has not been written yet.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[512];
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d<3>;
        .reg .pred %p;
        ld.param.u32 %r0, [n];
        ld.param.u64 %d0, [out];
        mov.u32 %r1, %tid.x;
        shl.b32 %r2, %r1, 2;
        mul.wide.u32 %d1, %r1, 4;
        add.s64 %d2, %d0, %d1;
        mov.b32 %r3, tile;
        add.s32 %r2, %r2, %r3;
        setp.ge.u32 %p, %r1, %r0;
        @%p bra join;
        st.shared.b32 [%r2], %r1;
        bar.sync 0;
    join:
        ld.shared.b32 %r3, [tile];
        st.global.b32 [%d2], %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[512];
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d<3>;
        .reg .pred %p;
        ld.param.u32 %r0, [n];
        ld.param.u64 %d0, [out];
        mov.u32 %r1, %tid.x;
        shl.b32 %r2, %r1, 2;
        mul.wide.u32 %d1, %r1, 4;
        add.s64 %d2, %d0, %d1;
        mov.b32 %r3, tile;
        add.s32 %r2, %r2, %r3;
        setp.ge.u32 %p, %r1, %r0;
        @%p bra join;
        st.shared.b32 [%r2], %r1;
    join:
        bar.sync 0;
        ld.shared.b32 %r3, [tile];
        st.global.b32 [%d2], %r3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the barrier or the branch may be in the wrong place.
    """
    found = possibly_divergent(function, _barriers(function))
    if not found or not is_well_formed(function):
        return
    for step in found:
        finding = divergence_finding(function, step)
        if finding is not None:
            yield finding


def _is_barrier(spelling: str) -> bool:
    words = spelling.split(".")
    if words[0] == "bar":
        return words[1:2] != ["warp"]
    return words[0] == "barrier" and "aligned" in words


_barriers = instructions_matching(_is_barrier)
