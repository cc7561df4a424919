"""The rule `excluded-combination`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.insertion_edits import insert_missing
from ptx_lsp.lint.fixes.suggestions import Suggestion
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("excluded-combination", code="E164", wake=FAILED_CHECKS)
def excluded_combination(function: Function) -> Iterator[Finding]:
    """Modifiers or operands that exclude each other.

    ## What it does
    Reports combinations that the manual or ptxas forbids, although each part is allowed by itself.

    ## Why it matters
    ptxas rejects them.

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
        mul.wide.u64 %rd1, %rd2, %rd3;
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
        mul.lo.u64 %rd1, %rd2, %rd3;
        ret;
    }
    ```

    ## Fix safety
    There is a fix only if exactly one additional modifier makes the instruction valid, such as
    `.L2::cache_hint` before a cache policy. If several do, the editor offers each of them.
    """
    for instruction, verdict in checks(function):
        excluded = [
            problem
            for problem in verdict.problems
            if problem.kind == "excluded" and not problem.style
        ]
        for index, problem in enumerate(excluded):
            place = problem_place(function, instruction, problem)
            found = insert_missing(function, instruction) if index == 0 else Suggestion()
            yield Finding(place, problem.message, fix=found.fix, alternatives=found.alternatives)
