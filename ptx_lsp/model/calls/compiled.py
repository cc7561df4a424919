"""The functions for which ptxas generates code when it compiles a whole program (without `--compile-only`).

These are the kernels, and the functions that their instructions name, for a call or for the address. An
instruction can name a function directly, by an alias, or by a variable whose initial value contains it. The
same applies to the instructions of those functions. A list of `.calltargets` does not count. ptxas reports
errors of code generation only for compiled functions.
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
    """The given functions and all functions compiled because of them, by name."""
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
    """The compiled functions of a whole program, including kernels."""
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
