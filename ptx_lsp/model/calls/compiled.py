"""The functions for which ptxas generates code when it compiles a whole program (without `--compile-only`).

1. These are the kernels, the functions that their instructions call by name or alias, reached or not, and
   those that these call. A list of `.calltargets` does not count.
2. If one of them takes the address of a function or calls through an address, ptxas also counts every
   function whose address is taken anywhere in the file (`addresses.py`), and what it calls.

ptxas reports errors of code generation only for compiled functions. Probed with 13.5 (docs/ptxas.md).
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.facts import module_fact
from ptx_lsp.model.calls.addresses import addresses, uses
from ptx_lsp.model.calls.aliases import aliases
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module


def compiled_with(module: Module, functions: Iterable[Function]) -> dict[str, Function]:
    """The given functions and all functions compiled because of them, by name."""
    found = _called_from(module, functions)
    takers = addresses(module).takers
    if any(name in takers or uses(function).calls_addresses for name, function in found.items()):
        return {**found, **addressed(module)}
    return found


def compiled(module: Module) -> dict[str, Function]:
    """The compiled functions of a whole program, including kernels."""
    return compiled_with(module, (function for function in module.functions if function.is_kernel))


@module_fact
def addressed(module: Module) -> dict[str, Function]:
    """The functions whose address is taken anywhere in the file, and those that they call, by name."""
    return _called_from(module, _defined(module, addresses(module).taken))


def _called_from(module: Module, functions: Iterable[Function]) -> dict[str, Function]:
    found: dict[str, Function] = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function.name not in found:
            found[function.name] = function
            waiting += _defined(module, uses(function).called)
    return found


def _defined(module: Module, names: Iterable[str]) -> list[Function]:
    """The functions with these names or aliases that have a body."""
    known, definitions = aliases(module), module.definitions
    found = (definitions.get(known.get(name, name)) for name in names)
    return [one for one in found if one is not None]
