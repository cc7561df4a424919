"""All occurrences of a symbol in a file: declarations and uses.

Within a function, the text is searched for the name, and the model decides which of the hits refer to the
symbol. This is faster than an index that every edit would have to update.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.ide.cursor.access import Use, use_in
from ptx_lsp.ide.cursor.cursor_context import statement_before
from ptx_lsp.ide.cursor.symbol_at import SymbolReference
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import anchor
from ptx_lsp.model.symbols import AliasName, FunctionName, Predefined, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


class Occurrence(NamedTuple):
    """One occurrence. `function` is the function that contains it."""

    span: Span
    use: Use
    function: Function | None = None


def occurrences(module: Module, found: SymbolReference) -> tuple[Occurrence, ...]:
    """Every occurrence of the symbol that `found` names, in order.

    For a register in a range (`%r3` of `%r<8>`), these are the occurrences of that register, and the range as
    its declaration. For the range itself, they are the occurrences of all its registers.
    """
    if found.is_local or isinstance(found.symbol, Predefined):
        function = found.function
        assert function is not None
        return tuple(occurrences_in(function, found.symbol))
    return tuple(sorted(_of_module(module, found.symbol), key=lambda one: one.span))


def occurrences_in(function: Function, symbol: Symbol) -> Iterator[Occurrence]:
    """The occurrences of a symbol that `function` itself declares, in order."""
    item = function.item
    text = function.module.document.source.part(item.start, item.end)
    known = function.symbols
    for hit in _pattern(symbol).finditer(text):
        span = Span(*hit.span()).shifted(item.start)
        mark = item.mark(span.start)
        other = known.get(mark)
        if other is not None and (other is symbol or _is_same(symbol, other)):
            name = nodes.Name(mark, mark + len(hit[0]), hit[0])
            yield Occurrence(span, _use(function, name, other), function)


def is_range(symbol: Symbol) -> bool:
    """Whether it is a whole range such as `%r<8>`, not one of its registers."""
    return (
        isinstance(symbol, Register | Variable)
        and symbol.declarator.range is not None
        and symbol.declarator.name.text == symbol.name
    )


def declarations(module: Module, symbol: Symbol) -> tuple[Symbol, ...]:
    """All symbols that declare the same as `symbol`: a function may be declared several times."""
    if isinstance(symbol, FunctionName | AliasName):
        named = [one for _, one in module.names.get(symbol.name, ())]
        found = [one for one in named if isinstance(one, FunctionName | AliasName)]
        return tuple(found) or (symbol,)
    if isinstance(symbol, Variable) and not symbol.is_parameter:
        named = [one for _, one in module.names.get(symbol.name, ())]
        if any(one is symbol for one in named):
            return tuple(one for one in named if isinstance(one, Variable))
    return (symbol,)


def _pattern(symbol: Symbol) -> re.Pattern[str]:
    name = re.escape(symbol.name)
    if is_range(symbol):
        return re.compile(rf"{name}\d*(?![\w$])", re.ASCII)
    if isinstance(symbol, Register | Variable) and symbol.declarator.range is not None:
        base = symbol.declarator.name.text
        number = symbol.name[len(base) :].lstrip("0") or "0"
        return re.compile(rf"{re.escape(base)}(?:0*{number}(?![\w$])|(?=\s*<))", re.ASCII)
    return re.compile(rf"{name}(?![\w$])", re.ASCII)


def _is_same(symbol: Symbol, other: Symbol) -> bool:
    """Of ranges, as their registers have symbols of their own."""
    if isinstance(symbol, Predefined):
        return isinstance(other, Predefined) and other.name == symbol.name
    return (
        isinstance(symbol, Register | Variable)
        and isinstance(other, Register | Variable)
        and symbol.declarator is other.declarator
    )


def _use(function: Function, name: nodes.Name, symbol: Symbol) -> Use:
    if isinstance(symbol, Register | Variable):
        if symbol.declarator.name.start == name.start:
            return "declaration"
    elif not isinstance(symbol, Predefined) and symbol.place.start == name.start:
        return "declaration"
    statement = statement_before(function, function.item.offset(name.start))
    if isinstance(statement, nodes.Instruction) and name.end <= statement.end:
        return use_in(function, statement, name)
    return "other"


def _of_module(module: Module, symbol: Symbol) -> Iterator[Occurrence]:
    same = declarations(module, symbol)
    identities = {id(one) for one in same}
    ranged = isinstance(symbol, Register | Variable) and symbol.declarator.range is not None
    for one in same:
        if not isinstance(one, Predefined):
            yield Occurrence(module.span(one.place), "declaration")
    for function in module.functions:
        names = _free_names(function, symbol) if ranged else (symbol.name,)
        for text in names:
            for free in function.free.get(text, ()):
                other = function.linked.get(text)
                late = [late for use, late in function.undeclared_late if use is free]
                meant = late[0] if late else other
                if meant is not None and (id(meant) in identities or (ranged and _is_same(symbol, meant))):
                    yield Occurrence(function.span(free.name), _use(function, free.name, meant), function)
    yield from _outside(module, symbol, identities, ranged)


def _free_names(function: Function, symbol: Symbol) -> list[str]:
    """The names of a function that match a range of the module."""
    pattern = _pattern(symbol)
    return [name for name in function.free if pattern.fullmatch(name)]


def _outside(
    module: Module, symbol: Symbol, identities: set[int], ranged: bool
) -> Iterator[Occurrence]:
    """In initial values and aliases."""
    pattern = _pattern(symbol)
    for item in module.document.items:
        names: list[nodes.Name] = []
        match item.node:
            case nodes.Declaration(declarators=declarators):
                for declarator in declarators:
                    if declarator.initializer is not None:
                        names += names_in(declarator.initializer)
            case nodes.Alias(name=name, aliasee=aliasee):
                names += [one for one in (name, aliasee) if isinstance(one, nodes.Name)]
            case _:
                continue
        for name in names:
            if pattern.fullmatch(name.text):
                found = module.find(name.text, item.end)
                declared = any(
                    one.place.owner is anchor(item.node) and one.place.start == name.start
                    for _, one in module.names.get(name.text, ())
                )
                if found is None or declared:
                    continue
                if id(found) in identities or (ranged and _is_same(symbol, found)):
                    yield Occurrence(item.span(name), "other")
