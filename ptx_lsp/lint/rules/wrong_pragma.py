"""The rule `wrong-pragma`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.pragmas import PRAGMAS, Pragma, number, split
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.calls.compiled import compiled
from ptx_lsp.model.directives.pragmas import PragmaUse, pragmas
from ptx_lsp.model.module import Module


@module_rule("wrong-pragma", code="E186", words=(".pragma",))
def wrong_pragma(module: Module) -> Iterator[Finding]:
    """A `.pragma` in the wrong place or with an invalid argument.

    ## What it does
    Reports `used_bytes_mask`, `enable_smem_spilling`, `frequency` and `mma_throughput` outside a body,
    `local_maxnreg` outside functions, and numbers that are missing, malformed or out of range.

    ## Why it matters
    ptxas rejects them, for wrong numbers without a line number. It checks the number of
    `used_bytes_mask` only when it generates code, so in functions that no kernel calls it is a warning.

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
    There is no fix: the intended place or number is unknown.
    """
    for use in pragmas(module):
        name, argument = split(use.text)
        pragma = PRAGMAS.get(name)
        if pragma is None or (use.where == "kernel" and "body" in pragma.places and pragma.name == _PASSED):
            continue  # the rule `unknown-pragma`
        message = _about_place(module, use, pragma)
        if message is not None:
            yield Finding(use.place, message)
            continue
        message = _about_argument(pragma, argument)
        if message is not None:
            is_late = pragma.when_compiled and not _is_compiled(module, use)
            yield Finding(use.place, message, severity="warning" if is_late else None)


def _is_compiled(module: Module, use: PragmaUse) -> bool:
    function = module.function_at(module.span(use.place).start)
    return function is not None and function.name in compiled(module)


_PASSED = "local_maxnreg"
"""In the head of a kernel ptxas warns of it, whatever its argument."""


def _about_place(module: Module, use: PragmaUse, pragma: Pragma) -> str | None:
    if use.where not in pragma.places:
        return f"`{pragma.name}` is only allowed in the body of a function"
    if pragma.of_kernels and use.where == "body":
        function = module.function_at(module.span(use.place).start)
        if function is not None and not function.is_kernel:
            return f"`{pragma.name}` is only allowed in the body of a kernel"
    return None


def _about_argument(pragma: Pragma, argument: str) -> str | None:
    if not pragma.takes_number:
        return None
    if not argument:
        return f'`{pragma.name}` requires a number: `"{pragma.name} 1"`'
    value = number(argument)
    if value is None:
        return f"`{pragma.name}` requires a whole number, not `{argument}`"
    if pragma.least == 1 and value < 1:
        return f"`{pragma.name}` must be positive, not `{argument}`"
    taken = (value + (1 << 31)) % (1 << 32) - (1 << 31)
    if pragma.largest is not None and not (pragma.least or 0) <= taken <= pragma.largest:
        return f"`{pragma.name}` must be from {pragma.least} to {pragma.largest}, not `{argument}`"
    return None
