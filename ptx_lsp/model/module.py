"""A PTX file: its version, target, variables and functions, with every name resolved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import NamedTuple, TypeAlias

from ptx_lsp.isa import target as isa
from ptx_lsp.isa.verdict import Verdicts
from ptx_lsp.model.body import Body, names_in, predefined
from ptx_lsp.model.body_change import changed
from ptx_lsp.model.function import Function, Home
from ptx_lsp.model.functions import Definitions, Functions
from ptx_lsp.model.naming import Naming
from ptx_lsp.model.place import Owner, Place, anchor
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

_namings = count(1)
_Symbols: TypeAlias = dict[int, Variable | Register | FunctionName]


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
        self._target = target
        self.naming = next(_namings)
        """Equal for versions of a file that declare the same names in the same statements: outside of bodies,
        and in them outside of blocks.
        """
        self.home = Home(self)
        """Leads here, and to the newest module once this one is retired."""
        self.names: dict[str, list[tuple[_From, Declared]]] = {}
        """For each name its declarations in order, with from where on they are known."""
        self.variables: list[Variable | Register] = []
        self.repeated: list[Repeated] = []
        self.undeclared: list[tuple[nodes.Statement, nodes.Name]] = []
        """The names in statements outside of functions that nothing declares."""
        self.gathered: dict[object, Mapping[int, object]] = {}
        """What is known of all functions, such as facts (`ptx_lsp.facts.of_all`), by their numbers."""
        self.gathered_before: dict[object, tuple[Mapping[int, object], Sequence[int]]] = {}
        """Those of an earlier module, and which functions are not what they were in that."""
        self._left: list[Function] = []
        """The functions that are not in the next module just as they are."""
        self._symbols: _Symbols = {}
        """The variables and functions of the module, by what declares them."""
        self._ranges: dict[str, tuple[_From, Variable | Register, int]] = {}
        inside = self._edited_inside(previous) if previous is not None else None
        if previous is not None and inside is not None:
            self._continue(previous, inside)
        else:
            self._read(previous)

    @classmethod
    def parse(cls, text: str) -> Module:
        """The module of a PTX text."""
        from ptx_lsp.text import Source

        return cls(Document.parse(Source.of(text)))

    def retire(self, successor: Module) -> None:
        """Gives up the functions: nobody looks at this module any more, and `successor` came after it, if
        any did. Then its memory is free at once; it is in cycles that only the garbage collector could cut.
        """
        self.home.leave(successor.home if successor is not self else None)
        for function in self.functions.anywhere() if successor is self else self._left:
            function.forget()
        self.functions.clear()
        self._left = []

    def _read(self, previous: Module | None) -> None:
        """Declares and links everything."""
        items = self.document.items
        self._numbers = {id(anchor(item.node)): number for number, item in enumerate(items)}
        """Those of the statements, by the identity of what stands for each (`anchor`)."""
        self._outside = [n for n, item in enumerate(items) if not isinstance(item.node, nodes.Function)]
        self.verdicts: Verdicts = {}
        """What the instruction table says of each shape of instruction met so far."""
        if previous and previous._table_inputs == self._table_inputs:
            self.verdicts = previous.verdicts
        before = {id(f.node.kind): f for f in previous.functions} if previous else {}
        symbols = previous._symbols if previous else {}
        functions: list[Function] = []
        for item in items:
            node = item.node
            symbol = self._declare(item, symbols)
            if isinstance(symbol, FunctionName) and isinstance(node, nodes.Function):
                functions.append(self._function(item, symbol, before.get(id(node.kind))))
        inside = [n for n, item in enumerate(items) if isinstance(item.node, nodes.Function)]
        self.functions = Functions(functions, inside, items, self.home)
        self._defined: dict[str, int] = {}
        """The number of the first function of each name that has a body."""
        for number, function in enumerate(functions):
            if function.symbol.is_definition:
                self._defined.setdefault(function.name, number)
        for item in self.outside:
            self._link(item)
        left = self._link_functions(functions, before)
        if previous is not None:
            previous._left = left
        if previous is not None and len(previous.functions) == len(functions):
            self._gather_from(previous, range(len(functions)))

    def _edited_inside(self, previous: Module) -> list[int] | None:
        """The numbers of the statements that are not what they were, where these are functions edited in
        their bodies, which declare what they declared; None where other things have changed, too.
        """
        items, before = self.document.items, previous.document.items
        if len(items) != len(before) or self._target != previous._target:
            return None
        found = list(items.changed(before))
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
        self._numbers, self._outside = previous._numbers, previous._outside
        self._defined, self.verdicts = previous._defined, previous.verdicts
        self.names, self._symbols = dict(previous.names), dict(previous._symbols)
        self.variables, self.repeated = previous.variables, previous.repeated
        self.undeclared, self._ranges = previous.undeclared, previous._ranges
        edited: dict[int, FunctionName] = {}
        for number in inside:
            new, old = items[number].node, self._symbols.pop(id(before[number].node))
            assert isinstance(new, nodes.Function)
            symbol = FunctionName(old.name, new, old.place)
            edited[number] = self._symbols[id(new)] = symbol
            self.names[old.name] = [
                (known_from, symbol if one is old else one) for known_from, one in self.names[old.name]
            ]
        again: dict[int, Function] = {}
        earlier: dict[int, Function] = {}

        def renew(numbers: Iterable[int]) -> None:
            for number in numbers:
                function = previous.functions[number]
                place = previous.functions.item_of(number)
                symbol = edited.get(place, function.symbol)
                again[number] = self._function(items[place], symbol, function)
                earlier[id(function.node.kind)] = function

        renew(map(previous.functions.number_of, inside))
        if all(one.body.scope is earlier[id(one.node.kind)].body.scope for one in again.values()):
            self.naming = previous.naming
        else:
            renew(previous._uses.lacking - again.keys())
        renew(previous._uses.using(symbol.name for symbol in edited.values()) - again.keys())
        self.functions = previous.functions.replaced(again, items, self.home)
        previous._left = self._link_functions(again.values(), earlier)
        self._uses = previous._uses.after(previous.functions, again)
        self._gather_from(previous, again)

    def _link_functions(
        self, functions: Iterable[Function], before: Mapping[int, Function]
    ) -> list[Function]:
        """Looks up the names in functions, and takes over what is known of those of the earlier module, by
        the identity of what stands for each. Returns those of them that are not what they were.
        """
        shared: set[int] = set()
        for function in functions:
            function.link()
            earlier = before.get(id(function.node.kind))
            if earlier is not None:
                function.take_over(earlier)
                if function.facts is earlier.facts:
                    shared.add(id(earlier))
        return [earlier for earlier in before.values() if id(earlier) not in shared]

    def _gather_from(self, before: Module, numbers: Iterable[int]) -> None:
        """Takes over what is known of all functions, of which those with `numbers` may be others: that two
        have the same facts says that they are not.
        """
        new, old = self.functions, before.functions
        touched = [number for number in numbers if new[number].facts is not old[number].facts]
        for key, (found, since) in list(before.gathered_before.items()):
            self.gathered_before[key] = (found, sorted({*since, *touched}))
        for key, found in list(before.gathered.items()):  # another thread may add to them
            self.gathered_before[key] = (found, touched)

    @property
    def outside(self) -> Iterator[Item]:
        """The statements that are no functions."""
        return map(self.document.items.__getitem__, self._outside)

    @cached_property
    def definitions(self) -> Definitions:
        """The functions that have a body, by name; the first of each."""
        return Definitions(self.functions, self._defined)

    @cached_property
    def _uses(self) -> Naming:
        return Naming.of_all(self.functions)

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

    @property
    def _table_inputs(self) -> tuple[object, ...]:
        """What the table's verdict on an instruction depends on, besides the instruction."""
        return self.version, self.target, self.address_size

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
        return self.item_of(place.owner).span(place)

    def item_of(self, owner: Owner) -> Item:
        """The top-level statement that `owner` stands for."""
        return self._item(id(anchor(owner)))

    def _item(self, identity: int) -> Item:
        return self.document.items[self._numbers[identity]]

    def function_at(self, offset: int) -> Function | None:
        """The function whose text holds `offset`."""
        return self.functions.at(offset)

    def function_of(self, item: Item) -> Function | None:
        """The function that a statement of this module is; None where it is something else."""
        return self.functions.of_item(self._numbers[id(anchor(item.node))])

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

    def definition(self, name: str) -> FunctionName | None:
        """The body of a function that may be declared several times, else its first declaration."""
        symbols = [s for _, s in self.names.get(name, ()) if isinstance(s, FunctionName)]
        return next((s for s in symbols if s.is_definition), symbols[0] if symbols else None)

    def _declare(self, item: Item, known: _Symbols) -> FunctionName | None:
        """Returns what stands for a function, if it is one."""
        node = item.node
        match node:
            case nodes.Declaration():
                self._declare_variables(item, node, known)
            case nodes.Function(name=nodes.Name() as name):
                symbol = known.get(id(node))
                if not isinstance(symbol, FunctionName) or symbol.node is not node:
                    symbol = FunctionName(name.text, node, Place.of(node, name))
                self._symbols[id(node)] = symbol
                self._add(symbol, item, 0)
                return symbol
            case nodes.Function():  # nameless: what is in it can be looked at all the same
                return FunctionName("", node, Place.of(node, node.kind))
            case nodes.Aggregate(name=nodes.Name() as name):
                self._add(AggregateName(name.text, node, Place.of(node, name)), item, item.end - item.start)
            case nodes.Alias(name=nodes.Name() as name) if name.text not in self.names:
                self._add(AliasName(name.text, node, Place.of(node, name)), item, item.end - item.start)
            case nodes.Label(name=name):
                self._add(Label(name.text, Place.of(node, name)), item, item.end - item.start)
            case _:
                pass
        return None

    def _function(self, item: Item, symbol: FunctionName, before: Function | None) -> Function:
        """One of this module, with as much of what it was before as is still true."""
        node = symbol.node
        if before is not None and before.node is node:
            return Function(self, item, symbol, before.body)
        found = changed(before.body, before.item, item) if before is not None else None
        body, change = found or (Body(node), None)
        return Function(self, item, symbol, body, change)

    def _declare_variables(
        self, item: Item, node: nodes.Declaration, known: _Symbols
    ) -> None:
        space = node.space.text if node.space else ""
        for declarator in node.declarators:
            name = declarator.name
            place = Place.of(node, name)
            symbol = known.get(id(declarator))
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
        return self._item(place.anchor).start + place.distance

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
            self.undeclared.append((item.node, name))
