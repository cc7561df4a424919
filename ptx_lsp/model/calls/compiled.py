"""Which functions ptxas makes code of where it compiles a whole program, as it does without `--compile-only`.

Kernels, and functions that their instructions name, to call them or for their address: by the name itself, by
an alias, or by that of a variable whose initial value has it; then what those name. A list of `.calltargets`
names nothing. So errors that ptxas finds when it makes code it does not tell of other functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import AliasName, Declared, FunctionName, Variable
from ptx_lsp.syntax import nodes


def compiled_with(module: Module, functions: Iterator[Function]) -> dict[str, Function]:
    """Some functions and all that are compiled because of them, by name."""
    found: dict[str, Function] = {}
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        if function.name not in found:
            found[function.name] = function
            for name in _named(function):
                other = module.definitions.get(name)
                if other is not None and other.name not in found:
                    waiting.append(other)
    return found


def compiled(module: Module) -> dict[str, Function]:
    """The functions of a whole program that are compiled, kernels among them."""
    return compiled_with(module, (function for function in module.functions if function.is_kernel))


@fact
def _named(function: Function) -> tuple[str, ...]:
    """The functions of the module that the instructions of one name."""
    listed = {
        name.text
        for node, _ in function.body.directives
        if isinstance(node, nodes.TargetList)
        for name in node.names
    }
    called = {call.target.text for call in calls(function)}
    linked = (s for name, s in function.linked.items() if name not in listed or name in called)
    return tuple(name for symbol in linked for name in _functions_of(symbol))


def _functions_of(symbol: Declared) -> Iterator[str]:
    match symbol:
        case FunctionName(name=name):
            yield name
        case AliasName(node=nodes.Alias(aliasee=nodes.Name(text=name))):
            yield name
        case Variable(declarator=nodes.Declarator(initializer=value)) if value is not None:
            yield from (name.text for name in names_in(value))
        case _:
            pass
