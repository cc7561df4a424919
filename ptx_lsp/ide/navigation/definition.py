"""Definitions, declarations and type definitions of names."""

from __future__ import annotations

from ptx_lsp.ide.cursor.cursor_context import cursor_context
from ptx_lsp.ide.cursor.occurrences import declarations
from ptx_lsp.ide.cursor.symbol_at import SymbolReference, symbol_at
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


def definitions(module: Module, offset: int) -> tuple[Span, ...]:
    """The name in the definition of the symbol at `offset`. For a function, the definition with a body, if
    any; in an `.alias`, that of the aliased function.
    """
    found = symbol_at(module, offset)
    if found is None:
        return _section_label(module, offset)
    symbol = found.symbol
    if isinstance(symbol, FunctionName | AliasName):
        symbol = module.definition(_aliasee(module, symbol.name) or symbol.name) or symbol
    if isinstance(symbol, Variable) and symbol.linkage == ".extern" and not found.is_local:
        same = declarations(module, symbol)
        symbol = next((s for s in same if isinstance(s, Variable) and s.linkage != ".extern"), symbol)
    return _spans(module, (symbol,))


def declarations_at(module: Module, offset: int) -> tuple[Span, ...]:
    """The names in all declarations of the symbol at `offset`: functions may be declared several times."""
    found = symbol_at(module, offset)
    return _spans(module, declarations(module, found.symbol)) if found is not None else ()


def type_definitions(module: Module, offset: int) -> tuple[Span, ...]:
    """The type in the declaration of a register, variable or parameter, or its structure type (PTX 1.x). For
    the operand of an indirect call, the call prototype.
    """
    found = symbol_at(module, offset)
    if found is None or not isinstance(found.symbol, Register | Variable):
        return ()
    symbol = found.symbol
    node = _declaration(module, found, symbol)
    if node is None:
        return ()
    if node.type_name is not None:
        aggregate = module.find(node.type_name.text, module.span(symbol.place).start)
        if aggregate is not None:
            return _spans(module, (aggregate,))
    owner = symbol.place.owner
    return tuple(module.span(Place.of(owner, one)) for one in node.modifiers[-1:])


def _aliasee(module: Module, name: str) -> str | None:
    """The function to which an `.alias` maps `name`. There are few aliases, usually none."""
    for item in module.document.items:
        match item.node:
            case nodes.Alias(name=nodes.Name(text=text), aliasee=nodes.Name() as aliasee) if text == name:
                return aliasee.text
            case _:
                pass
    return None


def _spans(module: Module, symbols: tuple[Symbol, ...]) -> tuple[Span, ...]:
    return tuple(module.span(one.place) for one in symbols if not isinstance(one, Predefined))


def _declaration(
    module: Module, found: SymbolReference, symbol: Register | Variable
) -> nodes.Declaration | None:
    """The declaration that contains a register's declarator."""
    if isinstance(symbol, Variable):
        return symbol.declaration
    place = cursor_context(module, module.span(symbol.place).start)
    path = place.path if place is not None else ()
    return next((node for node in path if isinstance(node, nodes.Declaration)), None)


def _section_label(module: Module, offset: int) -> tuple[Span, ...]:
    """The name in `.loc ..., function_name LABEL` is a label in a `.section`."""
    place = cursor_context(module, offset)
    token = place.token() if place is not None else None
    if place is None or token is None or not isinstance(place.statement, nodes.Location):
        return ()
    word = module.document.source.text[token.start : token.end]
    return tuple(
        item.span(label)
        for item in module.document.items
        if isinstance(item.node, nodes.Section)
        for label in item.node.labels
        if label.text == word
    )
