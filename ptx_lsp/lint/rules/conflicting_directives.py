"""The rule `conflicting-directives`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.deletion_edits import delete_directive
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function

_PAIRS = ((".reqntid", ".maxntid"), (".reqnctapercluster", ".maxclusterrank"))
"""What is required, and what is only bounded."""


@directive_rule("conflicting-directives", code="E180", words=(".reqntid", ".reqnctapercluster"))
def conflicting_directives(function: Function) -> Iterator[Finding]:
    """Two kernel directives that exclude each other.

    ## What it does
    Reports `.maxntid` together with `.reqntid`, and `.maxclusterrank` together with
    `.reqnctapercluster`: one fixes a size, the other bounds the same size.

    ## Why it matters
    ptxas rejects the kernel, but names the line of its closing brace.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 256, 1, 1
    .reqntid 128, 1, 1
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .reqntid 128, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    If the size is within the bound, the fix removes the bound, which is redundant. Otherwise there is no
    fix: either directive may be wrong.
    """
    if not function.is_kernel:
        return
    for exact, bound in _PAIRS:
        given, limit = (
            effective_directives(function).first(exact),
            effective_directives(function).first(bound),
        )
        if given is None or limit is None:
            continue
        first, second = sorted((given, limit), key=lambda one: function.span(one.node))
        yield Finding(
            function.place(second.node.name),
            f"`{second.name}` conflicts with `{first.name}`: `{exact}` already fixes the size "
            f"that `{bound}` bounds",
            ((function.place(first.node.name), f"`{first.name}` is given here"),),
            delete_directive(function, limit.node) if _is_within(function, given, limit) else None,
        )


def _is_within(function: Function, given: PerformanceDirective, limit: PerformanceDirective) -> bool:
    """Whether each is there once, and the size keeps to the bound."""
    if any(one.name in (given.name, limit.name) for one, _ in effective_directives(function).repeated):
        return False
    if given.product is None or limit.product is None:
        return False
    return 0 < given.product <= limit.product
