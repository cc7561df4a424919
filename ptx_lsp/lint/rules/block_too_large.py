"""The rule `block-too-large`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.device_limits import MAX_BLOCK_DIMENSIONS, MAX_THREADS_PER_BLOCK
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function


@directive_rule("block-too-large", code="W211", words=(".maxntid", ".reqntid"))
def block_too_large(function: Function) -> Iterator[Finding]:
    """A `.maxntid` or `.reqntid` that exceeds the limits of a block.

    ## What it does
    Reports more than 1024 threads in all dimensions together, and a `.reqntid` whose third dimension
    exceeds 64. (`.maxntid` bounds only the product.)

    ## Why it matters
    No launch can have so many threads. With `.reqntid`, every launch fails. With `.maxntid`, the
    compiler saves registers for threads that never run. ptxas does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .reqntid 64, 32, 1
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
    .reqntid 32, 32, 1
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended block size is unknown.
    """
    if not function.is_kernel:
        return
    for given in effective_directives(function).directives:
        if given.name in (".maxntid", ".reqntid"):
            problem = _problem(given)
            if problem is not None:
                yield Finding(function.place(given.node), problem)


def _problem(given: PerformanceDirective) -> str | None:
    extent, product = given.extent, given.product
    if extent is None or product is None:
        return None
    if product > MAX_THREADS_PER_BLOCK:
        end = "every launch fails" if given.name == ".reqntid" else "no launch can use the rest"
        most = MAX_THREADS_PER_BLOCK
        return f"`{given.name}` specifies {product} threads, but a block has at most {most}; {end}"
    if given.name == ".reqntid" and extent[2] > MAX_BLOCK_DIMENSIONS[2]:
        return (
            f"the third dimension of a block is at most {MAX_BLOCK_DIMENSIONS[2]}, not "
            f"{extent[2]}; every launch fails"
        )
    return None
