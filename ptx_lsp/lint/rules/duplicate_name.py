"""The rule `duplicate-name`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having
from ptx_lsp.model.symbols import Register, Variable


@function_rule("duplicate-name", code="E102", wake=having(lambda function: function.body.duplicates))
def duplicate_name(function: Function) -> Iterator[Finding]:
    """A register, variable, parameter or label declared twice in one block.

    ## What it does
    Reports names that are declared again in the same block. Registers, variables and labels share one
    namespace; parameters belong to the outermost block of the body. A range such as `%r<8>` declares
    `%r0` to `%r7`. An inner block may redeclare a name of an outer block.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<8>;
        .reg .f32 %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<8>;
        .reg .f32 %f3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either declaration may be wrong.
    """
    for name, symbol, first in function.body.duplicates:
        shown = name.text
        if isinstance(symbol, Register | Variable) and symbol.declarator.range is not None:
            shown = f"{name.text}<...>"
        message = f"`{shown}` is already declared, as a {first.kind}"
        if isinstance(first, Register | Variable) and first.declarator.range is not None:
            message += f" of the range `{first.declarator.name.text}<...>`"
        yield Finding(function.place(name), message, ((first.place, "the first declaration"),))
