"""The callers and callees of a function."""

from __future__ import annotations

from ptx_lsp.ide.cursor.cursor_context import function_at
from ptx_lsp.ide.cursor.symbol_at import symbol_at
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import AliasName, FunctionName
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


class Called(NamedTuple):
    """A kernel or function: its span, and that of its name."""

    name: str
    is_kernel: bool
    span: Span
    name_span: Span
    is_defined: bool


class CallsOf(NamedTuple):
    """The other function of a group of calls, and the positions of the calls in the caller."""

    other: Called
    places: tuple[Span, ...]


def prepare_calls(module: Module, offset: int) -> Called | None:
    """The function named at `offset` (for an alias, its function); else the function that contains it."""
    found = symbol_at(module, offset)
    if found is not None and isinstance(found.symbol, FunctionName | AliasName):
        name = found.symbol.name
        symbol = module.definition(_aliases(module).get(name, name)) or found.symbol
        return _called(module, symbol) if isinstance(symbol, FunctionName) else None
    function = function_at(module, offset)
    return _called(module, function.symbol) if function is not None and function.name else None


def incoming(module: Module, name: str) -> tuple[CallsOf, ...]:
    """The functions of the file that call `name`, directly, by an alias, or through a target list."""
    names = {name, *(alias for alias, aliasee in _aliases(module).items() if aliasee == name)}
    found: list[CallsOf] = []
    for function in module.functions:
        if names.isdisjoint(function.free) and function.name not in names:
            continue
        places = tuple(
            _place(function, call.target)
            for call in calls(function)
            if any(callee.name in names for callee in call.callees)
        )
        if places:
            found.append(CallsOf(_called(module, function.symbol), places))
    return tuple(found)


def outgoing(module: Module, name: str) -> tuple[CallsOf, ...]:
    """The known callees of the function `name`; for an alias, of its function."""
    function = module.definitions.get(name)
    if function is None:
        return ()
    found: dict[str, list[Span]] = {}
    symbols: dict[str, FunctionName] = {}
    aliases = _aliases(module)
    for call in calls(function):
        for callee in call.callees:
            if isinstance(callee.symbol, FunctionName):
                other = aliases.get(callee.name, callee.name)
                symbols[other] = module.definition(other) or callee.symbol
                found.setdefault(other, []).append(_place(function, call.target))
    return tuple(
        CallsOf(_called(module, symbols[name]), tuple(places)) for name, places in found.items()
    )


def _aliases(module: Module) -> dict[str, str]:
    """The functions that aliases at file level refer to."""
    return {
        item.node.name.text: item.node.aliasee.text
        for item in module.document.items
        if isinstance(item.node, nodes.Alias)
        and isinstance(item.node.name, nodes.Name)
        and isinstance(item.node.aliasee, nodes.Name)
    }


def _called(module: Module, symbol: FunctionName) -> Called:
    name_span = module.span(symbol.place)
    span = module.span(Place.of(symbol.place.owner, symbol.node))
    return Called(symbol.name, symbol.is_kernel, span, name_span, symbol.is_definition)


def _place(function: Function, name: nodes.Name) -> Span:
    return function.span(name)
