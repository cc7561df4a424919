"""The rule `divergent-aligned`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.divergence import MAY_DIVERGE, divergence_finding, possibly_divergent
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions.wakes import InstructionWake

_BARRIERS = frozenset({"bar", "barrier"})


def _is_aligned(spelling: str) -> bool:
    return "aligned" in spelling and spelling.partition(".")[0] not in _BARRIERS


@function_rule(
    "divergent-aligned", code="W251",
    wake=woken_by(InstructionWake(spelled=_is_aligned)) & MAY_DIVERGE,
    words=("aligned",),
)
def divergent_aligned(function: Function) -> Iterator[Finding]:
    """An `.aligned` instruction reached by only some threads of a warp.

    ## What it does
    Reports `mma`, `wmma`, `wgmma`, `ldmatrix`, `setmaxnreg` and any other instruction with `.aligned`
    that is controlled by a divergent branch or guard while the other threads continue after it. The
    severity is *information* if the branch depends on data, which may be uniform. Exited threads count
    if the form of the condition (`tid.x >= n`) shows that lanes differ.

    ## Why it matters
    All threads of a warp must execute such an instruction together. If some do not, or have exited, the
    behaviour is undefined.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[512];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d;
        .reg .pred %p;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %laneid;
        mov.b32 %r1, 0;
        shl.b32 %r2, %r0, 4;
        mov.b32 %r3, tile;
        add.s32 %r2, %r2, %r3;
        setp.gt.u32 %p, %r0, 7;
        @%p bra join;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];
    join:
        red.global.add.u32 [%d], %r1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[512];
    .visible .entry kernel(.param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %laneid;
        shl.b32 %r2, %r0, 4;
        mov.b32 %r3, tile;
        add.s32 %r2, %r2, %r3;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];
        red.global.add.u32 [%d], %r1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the instruction or the branch may be in the wrong place.
    """
    found = possibly_divergent(function, _aligned(function))
    if not found or not is_well_formed(function):
        return
    for step in found:
        finding = divergence_finding(function, step, counts_exited=True)
        if finding is not None:
            yield finding


_aligned = instructions_matching(_is_aligned)
