"""The rule `repeated-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.removal import remove
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function


@function_rule("repeated-directive", code="W210")
def repeated_directive(function: Function) -> Iterator[Finding]:
    """A directive that the head of a kernel has twice.

    ## What it does
    Reports the second `.maxntid`, `.maxnreg`, `.reqnctapercluster` and so on. `.pragma` may be repeated.

    ## Why it matters
    ptxas says nothing and goes by the last one, so that the first, which is read first, is not true.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 256, 1, 1
    .maxntid 256, 1, 1
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
    .maxntid 256, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    Where both say the same, the fix removes the second. Where they differ there is none: either may be
    the one that was meant.
    """
    if not function.is_kernel:
        return  # the rule `directive-order`
    for earlier, later in effective_directives(function).repeated:
        same = None not in later.values and earlier.values == later.values
        end = "with the same value" if same else "with another value; the last one applies"
        yield Finding(
            function.place(later.node.name),
            f"duplicate `{later.name}`, {end}",
            ((function.place(earlier.node.name), "the first one"),),
            remove(function, later.node) if same else None,
        )
