"""The rule `too-many-registers`."""

from __future__ import annotations

from collections.abc import Iterator

from analyses.ignored_directives import too_many_registers as found_in
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function


@function_rule("too-many-registers", code="W214")
def too_many_registers(function: Function) -> Iterator[Finding]:
    """A `.maxnreg` with which a block of the kernel's own size may not fit.

    ## What it does
    Reports a `.maxnreg` that, for a block as large as `.maxntid` or `.reqntid` says, is more registers
    than a block can have.

    ## Why it matters
    ptxas keeps to `.maxnreg` and says nothing. If it uses that many registers, a launch with the full block
    fails: "too many resources requested for launch".

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 1024, 1, 1
    .maxnreg 128
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
    .maxnreg 64
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the block may be too large, or the registers too many.
    """
    found = found_in(function)
    if found is None:
        return
    yield Finding(
        function.place(found.given.node),
        f"`.maxnreg {found.given.values[0]}` is too much for a block of {found.block.product} threads, "
        f"which can have {found.most} registers each",
        ((function.place(found.block.node), "the size of a block"),),
    )
