"""The rule `wrong-modifier`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.suggestions import MOST_OFFERED, either, fitting_names, replace
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("wrong-modifier", code="E161", wake=FAILED_CHECKS)
def wrong_modifier(function: Function) -> Iterator[Finding]:
    """A modifier that this instruction does not support, or not with its other modifiers.

    ## What it does
    Reports modifiers that no form of the opcode supports, that belong to another of its forms, or that
    are misplaced.

    ## Why it matters
    ptxas rejects them, but does not suggest a replacement.

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
        add.wide.s32 %r1, %r2, %r3;
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
    The fix uses the most similar modifier that suits the operands. It is a guess, so it is not applied
    by default. If several are equally similar, the editor offers each of them.
    """
    for instruction, verdict in checks(function):
        for problem in verdict.problems:
            if problem.kind in ("unknown-modifier", "modifier-not-allowed"):
                place = problem_place(function, instruction, problem)
                names, is_right = fitting_names(function, instruction, problem)
                message = problem.message
                if len(names) > MOST_OFFERED:
                    shown = ", ".join(f"`{name}`" for name in names[:MOST_OFFERED])
                    message += f"; expected {shown} or another of the same kind"
                elif names:
                    message += f"; did you mean {either(names)}?"
                remedy, alternatives = replace(place, names if is_right else ())
                yield Finding(place, message, fix=remedy, alternatives=alternatives)
