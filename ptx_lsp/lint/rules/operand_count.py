"""The rule `operand-count`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.targets import is_indirect_branch
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.instructions.missing_semicolons import missing_semicolons


@function_rule("operand-count", code="E165", wake=FAILED_CHECKS)
def operand_count(function: Function) -> Iterator[Finding]:
    """An instruction with too many or too few operands.

    ## What it does
    Compares the number of operands with the form of the instruction.

    ## Why it matters
    ptxas rejects it with `Arguments mismatch`.

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
        add.s32 %r1, %r2;
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
    There is no fix: the intended operands are unknown.
    """
    unfinished = {
        one.instruction.start for one in missing_semicolons(function)
    }  # the rule `syntax-error` tells of them
    for instruction, verdict in checks(function):
        if instruction.start in unfinished or is_indirect_branch(function, instruction):
            continue  # the rule `wrong-target` tells of the latter
        for problem in verdict.problems:
            if problem.kind == "operand-count" and not problem.style:
                place = problem_place(function, instruction, problem)
                yield Finding(place, problem.message)
