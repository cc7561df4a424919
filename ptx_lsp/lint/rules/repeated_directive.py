"""The rule `repeated-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.deletion_edits import delete_directive
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function


@directive_rule("repeated-directive", code="W210")
def repeated_directive(function: Function) -> Iterator[Finding]:
    """A duplicate directive in the header of a kernel.

    ## What it does
    Reports the second `.maxntid`, `.maxnreg`, `.reqnctapercluster` and so on. `.pragma` may be repeated.

    ## Why it matters
    ptxas uses the last one without a warning, so the first one, which people read first, is misleading.

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
    The fix removes an identical duplicate. If the values differ there is no fix: either may be the
    intended one.
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
            delete_directive(function, later.node) if same else None,
        )
