"""The rule `ignored-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from analyses.ignored_directives import ignored_directives
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function


@function_rule("ignored-directive", code="W212")
def ignored_directive(function: Function) -> Iterator[Finding]:
    """A performance directive that ptxas does not follow.

    ## What it does
    Reports `.minnctapersm` without `.maxntid` or `.reqntid`, one that asks for more blocks or threads than
    an SM of the target holds, and `.maxnreg` above 255 or below what ptxas needs at least.

    ## Why it matters
    The kernel gets the registers and blocks that it would get without the directive. ptxas warns, without a
    line, and only when it makes code.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 1024, 1, 1
    .minnctapersm 4
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
    .maxntid 1024, 1, 1
    .minnctapersm 2
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: which number was meant is not known.
    """
    for one in ignored_directives(function):
        related = ()
        if one.because is not None:
            related = ((function.place(one.because.node.name), "the size of a block"),)
        message = f"`{one.given.name}` has no effect: {one.reason}"
        yield Finding(function.place(one.given.node), message, related)
