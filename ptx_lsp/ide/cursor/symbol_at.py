"""The symbol that the name at an offset refers to."""

from __future__ import annotations

from ptx_lsp.ide.cursor.cursor_context import CursorContext, cursor_context
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import anchor
from ptx_lsp.model.scope import Range, range_count
from ptx_lsp.model.symbols import Predefined, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


class SymbolReference(NamedTuple):
    """A name in the text and its symbol. `function` is the one that contains it; None at the level of
    the module.
    """

    name: nodes.Name
    span: Span
    symbol: Symbol
    function: Function | None

    @property
    def is_local(self) -> bool:
        """Whether the symbol belongs to a function (its registers, labels, variables, parameters)."""
        return self.function is not None and is_declared_by(self.function, self.symbol)


def symbol_at(module: Module, offset: int) -> SymbolReference | None:
    """The symbol reference at `offset`; None if there is no name, or nothing declares it."""
    place = cursor_context(module, offset)
    return resolve_symbol(place) if place is not None else None


def resolve_symbol(place: CursorContext) -> SymbolReference | None:
    """The symbol reference at a cursor context."""
    name = place.node
    if not isinstance(name, nodes.Name):
        return None
    symbol = _symbol(place, name)
    return SymbolReference(name, place.span(name), symbol, place.function) if symbol is not None else None


def is_declared_by(function: Function, symbol: Symbol) -> bool:
    """Whether `function` itself declares a symbol, so that its name is visible only there."""
    if isinstance(symbol, Predefined) or symbol is function.symbol:
        return False
    return symbol.place.owner is function.node.kind


def _symbol(place: CursorContext, name: nodes.Name) -> Symbol | None:
    function = place.function
    above = place.parent(name)
    if function is not None:
        if isinstance(above, nodes.Function):
            return function.symbol if above.name is name else None
        if not _can_be_symbol(above, name):
            return None
        if any(isinstance(node, nodes.CallPrototype) for node in place.path):
            return None  # its parameters are visible nowhere
        return _member(function.resolve(name), name)
    return _member(_module_symbol(place, above, name), name)


def _member(symbol: Symbol | None, name: nodes.Name) -> Symbol | None:
    """Of a range of the module, which is one symbol there, the register or variable that `name` means."""
    if isinstance(symbol, Register | Variable) and symbol.name != name.text:
        return Range(symbol, range_count(symbol.declarator)).member(name.text)
    return symbol


def _can_be_symbol(above: object, name: nodes.Name) -> bool:
    """Not the words of PTX: state spaces, modifiers, attributes, components."""
    match above:
        case nodes.Declaration() | nodes.Attribute() | nodes.Directive() | nodes.Target():
            return False
        case nodes.Location() | nodes.Section() | nodes.Aggregate() | nodes.CallPrototype():
            return False
        case nodes.Member():
            return above.object is name
        case nodes.Cast():
            return above.type is not name
        case nodes.Relocation():
            return above.operator is not name
        case nodes.FieldValue():
            return above.name is not name
        case nodes.TargetList():
            return above.kind is not name
        case nodes.Address():
            return above.suffix is not name
        case _:
            return True


def _module_symbol(place: CursorContext, above: object, name: nodes.Name) -> Symbol | None:
    module, item = place.module, place.item
    if not _can_be_symbol(above, name) and not isinstance(above, nodes.Aggregate):
        return None
    if isinstance(above, nodes.Declarator) and above.name is name:
        return next(
            (one for one in module.variables
             if one.declarator is above and one.place.owner is anchor(item.node)),
            None,
        )
    for _, symbol in module.names.get(name.text, ()):
        if symbol.place.owner is anchor(item.node) and symbol.place.start == name.start:
            return symbol
    return module.find(name.text, item.end)

