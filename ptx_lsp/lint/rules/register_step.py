"""The rule `register-step`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.calculator import BlockResources, occupancy_of
from ptx_lsp.analyses.occupancy.curves import steps
from ptx_lsp.analyses.occupancy.launch_bounds import launch_bounds
from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import shared_bytes

_NEAR = 4
"""Registers above a step."""
_CERTAIN = 0.76
"""Few kernels use less than this part of the simulated registers."""


@function_rule("register-step", code="P315", severity="hint")
def register_step(function: Function) -> Iterator[Finding]:
    """A `.maxnreg` just above an occupancy step.

    ## What it does
    Reports a `.maxnreg` if up to four registers fewer would allow more resident blocks per SM, for
    blocks of the size given by `.reqntid` or `.maxntid`, and the kernel is estimated to use all its
    registers. It is a hint, so it only runs if it is selected. Without `.maxnreg`, ptxas itself lowers
    the count to a nearby step.

    ## Why it matters
    Registers are allocated per block: those above a step cost a whole block, and fewer blocks hide less
    memory latency.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 16 data)
    .maxntid 1024
    .maxnreg 36
    {
        .reg .b32 %r, %v<52>;
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
        ld.global.v4.b32 {%v36, %v37, %v38, %v39}, [%d2+147456];
        ld.global.v4.b32 {%v40, %v41, %v42, %v43}, [%d2+163840];
        ld.global.v4.b32 {%v44, %v45, %v46, %v47}, [%d2+180224];
        ld.global.v4.b32 {%v48, %v49, %v50, %v51}, [%d2+196608];
        bar.sync 0;
        st.global.v4.b32 [%d2+196608], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%d2+180224], {%v4, %v5, %v6, %v7};
        st.global.v4.b32 [%d2+163840], {%v8, %v9, %v10, %v11};
        st.global.v4.b32 [%d2+147456], {%v12, %v13, %v14, %v15};
        st.global.v4.b32 [%d2+131072], {%v16, %v17, %v18, %v19};
        st.global.v4.b32 [%d2+114688], {%v20, %v21, %v22, %v23};
        st.global.v4.b32 [%d2+98304], {%v24, %v25, %v26, %v27};
        st.global.v4.b32 [%d2+81920], {%v28, %v29, %v30, %v31};
        st.global.v4.b32 [%d2+65536], {%v32, %v33, %v34, %v35};
        st.global.v4.b32 [%d2+49152], {%v36, %v37, %v38, %v39};
        st.global.v4.b32 [%d2+32768], {%v40, %v41, %v42, %v43};
        st.global.v4.b32 [%d2+16384], {%v44, %v45, %v46, %v47};
        st.global.v4.b32 [%d2], {%v48, %v49, %v50, %v51};
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
        .reg .b32 %r, %v<52>;
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
        ld.global.v4.b32 {%v36, %v37, %v38, %v39}, [%d2+147456];
        ld.global.v4.b32 {%v40, %v41, %v42, %v43}, [%d2+163840];
        ld.global.v4.b32 {%v44, %v45, %v46, %v47}, [%d2+180224];
        ld.global.v4.b32 {%v48, %v49, %v50, %v51}, [%d2+196608];
        bar.sync 0;
        st.global.v4.b32 [%d2+196608], {%v0, %v1, %v2, %v3};
        st.global.v4.b32 [%d2+180224], {%v4, %v5, %v6, %v7};
        st.global.v4.b32 [%d2+163840], {%v8, %v9, %v10, %v11};
        st.global.v4.b32 [%d2+147456], {%v12, %v13, %v14, %v15};
        st.global.v4.b32 [%d2+131072], {%v16, %v17, %v18, %v19};
        st.global.v4.b32 [%d2+114688], {%v20, %v21, %v22, %v23};
        st.global.v4.b32 [%d2+98304], {%v24, %v25, %v26, %v27};
        st.global.v4.b32 [%d2+81920], {%v28, %v29, %v30, %v31};
        st.global.v4.b32 [%d2+65536], {%v32, %v33, %v34, %v35};
        st.global.v4.b32 [%d2+49152], {%v36, %v37, %v38, %v39};
        st.global.v4.b32 [%d2+32768], {%v40, %v41, %v42, %v43};
        st.global.v4.b32 [%d2+16384], {%v44, %v45, %v46, %v47};
        st.global.v4.b32 [%d2], {%v48, %v49, %v50, %v51};
        ret;
    }
    ```

    ## Fix safety
    There is no fix: with fewer registers, more values spill to local memory.
    """
    bounds = launch_bounds(function) if function.is_kernel else None
    heads = effective_directives(function)
    given, block = heads.last(".maxnreg"), heads.block
    if bounds is None or given is None or block is None or bounds.limit_source != "maxnreg":
        return
    limit, threads = bounds.register_limit, bounds.threads_per_block
    if not threads:
        return
    now = occupancy_of(bounds.device, BlockResources(threads, limit, shared_bytes(function) or 0))
    step = next(iter(steps(now)), None)
    if step is None or not now.blocks_per_sm or step.fewer_shared_bytes:
        return
    if not 0 < step.fewer_registers <= _NEAR or not is_well_formed(function):
        return
    simulated = simulated_registers(function)
    if simulated is not None and int(simulated.wanted * _CERTAIN) >= limit:
        message = (
            f"{limit - step.fewer_registers} registers instead of {limit} would allow "
            f"{step.result.blocks_per_sm} resident blocks of {threads} threads instead of "
            f"{now.blocks_per_sm}; the kernel is estimated to use all of them"
        )
        related = ((function.place(block.node), "the block size"),)
        yield Finding(function.place(given.node), message, related)
