"""The functions for which ptxas generates code when it compiles a whole program (without `--compile-only`).

1. These are the kernels, and the functions that their instructions name, for a call or for the address. An
   instruction can name a function directly, by an alias, or by a variable whose initial value contains it.
   The same applies to the instructions of those functions. A list of `.calltargets` does not count, nor does
   the address of a kernel.
2. If one of them takes the address of a function or calls through an address, ptxas also counts every
   function whose address is taken anywhere in the file: by an instruction, also of a function that is not
   compiled, or by the initial value of a variable of the module.

ptxas reports errors of code generation only for compiled functions. Probed with 13.5 (docs/ptxas.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import fact, module_fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.aliases import aliases
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import AliasName, FunctionName, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


def compiled_with(module: Module, functions: Iterable[Function]) -> dict[str, Function]:
    """The given functions and all functions compiled because of them, by name."""
    found: dict[str, Function] = {}
    waiting = list(functions)
    has_addressed = False
    while waiting:
        function = waiting.pop()
        if function.name not in found:
            found[function.name] = function
            named = _named(function)
            taken = _defined(module, named.addressed)
            waiting += [*_defined(module, named.called), *taken]
            if (taken or named.calls_addresses) and not has_addressed:
                has_addressed = True
                waiting += addressed(module)
    return found


def compiled(module: Module) -> dict[str, Function]:
    """The compiled functions of a whole program, including kernels."""
    return compiled_with(module, (function for function in module.functions if function.is_kernel))


@module_fact
def addressed(module: Module) -> tuple[Function, ...]:
    """The functions with a body, other than kernels, whose address is taken anywhere in the file."""
    names = [name for function in module.functions for name in _named(function).addressed]
    names += [name for variable in module.variables for name in _functions_of(variable)]
    return tuple(_defined(module, dict.fromkeys(names)))


def _defined(module: Module, names: Iterable[str]) -> list[Function]:
    """The functions with these names or aliases that have a body and are not kernels."""
    found = (module.definitions.get(aliases(module).get(name, name)) for name in names)
    return [one for one in found if one is not None and not one.is_kernel]


class _Named(NamedTuple):
    """What the instructions of a function call by name; the functions, or other symbols of the module, whose
    address they take; whether there is a call through an address.
    """

    called: tuple[str, ...]
    addressed: tuple[str, ...]
    calls_addresses: bool


@fact
def _named(function: Function) -> _Named:
    known = [(call.target, function.resolve(call.target)) for call in calls(function)]
    by_name = {name.start: name.text for name, one in known if isinstance(one, FunctionName | AliasName)}
    through = any(isinstance(one, Register) for _, one in known)
    if not any(_names_functions(one) for one in (*function.linked.values(), *function.body.variables)):
        return _Named((), (), through)
    taken = [
        one
        for instruction in function.body.instructions
        for operand in instruction.operands
        for name in names_in(operand)
        if name.start not in by_name and (symbol := function.resolve(name)) is not None
        for one in _functions_of(symbol)
    ]
    return _Named(tuple(dict.fromkeys(by_name.values())), tuple(dict.fromkeys(taken)), through)


def _names_functions(symbol: Symbol) -> bool:
    return any(True for _ in _functions_of(symbol))


def _functions_of(symbol: Symbol) -> Iterator[str]:
    """The names by which a symbol stands for functions; of an initial value, all names in it."""
    match symbol:
        case FunctionName(name=name) | AliasName(name=name):
            yield name
        case Variable(declarator=nodes.Declarator(initializer=value)) if value is not None:
            yield from (name.text for name in names_in(value))
        case _:
            pass
