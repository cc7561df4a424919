"""A PTX file: its version, target, variables and functions, with every name resolved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import NamedTuple

from ptx_lsp.isa import target as isa
from ptx_lsp.isa.verdict import Verdicts
from ptx_lsp.model.body import Body, names_in, predefined
from ptx_lsp.model.body_change import changed
from ptx_lsp.model.function import Function, Home
from ptx_lsp.model.place import Place, anchor
from ptx_lsp.model.scope import integer, range_count, range_index
from ptx_lsp.model.symbols import (
    AggregateName,
    AliasName,
    Declared,
    FunctionName,
    Label,
    Register,
    Variable,
    element_type,
    vector_length,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span

_numbers = count(1)


class Repeated(NamedTuple):
    """A name of the module declared once more."""

    symbol: Declared
    first: Declared


class _From(NamedTuple):
    """A place in a statement, which moves with it: the identity of what stands for it (`anchor`), and how
    many bytes behind its start.
    """

    anchor: int
    distance: int


class Module:
    """The meaning of one document. Never changes; an edited document gets a new one, which takes over
    from `previous` what the edit did not touch.
    """

    def __init__(
        self,
        document: Document,
        previous: Module | None = None,
        target: isa.Target | None = None,
    ) -> None:
        """`target` is judged for in place of the file's own."""
        self.document = document
        self.outside = tuple(
            item for item in document.items if not isinstance(item.node, nodes.Function)
        )
        """The statements that are no functions."""
        self._target = target
        self.naming = next(_numbers)
        """Equal for versions of a file that declare the same names in the same statements: outside of bodies,
        and in them outside of blocks.
        """
        self.home = Home(self)
        """Leads to the newest module once this one is retired."""
        self.names: dict[str, list[tuple[_From, Declared]]] = {}
        """For each name its declarations in order, with from where on they are known."""
        self.variables: list[Variable | Register] = []
        self.functions: list[Function] = []
        self.repeated: list[Repeated] = []
        self.undeclared: list[tuple[Item, nodes.Name]] = []
        self.verdicts: Verdicts = {}
        """What the instruction table says of each shape of instruction met so far."""
        if previous and (previous.version, previous.target) == (self.version, self.target):
            self.verdicts = previous.verdicts
        self.gathered: dict[object, Mapping[int, tuple[object, ...]]] = {}
        """Facts of all functions (`ptx_lsp.facts.of_all`): by their numbers, where there is anything."""
        self.gathered_before: dict[object, tuple[Mapping[int, tuple[object, ...]], Sequence[int]]] = {}
        """Those of an earlier module, and which functions are not what they were in that."""
        self._items: dict[int, Item] = {}
        """By the identity of what stands for each (`anchor`)."""
        self._symbols: dict[int, Variable | Register | FunctionName] = {}
        """The variables and functions of the module, by what declares them."""
        self._ranges: dict[str, tuple[_From, Variable | Register, int]] = {}
        self._before: dict[int, Function] = {}
        self._known = previous._symbols if previous else {}
        inside = self._edited_inside(previous) if previous is not None else None
        if previous is not None and inside is not None:
            self._continue(previous, inside)
        else:
            self._read(previous)
        self._before, self._known = {}, {}
        if previous is not None and len(previous.functions) == len(self.functions):
            self._gather_from(previous)

    @classmethod
    def parse(cls, text: str) -> Module:
        """The module of a PTX text."""
        from ptx_lsp.text import Source

        return cls(Document.parse(Source.of(text)))

    def retire(self, successor: Module) -> None:
        """Gives up the functions: nobody looks at this module any more, and `successor` came after it, if
        any did. Then its memory is free at once; it is in cycles that only the garbage collector could cut.
        """
        if successor is not self:
            for function in self.functions:
                function.leave(self, successor.home)
            self.home.leave(self, successor.home)
        self.functions.clear()
        self.__dict__.pop("definitions", None)

    def _read(self, previous: Module | None) -> None:
        """Declares and links everything."""
        self._items = {id(anchor(item.node)): item for item in self.document.items}
        self._before = {id(f.node.kind): f for f in previous.functions} if previous else {}
        for item in self.document.items:
            self._declare(item)
        for item in self.outside:
            self._link(item)
        for function in self.functions:
            self._link_function(function)

    def _link_function(self, function: Function) -> None:
        function.link()
        before = self._before.get(id(function.node.kind))
        if before is not None:
            function.take_over(before)

    def _edited_inside(self, previous: Module) -> list[int] | None:
        """The numbers of the statements that are not what they were, where these are functions edited in
        their bodies, which declare what they declared; None where other things have changed, too.
        """
        items, before = self.document.items, previous.document.items
        if len(items) != len(before) or self._target != previous._target:
            return None
        pairs = zip(items, before, strict=True)
        found = [number for number, (new, old) in enumerate(pairs) if new.node is not old.node]
        again = {name for one in previous.repeated for name in (one.symbol.name, one.first.name)}
        for number in found:
            match items[number].node, before[number].node:
                case nodes.Function(name=nodes.Name(text=name)) as new, nodes.Function() as old:
                    if new.kind is not old.kind or name in again:
                        return None
                case _:
                    return None
        return found

    def _continue(self, previous: Module, inside: list[int]) -> None:
        """Everything stays but the functions whose bodies were edited, and those that name them."""
        items, before = self.document.items, previous.document.items
        self._items = dict(zip(previous._items, items, strict=True))
        self.names, self._symbols = dict(previous.names), dict(previous._symbols)
        self.variables, self.repeated = previous.variables, previous.repeated
        self.undeclared, self._ranges = previous.undeclared, previous._ranges
        edited: dict[int, FunctionName] = {}
        for number in inside:
            new, old = items[number].node, self._symbols.pop(id(before[number].node))
            assert isinstance(new, nodes.Function)
            symbol = FunctionName(old.name, new, old.place)
            edited[id(new)] = self._symbols[id(new)] = symbol
            self.names[old.name] = [
                (known_from, symbol if one is old else one) for known_from, one in self.names[old.name]
            ]
        names = {symbol.name for symbol in edited.values()}
        again: list[Function] = []
        functions = (item for item in items if isinstance(item.node, nodes.Function))
        for item, function in zip(functions, previous.functions, strict=True):
            symbol = edited.get(id(item.node))
            if symbol is None and not function.undeclared and names.isdisjoint(function.body.free):
                self.functions.append(function.moved(item, self))
                continue
            self._before[id(function.node.kind)] = function
            node = symbol.node if symbol is not None else function.node
            again.append(self._function(item, symbol or function.symbol, node))
            self.functions.append(again[-1])
        if all(one.body.scope is self._before[id(one.node.kind)].body.scope for one in again):
            self.naming = previous.naming
        for function in again:
            self._link_function(function)

    def _gather_from(self, before: Module) -> None:
        """Takes over what is known of all functions: that two have the same facts says they are the same."""
        functions = zip(self.functions, before.functions, strict=True)
        touched = [number for number, (new, old) in enumerate(functions) if new.facts is not old.facts]
        for key, (found, since) in before.gathered_before.items():
            self.gathered_before[key] = (found, sorted({*since, *touched}))
        for key, found in before.gathered.items():
            self.gathered_before[key] = (found, touched)

    # -- header ---------------------------------------------------------------------------------

    @cached_property
    def version(self) -> isa.Version | None:
        """As the first `.version` has it; None where there is none that PTX knows."""
        for item in self.outside:
            if isinstance(item.node, nodes.Version):
                number = item.node.number
                try:
                    found = isa.parse_version(number.text if isinstance(number, nodes.Number) else "")
                except ValueError:
                    return None
                return found if found in isa.VERSIONS else None
        return None

    @cached_property
    def target_names(self) -> tuple[nodes.Name, ...]:
        """What the first `.target` lists."""
        for item in self.outside:
            if isinstance(item.node, nodes.Target):
                return item.node.names
        return ()

    @cached_property
    def target(self) -> isa.Target | None:
        """The architecture that the first `.target` names, the last where it names several (ptxas
        takes that one); None where it names none that exists.
        """
        if self._target is not None:
            return self._target
        for name in reversed(self.target_names):
            found = isa.parse_target(name.text)
            if found is not None and found in isa.TARGETS:
                return found
        return None

    @cached_property
    def address_size(self) -> int:
        """In bits; 32 where the file does not say."""
        for item in self.outside:
            if isinstance(item.node, nodes.AddressSize):
                bits = item.node.bits
                return 64 if isinstance(bits, nodes.Number) and bits.text == "64" else 32
        return 32

    @cached_property
    def files(self) -> dict[int, str]:
        """The path that `.file` gives each number."""
        found: dict[int, str] = {}
        for item in self.outside:
            match item.node:
                case nodes.File(number=nodes.Number(text=number), path=nodes.String(text=path)):
                    if (index := integer(number)) is not None:
                        found.setdefault(index, path.strip('"'))
                case _:
                    pass
        return found

    # -- places ---------------------------------------------------------------------------------

    def span(self, place: Place) -> Span:
        """Where a place of this module is in its text."""
        if place.owner is None:
            return Span(place.start, place.end)
        return self._items[id(anchor(place.owner))].span(place)

    def function_at(self, offset: int) -> Function | None:
        """The function whose text holds `offset`."""
        index = bisect_right(self.functions, offset, key=lambda f: f.item.start) - 1
        if index < 0:
            return None
        function = self.functions[index]
        return function if offset < function.item.end else None

    # -- names ----------------------------------------------------------------------------------

    def find(self, name: str, before: int) -> Declared | None:
        """What `name` stands for in a statement that begins at offset `before`.

        A function is known in its own body; everything else only after its declaration.
        """
        found: Declared | None = None
        for known_from, symbol in self.names.get(name, ()):
            if self._offset(known_from) <= before:
                found = found or symbol
        if found is None:
            base = name.rstrip("0123456789")
            if base != name and base in self._ranges:
                known_from, symbol, count = self._ranges[base]
                if self._offset(known_from) <= before and range_index(name, base) < count:
                    return symbol
        return found

    @cached_property
    def definitions(self) -> dict[str, Function]:
        """The functions that have a body, by name; the first of each."""
        found: dict[str, Function] = {}
        for function in self.functions:
            if function.symbol.is_definition:
                found.setdefault(function.name, function)
        return found

    def definition(self, name: str) -> FunctionName | None:
        """The body of a function that may be declared several times, else its first declaration."""
        symbols = [s for _, s in self.names.get(name, ()) if isinstance(s, FunctionName)]
        return next((s for s in symbols if s.is_definition), symbols[0] if symbols else None)

    def _declare(self, item: Item) -> None:
        node = item.node
        match node:
            case nodes.Declaration():
                self._declare_variables(item, node)
            case nodes.Function(name=nodes.Name() as name):
                symbol = self._known.get(id(node))
                if not isinstance(symbol, FunctionName) or symbol.node is not node:
                    symbol = FunctionName(name.text, node, Place.of(node, name))
                self._symbols[id(node)] = symbol
                self._add(symbol, item, 0)
                self.functions.append(self._function(item, symbol, node))
            case nodes.Function():  # nameless: what is in it can be looked at all the same
                symbol = FunctionName("", node, Place.of(node, node.kind))
                self.functions.append(self._function(item, symbol, node))
            case nodes.Aggregate(name=nodes.Name() as name):
                self._add(AggregateName(name.text, node, Place.of(node, name)), item, item.end - item.start)
            case nodes.Alias(name=nodes.Name() as name) if name.text not in self.names:
                self._add(AliasName(name.text, node, Place.of(node, name)), item, item.end - item.start)
            case nodes.Label(name=name):
                self._add(Label(name.text, Place.of(node, name)), item, item.end - item.start)
            case _:
                pass

    def _function(self, item: Item, symbol: FunctionName, node: nodes.Function) -> Function:
        """One of this module, with as much of what it was before as is still true."""
        before = self._before.get(id(node.kind))
        if before is not None and before.node is node:
            return Function(self, item, symbol, before.body)
        found = changed(before.body, before.item, item) if before is not None else None
        body, change = found or (Body(node), None)
        return Function(self, item, symbol, body, change)

    def _declare_variables(self, item: Item, node: nodes.Declaration) -> None:
        space = node.space.text if node.space else ""
        for declarator in node.declarators:
            name = declarator.name
            place = Place.of(node, name)
            symbol = self._known.get(id(declarator))
            if isinstance(symbol, FunctionName | None) or symbol.declarator is not declarator:
                symbol = (
                    Register(name.text, element_type(node), vector_length(node), declarator, place)
                    if space == ".reg"
                    else Variable(name.text, space, node, declarator, place)
                )
            self._symbols[id(declarator)] = symbol
            self.variables.append(symbol)
            if declarator.range is None:
                self._add(symbol, item, declarator.end)
            else:
                known_from = _From(id(node), declarator.end)
                self._ranges[name.text] = (known_from, symbol, range_count(declarator))

    def _add(self, symbol: Declared, item: Item, distance: int) -> None:
        """`distance`: from where on it is known, counted from the start of `item`."""
        declared = self.names.setdefault(symbol.name, [])
        earlier = declared[0][1] if declared else self.find(symbol.name, item.start + distance)
        if earlier is not None:
            self.repeated.append(Repeated(symbol, earlier))
        declared.append((_From(id(anchor(item.node)), distance), symbol))

    def _offset(self, place: _From) -> int:
        return self._items[place.anchor].start + place.distance

    def _link(self, item: Item) -> None:
        """Looks up the names that module-level statements use."""
        match item.node:
            case nodes.Declaration(declarators=declarators):
                for declarator in declarators:
                    if declarator.initializer is not None:
                        for name in names_in(declarator.initializer):
                            self._need(item, name, item.end)
            case nodes.Alias(name=name, aliasee=aliasee):
                for used in (name, aliasee):
                    if isinstance(used, nodes.Name):
                        self._need(item, used, item.start)
            case _:
                pass

    def _need(self, item: Item, name: nodes.Name, before: int) -> None:
        if self.find(name.text, before) is None and predefined(name.text) is None:
            self.undeclared.append((item, name))
