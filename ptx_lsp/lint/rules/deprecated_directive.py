"""The rule `deprecated-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.target import effective
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.directives import directives_of
from ptx_lsp.model.function import Function


@directive_rule("deprecated-directive", code="W213", tag="deprecated", words=(".maxnctapersm",))
def deprecated_directive(function: Function) -> Iterator[Finding]:
    """A directive that has been replaced by another one.

    ## What it does
    Reports `.maxnctapersm` in PTX ISA 2.0. Earlier versions require this name; later versions reject it.

    ## Why it matters
    ptxas warns about it and ignores it.

    ## Example
    ```ptx
    .version 2.0
    .target sm_20
    .entry kernel()
    .maxntid 256, 1, 1
    .maxnctapersm 4
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 2.0
    .target sm_20
    .entry kernel()
    .maxntid 256, 1, 1
    .minnctapersm 4
    {
        ret;
    }
    ```

    ## Fix safety
    The fix writes the new name, which ptxas obeys: the kernel may get fewer registers.
    """
    version = function.module.version
    if version is None:
        return
    for use in directives_of(function):
        row = use.row
        if row is None or row.deprecated is None or use.where not in row.places:
            continue
        if effective(version) < row.deprecated or (row.removed and version >= row.removed):
            continue
        message = f"`{row.name}` is ignored since PTX ISA {row.deprecated}; write `{row.successor}`"
        replacement = Replacement(use.place, row.successor)
        remedy = FixProposal(f"Write `{row.successor}`", (replacement,), safe=False)
        yield Finding(use.place, message, fix=remedy)
