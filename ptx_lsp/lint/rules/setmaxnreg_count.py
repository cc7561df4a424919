"""The rule `setmaxnreg-count`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.registers.register_reallocation import excessive
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import operand_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule("setmaxnreg-count", code="E189", wake=opcodes("setmaxnreg"))
def setmaxnreg_count(function: Function) -> Iterator[Finding]:
    """A `setmaxnreg.dec` to more registers than the kernel ever has.

    ## What it does
    Reports a `setmaxnreg.dec` whose count is larger than that of every `setmaxnreg.inc` of the kernel,
    or, if there is none, than the register count at entry, which follows from the launch bounds.

    ## Why it matters
    ptxas rejects it (C7406): a warp can only release registers that it has.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90a
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    .maxnreg 64
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        setmaxnreg.dec.sync.aligned.u32 72;
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
    .maxnreg 64
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        setmaxnreg.dec.sync.aligned.u32 40;
        st.global.u32 [%d], 1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended count is unknown.
    """
    for request, largest in excessive(function):
        message = (
            f"`setmaxnreg.dec` to {request.registers} registers, but the kernel never has "
            f"more than {largest}"
        )
        yield Finding(operand_place(function, request.step.node, 0), message)
