"""The rule `unknown-pragma`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.pragmas import PRAGMAS, split
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.pragmas import pragmas
from ptx_lsp.model.module import Module


@module_rule("unknown-pragma", code="E185", words=(".pragma",))
def unknown_pragma(module: Module) -> Iterator[Finding]:
    """A `.pragma` that ptxas does not support.

    ## What it does
    Reports strings other than `nounroll`, `used_bytes_mask`, `enable_smem_spilling`, `frequency` and
    `mma_throughput`. They are case-sensitive.

    ## Why it matters
    Outside functions, ptxas rejects the file when it generates code. In a kernel it warns and ignores
    the string, so the finding is a warning.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .pragma "no_unroll";
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .pragma "nounroll";
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    The fix uses the most similar string. It is a guess, so it is not applied by default.
    """
    for use in pragmas(module):
        name, _ = split(use.text)
        if name in PRAGMAS and (name == use.text or name != "nounroll"):
            continue
        if not use.text.isascii():
            continue  # the rule `not-ptx`
        guess = similar_name(name.strip().lower(), list(PRAGMAS))
        message = f'`"{use.text}"` is not a pragma of ptxas'
        remedy = None
        if guess is not None:
            rest = use.text[len(name) :] if PRAGMAS[guess].takes_number else ""
            message += f"; did you mean `{guess}`?"
            replacement = Replacement(use.place, f'"{guess}{rest}"')
            remedy = FixProposal(f"Write `{guess}`", (replacement,), safe=False)
        severity = None if use.where == "module" else "warning"
        yield Finding(use.place, message, fix=remedy, severity=severity)
