"""The rule `repeated-modifier`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("repeated-modifier", code="E163", wake=FAILED_CHECKS)
def repeated_modifier(function: Function) -> Iterator[Finding]:
    """A duplicate modifier.

    ## What it does
    Reports types and modes that are given twice. A plain flag such as `.sat` may be repeated; ptxas
    accepts that.

    ## Why it matters
    ptxas rejects it with `Unexpected instruction types specified`.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.s32.s32 %r1, %r2, %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.s32 %r1, %r2, %r3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended modifiers are unknown.
    """
    for instruction, verdict in checks(function):
        for problem in verdict.problems:
            if problem.kind == "repeated-modifier" and not problem.style:
                place = problem_place(function, instruction, problem)
                yield Finding(place, problem.message)
