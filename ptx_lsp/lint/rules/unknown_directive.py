"""The rule `unknown-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import DIRECTIVES
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.directives import unknown_directives
from ptx_lsp.model.module import Module


@module_rule("unknown-directive", code="E135")
def unknown_directive(module: Module) -> Iterator[Finding]:
    """A word with a dot that is not a PTX directive.

    ## What it does
    Reports statements that begin with an unknown directive, and unknown directives in the header of a
    function. Directives are lower-case.

    ## Why it matters
    ptxas reports a syntax error and stops.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntids 256, 1, 1
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
    .maxntid 256, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    The fix uses the directive with the most similar name. It is a guess, so it is not applied by
    default.
    """
    for use in unknown_directives(module):
        word = use.name.text
        if use.where == "section" and word in TYPES:
            message = f"`{word}` is not a type of data; expected `.b8`, `.b16`, `.b32` or `.b64`"
            yield Finding(use.place, message)
            continue
        known = [row.name for row in DIRECTIVES.values() if row.is_accepted and use.where in row.places]
        guess = similar_name(word.lower(), known)
        message = f"`{word}` is not a PTX directive"
        remedy = None
        if guess is not None:
            message += f"; did you mean `{guess}`?"
            remedy = FixProposal(f"Write `{guess}`", (Replacement(use.place, guess),), safe=False)
        yield Finding(use.place, message, fix=remedy)
