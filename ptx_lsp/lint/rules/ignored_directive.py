"""The rule `ignored-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.occupancy.launch_bounds import Ignored, LaunchBounds, launch_bounds
from ptx_lsp.isa.device_limits import MAX_REGISTERS_PER_THREAD, WARP_SIZE, DeviceLimits
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function


@directive_rule("ignored-directive", code="W212", words=(".minnctapersm", ".maxnreg", ".local_maxnreg"))
def ignored_directive(function: Function) -> Iterator[Finding]:
    """A performance directive that ptxas ignores.

    ## What it does
    Reports `.minnctapersm` without `.maxntid` or `.reqntid`, a `.minnctapersm` that requires more blocks
    or threads than an SM of the target holds, and a `.maxnreg` or `.local_maxnreg` above 255 or below
    the minimum of ptxas.

    ## Why it matters
    The kernel is compiled as if the directive were absent. ptxas warns without a line number, and only
    when it generates code.

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
    There is no fix: the intended number is unknown.
    """
    heads, bounds = effective_directives(function), launch_bounds(function)
    if not function.is_kernel or function.node.body is None:
        return
    block, minimum, maximum = heads.block, heads.last(".minnctapersm"), heads.last(".maxnreg")
    if minimum is not None and block is None:
        reason = "it requires `.maxntid` or `.reqntid`"
        yield _finding(function, minimum, reason)
    if bounds is None:
        return
    if minimum is not None and block is not None:
        for why in bounds.ignored:
            reason = _about_blocks(why, bounds)
            if reason is not None:
                yield _finding(function, minimum, reason, block)
    for given in (maximum, heads.last(".local_maxnreg")):
        reason = _about_registers(given, bounds.device) if given is not None else None
        if given is not None and reason is not None:
            yield _finding(function, given, reason)


def _finding(
    function: Function,
    given: PerformanceDirective,
    reason: str,
    block: PerformanceDirective | None = None,
) -> Finding:
    related = ()
    if block is not None:
        related = ((function.place(block.node.name), "the block size"),)
    return Finding(function.place(given.node), f"`{given.name}` has no effect: {reason}", related)


def _about_blocks(why: Ignored, bounds: LaunchBounds) -> str | None:
    device, blocks = bounds.device, bounds.directives.minnctapersm
    threads = bounds.threads_per_block
    match why:
        case "minnctapersm above blocks per SM":
            return f"an SM holds at most {device.blocks_per_sm} blocks, not {blocks}"
        case "minnctapersm above warps per SM":
            warps = -(-threads // WARP_SIZE)
            return (
                f"{blocks} blocks of {threads} threads are {blocks * warps} warps, but an SM "
                f"holds at most {device.warps_per_sm}"
            )
        case "block size above threads per SM":
            return f"a block has {threads} threads, but an SM holds at most {device.threads_per_sm}"
        case _:
            return None


def _about_registers(given: PerformanceDirective, device: DeviceLimits) -> str | None:
    asked, least = (given.values[0] or 0) if len(given.values) == 1 else 0, device.least_registers
    if asked > MAX_REGISTERS_PER_THREAD:
        return f"a thread has at most {MAX_REGISTERS_PER_THREAD} registers"
    if 0 < asked < least:
        return f"ptxas uses at least {least} registers"
    return None
