"""The rule `missing-modifier`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.insertion_edits import insert_missing
from ptx_lsp.lint.fixes.suggestions import Suggestion, either
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("missing-modifier", code="E162", wake=FAILED_CHECKS)
def missing_modifier(function: Function) -> Iterator[Finding]:
    """An instruction that lacks a required modifier.

    ## What it does
    Reports instructions that lack a type, a rounding, a mode or another required modifier.

    ## Why it matters
    ptxas rejects them.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .f32 %f<4>;
        .reg .pred %p<4>;
        setp.lt %p1, %f2, %f3;
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
        .reg .f32 %f<4>;
        .reg .pred %p<4>;
        setp.lt.f32 %p1, %f2, %f3;
        ret;
    }
    ```

    ## Fix safety
    There is a fix only if exactly one choice suits the operands, the version and the target. If several
    do, the editor offers each of them.
    """
    for instruction, verdict in checks(function):
        missing = [
            problem
            for problem in verdict.problems
            if problem.kind == "missing-modifier" and not problem.style
        ]
        for index, problem in enumerate(missing):
            place = problem_place(function, instruction, problem)
            # The fix of the first writes all that is missing.
            found = insert_missing(function, instruction) if index == 0 else Suggestion()
            message = problem.message
            inserted = _single(found)
            if len(missing) == 1 and inserted:
                message = (
                    f"`{instruction.opcode.text.partition('.')[0]}` requires {either(inserted)}"
                )
            yield Finding(place, message, fix=found.fix, alternatives=found.alternatives)


def _single(found: Suggestion) -> tuple[str, ...]:
    """The modifiers that suit the operands, where each is all that is missing."""
    remedies = found.alternatives if found.fix is None else (found.fix,)
    texts = [replacement.text for remedy in remedies for replacement in remedy.replacements]
    return tuple(texts) if len(texts) == len(remedies) else ()
