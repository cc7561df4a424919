"""The rule `missing-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place


@directive_rule("missing-directive", code="E182", words=(".blocksareclusters",))
def missing_directive(function: Function) -> Iterator[Finding]:
    """A kernel directive that another one requires.

    ## What it does
    Reports `.blocksareclusters` in a kernel without `.reqntid` or `.reqnctapercluster`. A
    `.reqnctapercluster` whose first dimension is 0 counts as absent.

    ## Why it matters
    ptxas rejects the kernel, but names the line of its closing brace.

    ## Example
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .entry kernel()
    .blocksareclusters
    .reqntid 128, 1, 1
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .entry kernel()
    .blocksareclusters
    .reqntid 128, 1, 1
    .reqnctapercluster 2, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the sizes are unknown.
    """
    heads = effective_directives(function)
    blocks = heads.first(".blocksareclusters")
    if blocks is None or not function.is_kernel:
        return
    missing: list[str] = []
    related: list[tuple[Place, str]] = []
    for name in (".reqntid", ".reqnctapercluster"):
        given = heads.last(name)
        if given is None:
            missing.append(f"`{name}`")
        elif name == ".reqnctapercluster" and given.is_unset:
            missing.append(f"`{name}`")
            related.append((function.place(given.node), "0 counts as absent"))
    if missing:
        message = f"`.blocksareclusters` requires {' and '.join(missing)}"
        yield Finding(function.place(blocks.node.name), message, tuple(related))
