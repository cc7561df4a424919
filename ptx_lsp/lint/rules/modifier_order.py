"""The rule `modifier-order`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("modifier-order", code="S460", wake=FAILED_CHECKS)
def modifier_order(function: Function) -> Iterator[Finding]:
    """Modifiers that are out of order, duplicated or without effect.

    ## What it does
    Reports modifiers that ptxas accepts although the manual places them elsewhere, duplicate flags, and
    modifiers of other instructions that ptxas ignores (`add.finite.f32`).

    ## Why it matters
    People and other PTX tools expect the order of the manual.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel(.param .f32 value, .param .u64 out)
    {
        .reg .f32 %f<4>;
        .reg .b64 %rd;
        ld.param.f32 %f2, [value];
        ld.param.u64 %rd, [out];
        mul.f32.rn %f1, %f2, %f2;
        st.global.f32 [%rd], %f1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel(.param .f32 value, .param .u64 out)
    {
        .reg .f32 %f<4>;
        .reg .b64 %rd;
        ld.param.f32 %f2, [value];
        ld.param.u64 %rd, [out];
        mul.rn.f32 %f1, %f2, %f2;
        st.global.f32 [%rd], %f1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix yet.
    """
    for instruction, verdict in checks(function):
        for problem in verdict.problems:
            if problem.style:
                yield Finding(problem_place(function, instruction, problem), problem.message)
