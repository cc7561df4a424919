"""The rule `partial-warp`."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ptx_lsp.analyses.divergence.lane_arithmetic import WARP
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function


@function_rule("partial-warp", code="P316", words=(".reqntid", "ptx-run:"))
def partial_warp(function: Function) -> Iterator[Finding]:
    """A block size that is not a multiple of the warp size.

    ## What it does
    Reports a `.reqntid`, or else the `block=` of a launch comment, whose number of threads is not a multiple
    of 32. Blocks of one thread are not reported, nor is `.maxntid`, which is only a bound.

    ## Why it matters
    Threads are executed in warps of 32. The last warp of each block takes as many issue slots and registers
    as a full one.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .reqntid 100
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
    .reqntid 128
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the kernel and its launches must agree with the size.
    """
    if not function.is_kernel or not function.symbol.is_definition:
        return
    required = effective_directives(function).last(".reqntid")
    if required is not None:
        threads, place = required.product, function.place(required.node)
    else:
        threads, place = math.prod(function.launch_block or ()), function.symbol.place
    if threads is None or threads <= 1 or (last := threads % WARP) == 0:
        return
    which = "only warp" if threads < WARP else "last warp"
    count = f"{last} threads" if last > 1 else "one thread"
    yield Finding(place, f"the {which} of a block of {threads} threads has {count}, and room for {WARP}")
