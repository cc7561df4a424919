"""The rule `wrong-pragma`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.pragmas import PRAGMAS, Pragma, is_number, is_positive, split
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.module import Module
from ptx_lsp.model.pragmas import PragmaUse, pragmas


@module_rule("wrong-pragma", code="E186")
def wrong_pragma(module: Module) -> Iterator[Finding]:
    """A `.pragma` that ptxas knows, in a wrong place or with a wrong argument.

    ## What it does
    Reports `used_bytes_mask`, `enable_smem_spilling`, `frequency` and `mma_throughput` outside a body,
    and numbers that are missing, wrong or not positive.

    ## Why it matters
    ptxas rejects them, of the numbers without a line.

    ## Example
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .entry kernel()
    .pragma "enable_smem_spilling";
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
    {
        .pragma "enable_smem_spilling";
        ret;
    }
    ```

    ## Fix safety
    There is no fix: which place or number was meant is not known.
    """
    for use in pragmas(module):
        name, argument = split(use.text)
        pragma = PRAGMAS.get(name)
        if pragma is None:
            continue  # the rule `unknown-pragma`
        message = _about_place(use, pragma) or _about_argument(pragma, argument)
        if message is not None:
            yield Finding(use.place, message)


def _about_place(use: PragmaUse, pragma: Pragma) -> str | None:
    if pragma.anywhere or use.where == "body":
        return None
    return f"`{pragma.name}` can stand in the body of a function only"


def _about_argument(pragma: Pragma, argument: str) -> str | None:
    if not pragma.takes_number:
        return None
    if not argument:
        return f'`{pragma.name}` needs a number: `"{pragma.name} 1"`'
    if not is_number(argument):
        return f"`{argument}` is no whole number, which `{pragma.name}` takes"
    if pragma.positive and not is_positive(argument):
        return f"`{pragma.name}` must be positive, not `{argument}`"
    return None
