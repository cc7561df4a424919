"""The rule `register-step`."""

from __future__ import annotations

from collections.abc import Iterator

from analyses.certainty import is_certain
from analyses.launch_bounds import launch_bounds
from analyses.occupancy import Block, occupancy_of
from analyses.occupancy_curves import steps
from analyses.registers import register_estimate
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.layout import shared_bytes
from ptx_lsp.model.tuning import tuning

_NEAR = 4
"""Registers; the estimate is no better than that."""


@function_rule("register-step", code="P315", severity="hint")
def register_step(function: Function) -> Iterator[Finding]:
    """A kernel that a few registers keep from a higher occupancy.

    ## What it does
    Reports a kernel with a block size (`.reqntid` or `.maxntid`) of which, with up to four registers fewer
    for each thread, more blocks would be resident on an SM. The registers are estimated: ask ptxas for
    the exact figure (`--ptxas`). It is a hint: it runs only where it is asked for.

    ## Why it matters
    Registers are given out by the block. Where one more block almost fits, a variable kept in shared memory,
    or computed again, or `.minnctapersm` may gain much; elsewhere fewer registers gain nothing.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 16 data)
    .maxntid 1024
    .maxnreg 36
    {
        .reg .b32 %r, %v<36>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [data];
        mov.u32 %r, %tid.x;
        mul.wide.u32 %d1, %r, 16;
        add.s64 %d2, %d0, %d1;
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%d2];
        ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%d2+16384];
        ld.global.v4.b32 {%v8, %v9, %v10, %v11}, [%d2+32768];
        ld.global.v4.b32 {%v12, %v13, %v14, %v15}, [%d2+49152];
        ld.global.v4.b32 {%v16, %v17, %v18, %v19}, [%d2+65536];
        ld.global.v4.b32 {%v20, %v21, %v22, %v23}, [%d2+81920];
        ld.global.v4.b32 {%v24, %v25, %v26, %v27}, [%d2+98304];
        ld.global.v4.b32 {%v28, %v29, %v30, %v31}, [%d2+114688];
        ld.global.v4.b32 {%v32, %v33, %v34, %v35}, [%d2+131072];
        bar.sync 0;
        st.global.v4.b32 [%d2+131072], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%d2+114688], {%v4, %v5, %v6, %v7};
        st.global.v4.b32 [%d2+98304], {%v8, %v9, %v10, %v11};
        st.global.v4.b32 [%d2+81920], {%v12, %v13, %v14, %v15};
        st.global.v4.b32 [%d2+65536], {%v16, %v17, %v18, %v19};
        st.global.v4.b32 [%d2+49152], {%v20, %v21, %v22, %v23};
        st.global.v4.b32 [%d2+32768], {%v24, %v25, %v26, %v27};
        st.global.v4.b32 [%d2+16384], {%v28, %v29, %v30, %v31};
        st.global.v4.b32 [%d2], {%v32, %v33, %v34, %v35};
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 16 data)
    .maxntid 1024
    .maxnreg 32
    {
        .reg .b32 %r, %v<36>;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [data];
        mov.u32 %r, %tid.x;
        mul.wide.u32 %d1, %r, 16;
        add.s64 %d2, %d0, %d1;
        ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%d2];
        ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%d2+16384];
        ld.global.v4.b32 {%v8, %v9, %v10, %v11}, [%d2+32768];
        ld.global.v4.b32 {%v12, %v13, %v14, %v15}, [%d2+49152];
        ld.global.v4.b32 {%v16, %v17, %v18, %v19}, [%d2+65536];
        ld.global.v4.b32 {%v20, %v21, %v22, %v23}, [%d2+81920];
        ld.global.v4.b32 {%v24, %v25, %v26, %v27}, [%d2+98304];
        ld.global.v4.b32 {%v28, %v29, %v30, %v31}, [%d2+114688];
        ld.global.v4.b32 {%v32, %v33, %v34, %v35}, [%d2+131072];
        bar.sync 0;
        st.global.v4.b32 [%d2+131072], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%d2+114688], {%v4, %v5, %v6, %v7};
        st.global.v4.b32 [%d2+98304], {%v8, %v9, %v10, %v11};
        st.global.v4.b32 [%d2+81920], {%v12, %v13, %v14, %v15};
        st.global.v4.b32 [%d2+65536], {%v16, %v17, %v18, %v19};
        st.global.v4.b32 [%d2+49152], {%v20, %v21, %v22, %v23};
        st.global.v4.b32 [%d2+32768], {%v24, %v25, %v26, %v27};
        st.global.v4.b32 [%d2+16384], {%v28, %v29, %v30, %v31};
        st.global.v4.b32 [%d2], {%v32, %v33, %v34, %v35};
        ret;
    }
    ```

    ## Fix safety
    There is no fix: `.minnctapersm` makes ptxas keep to the limit, at the expense of local memory.
    """
    bounds = launch_bounds(function) if function.is_kernel else None
    given = tuning(function).block
    if bounds is None or given is None or not bounds.threads_per_block or not is_certain(function):
        return
    estimated = register_estimate(function)
    if estimated is None:
        return
    threads = bounds.threads_per_block
    used = Block(threads, estimated.estimate, shared_bytes(function) or 0)
    now = occupancy_of(bounds.device, used)
    step = next(iter(steps(now)), None)
    if step is None or not now.blocks_per_sm or step.fewer_shared_bytes:
        return
    if 0 < step.fewer_registers <= _NEAR:
        fewer = "1 register" if step.fewer_registers == 1 else f"{step.fewer_registers} registers"
        message = (
            f"with {fewer} fewer than the estimated {estimated.estimate}, "
            f"{step.result.blocks_per_sm} blocks of {threads} threads would be resident instead of "
            f"{now.blocks_per_sm}"
        )
        yield Finding(function.symbol.place, message, ((function.place(given.node), "the size of a block"),))
