"""The rule `unknown-opcode`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.matching.spelling_suggestions import closeness
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.suggestions import Suggestion, either, fitting_names, replace
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("unknown-opcode", code="E160", wake=FAILED_CHECKS)
def unknown_opcode(function: Function) -> Iterator[Finding]:
    """An instruction that does not exist in PTX.

    ## What it does
    Reports opcodes that are not in the instruction table, and suggests the most similar ones.

    ## Why it matters
    ptxas rejects them with `Not a name of any known instruction`.

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
        addd.s32 %r1, %r2, %r3;
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
    The fix uses the most similar opcode that has these modifiers and accepts these operands. It is a
    guess, so it is not applied by default. The editor also offers other similar opcodes.
    """
    for instruction, verdict in checks(function):
        for problem in verdict.problems:
            if problem.kind == "unknown-opcode":
                place = problem_place(function, instruction, problem)
                names, is_right = fitting_names(function, instruction, problem)
                message = problem.message
                if names:
                    message += f"; did you mean {either(names)}?"
                found = replace(place, names if is_right else ())
                if found.alternatives and len(names) > 1 and _is_nearest(instruction.opcode.text, *names[:2]):
                    found = Suggestion(found.alternatives[0], found.alternatives[1:])
                yield Finding(place, message, fix=found.fix, alternatives=found.alternatives)


def _is_nearest(spelling: str, name: str, other: str) -> bool:
    """Whether the opcode of `spelling` is nearer to `name` than to `other`."""
    opcode = spelling.partition(".")[0]
    return closeness(opcode, name) > closeness(opcode, other)
