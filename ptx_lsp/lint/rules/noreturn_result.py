"""The rule `noreturn-result`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import signatures
from ptx_lsp.model.function import Function


@directive_rule("noreturn-result", code="E184", words=(".noreturn",))
def noreturn_result(function: Function) -> Iterator[Finding]:
    """A function that never returns but has return parameters.

    ## What it does
    Reports `.noreturn` on functions and call prototypes with return parameters.

    ## Why it matters
    ptxas rejects them: a function that does not return has no result.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func (.param .b32 result) stop() .noreturn
    {
        trap;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func stop() .noreturn
    {
        trap;
    }
    ```

    ## Fix safety
    There is no fix: either the directive or the parameters may be wrong.
    """
    for signature in signatures(function):
        given, returns = signature.directives.first(".noreturn"), signature.node.returns
        if given is not None and returns:
            name = returns[0].declarators[0].name if returns[0].declarators else returns[0]
            message = "`.noreturn` conflicts with the return parameter of this function"
            related = ((function.place(name), "the return parameter"),)
            yield Finding(function.place(given.node), message, related)
