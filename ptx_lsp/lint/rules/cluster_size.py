"""The rule `cluster-size`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.device_limits import MAX_CLUSTER_SIZE
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function


@function_rule("cluster-size", code="W215")
def cluster_size(function: Function) -> Iterator[Finding]:
    """A size of clusters that no launch can have.

    ## What it does
    Reports a `.reqnctapercluster` with a 0 in it, a `.maxclusterrank` of 0, and either above 16 blocks.

    ## Why it matters
    ptxas takes them and says nothing. It drops a directive whose first number is 0; a cluster above 16
    blocks, or with a 0 in another dimension, cannot be launched. A `.maxclusterrank` above 16 bounds nothing:
    no device has such clusters.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .reqnctapercluster 8, 4, 1
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
    .reqnctapercluster 8, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the cluster that was meant is not known.
    """
    for given in effective_directives(function).directives:
        problem = _problem(given)
        if problem is not None:
            yield Finding(function.place(given.node), problem)


def _problem(given: PerformanceDirective) -> str | None:
    if given.name not in (".reqnctapercluster", ".maxclusterrank") or given.product is None:
        return None
    if given.is_unset:
        return (
            f"`{given.name}` has no effect if its first dimension is 0; a cluster has at "
            "least one block"
        )
    if given.product == 0:
        return "a cluster with a dimension of 0 cannot be launched"
    if given.product > MAX_CLUSTER_SIZE:
        return f"a cluster has at most {MAX_CLUSTER_SIZE} blocks on any device, not {given.product}"
    return None
