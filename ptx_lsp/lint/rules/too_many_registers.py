"""The rule `too-many-registers`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.calculator import most_registers
from ptx_lsp.analyses.occupancy.launch_bounds import launch_bounds
from ptx_lsp.isa.device_limits import MAX_THREADS_PER_BLOCK
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function


@directive_rule("too-many-registers", code="W214", words=(".maxnreg",))
def too_many_registers(function: Function) -> Iterator[Finding]:
    """A `.maxnreg` that may be too large for the kernel's block size.

    ## What it does
    Reports a `.maxnreg` that, for a block of the size given by `.maxntid` or `.reqntid`, requires more
    registers than a block can have.

    ## Why it matters
    ptxas obeys `.maxnreg` without a warning. If it uses that many registers, launching a full block
    fails with "too many resources requested for launch".

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
    There is no fix: either the block size or the register count may be wrong.
    """
    heads, bounds = effective_directives(function), launch_bounds(function)
    given, block = heads.last(".maxnreg"), heads.block
    if bounds is None or given is None or block is None:
        return
    if bounds.limit_source not in ("maxnreg", "target") or not bounds.exceeds_block:
        return
    threads = min(bounds.threads_per_block, MAX_THREADS_PER_BLOCK)
    most = most_registers(bounds.device, threads, 1)
    yield Finding(
        function.place(given.node),
        f"a block of {threads} threads can have at most {most} registers per thread, not "
        f"{bounds.register_limit}",
        ((function.place(block.node), "the block size"),),
    )
