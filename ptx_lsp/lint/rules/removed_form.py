"""The rule `removed-form`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.insertion_edits import insert_missing
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("removed-form", code="E169", wake=FAILED_CHECKS)
def removed_form(function: Function) -> Iterator[Finding]:
    """A form that newer versions or targets have removed.

    ## What it does
    Reports forms of earlier PTX versions that this `.version` and `.target` reject.

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
        shfl.idx.b32 %r1, %r2, 0, 31;
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
        shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
        ret;
    }
    ```

    ## Fix safety
    There is a fix if exactly one modifier makes the form valid (`ex2.approx.f32`). If several do, the
    editor offers each of them. Otherwise the intent is unknown.
    """
    for instruction, verdict in checks(function):
        for end in verdict.ended:
            if not end.deprecated:
                remedy, alternatives = insert_missing(function, instruction)
                place = opcode_part(function, instruction, 0)
                yield Finding(place, end.sentence, fix=remedy, alternatives=alternatives)
