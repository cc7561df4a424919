"""The rule `directive-order`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.deletion_edits import delete_directive
from ptx_lsp.lint.rule import directive_rule
from ptx_lsp.model.directives.performance_directives import PerformanceDirective, signatures
from ptx_lsp.model.function import Function

_ORDER = {".noreturn": 0, ".abi_preserve": 1, ".abi_preserve_control": 1, ".local_maxnreg": 2, ".language": 3}


@directive_rule("directive-order", code="E183", words=tuple(_ORDER))
def directive_order(function: Function) -> Iterator[Finding]:
    """A function directive that is out of order or duplicated.

    ## What it does
    The order is `.noreturn`, then `.abi_preserve` and `.abi_preserve_control`, then `.local_maxnreg`,
    then `.language`. Reports directives out of this order, and duplicates, in functions and call
    prototypes.

    ## Why it matters
    ptxas rejects them, although the directives of a kernel may be in any order.

    ## Example
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .func stop() .noreturn .abi_preserve 8 .abi_preserve 8
    {
        trap;
    }
    ```

    ## Use instead
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .func stop() .noreturn .abi_preserve 8
    {
        trap;
    }
    ```

    ## Fix safety
    The fix removes an identical duplicate. There is no other fix.
    """
    for signature in signatures(function):
        before: dict[str, PerformanceDirective] = {}
        for given in signature.directives.directives:
            if given.name not in _ORDER:
                continue
            found = _misplaced(given, before)
            if found is not None:
                earlier, message = found
                same = earlier.name == given.name and earlier.values == given.values
                yield Finding(
                    function.place(given.node.name),
                    message,
                    ((function.place(earlier.node.name), "the first one"),),
                    delete_directive(function, given.node) if same and None not in given.values else None,
                )
            before.setdefault(given.name, given)


def _misplaced(
    given: PerformanceDirective, before: dict[str, PerformanceDirective]
) -> tuple[PerformanceDirective, str] | None:
    if given.name in before:
        return before[given.name], f"duplicate `{given.name}`"
    for name, earlier in before.items():
        if _ORDER[name] > _ORDER[given.name]:
            return earlier, f"`{given.name}` must precede `{name}`"
    return None
