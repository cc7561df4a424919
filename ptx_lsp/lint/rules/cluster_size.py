"""The rule `cluster-size`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.device_limits import MAX_CLUSTER_SIZE
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import (
    PerformanceDirective,
    effective_directives,
)
from ptx_lsp.model.function import Function


@directive_rule("cluster-size", code="W215", words=(".reqnctapercluster", ".maxclusterrank"))
def cluster_size(function: Function) -> Iterator[Finding]:
    """A cluster size that no launch can have.

    ## What it does
    Reports a `.reqnctapercluster` with a dimension of 0, a `.maxclusterrank` of 0, and either one above
    16 blocks.

    ## Why it matters
    ptxas accepts them without a warning. It ignores a directive whose first number is 0. A cluster of
    more than 16 blocks, or with another dimension of 0, cannot be launched. A `.maxclusterrank` above 16
    has no effect, because no device supports such clusters.

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
    There is no fix: the intended cluster size is unknown.
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
