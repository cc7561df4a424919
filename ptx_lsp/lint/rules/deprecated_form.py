"""The rule `deprecated-form`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks


@function_rule("deprecated-form", code="W269", tag="deprecated", wake=FAILED_CHECKS)
def deprecated_form(function: Function) -> Iterator[Finding]:
    """A deprecated form of an instruction.

    ## What it does
    Reports forms that this `.version` still accepts but the manual deprecates.

    ## Why it matters
    ptxas warns about them, and a later version or target rejects them.

    ## Example
    ```ptx
    .version 6.3
    .target sm_60
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<3>;
        mov.u32 %r2, %tid.x;
        shfl.idx.b32 %r1, %r2, 0, 31;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 6.3
    .target sm_60
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<3>;
        mov.u32 %r2, %tid.x;
        shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the replacement depends on the intent.
    """
    for instruction, verdict in checks(function):
        if any(not end.deprecated for end in verdict.ended):
            continue  # the rule `removed-form`
        for end in verdict.ended:
            yield Finding(opcode_part(function, instruction, 0), end.sentence)
