"""The rule `noreturn-returns`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives


@function_rule(
    "noreturn-returns",
    code="W216",
    wake=having_directives(lambda function: function.node.directives),
    words=(".noreturn",),
)
def noreturn_returns(function: Function) -> Iterator[Finding]:
    """A `ret` in a function that must not return.

    ## What it does
    Reports `ret` in a function with `.noreturn`.

    ## Why it matters
    If it is executed, the behaviour is undefined, because the caller has no code to continue with. ptxas
    does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func stop() .noreturn
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func stop() .noreturn
    {
        exit;
    }
    ```

    ## Fix safety
    There is no fix: either the directive or the instruction may be wrong.
    """
    if function.is_kernel:
        return
    given = effective_directives(function).first(".noreturn")
    if given is None:
        return
    related = ((function.place(given.node), "the function is declared `.noreturn`"),)
    for instruction in function.body.instructions:
        if instruction.opcode.text in ("ret", "ret.uni"):
            message = "`ret` in a `.noreturn` function; end it with `exit` or `trap`"
            yield Finding(function.place(instruction.opcode), message, related)
