"""The view that functions have of their module: header, declared names, and positions of statements."""

from __future__ import annotations

from functools import cached_property
from itertools import count

from ptx_lsp.isa import target as isa
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.matching.verdict import Verdict
from ptx_lsp.model.directive_shape import DirectiveShapes
from ptx_lsp.model.launch_blocks import LaunchBlock, launch_blocks
from ptx_lsp.model.place import Owner, Place, anchor
from ptx_lsp.model.scope import range_count, range_index
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
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.literals import integer
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from typing import TypeAlias

_namings = count(1)
Symbols: TypeAlias = dict[int, Variable | Register | FunctionName]
"""The variables and functions of a module, by their declarations."""


class Repeated(NamedTuple):
    """A name of the module that is declared again."""

    symbol: Declared
    first: Declared


class _From(NamedTuple):
    """A place that moves with its statement: the statement's `anchor`, and the byte offset from its start."""

    anchor: int
    distance: int


class Home:
    """The current module of a group of functions. Each module has one `Home`, which leads to it as long as it
    is used.
    """

    def __init__(self, module: ModuleScope) -> None:
        self._module: ModuleScope | None = module
        self._next: Home | None = None  # never itself: such a cycle would keep the module alive

    @property
    def module(self) -> ModuleScope:
        """The module, or if it is retired, the next module that is not."""
        home = self
        while (module := home._module) is None:
            assert home._next is not None
            home = home._next
        if home is not self:
            self._next = home
        return module

    def leave(self, successor: Home | None) -> None:
        """Drops the module, which is no longer used."""
        self._next = successor
        self._module = None


class ModuleScope:
    """A module without its functions, which refer to it: `ptx_lsp.model.module` adds them."""

    def __init__(
        self, document: Document, target: isa.Target | None, block: LaunchBlock | None = None
    ) -> None:
        """`target` replaces the file's own target. `block` is the block size of launches, where no launch
        comment gives it.
        """
        self.document = document
        self._target = target
        self._block = block
        self.declarations_revision: int = next(_namings)
        """Equal for versions of a file that declare the same names in the same statements, outside bodies and
        at the top level of bodies.
        """
        self.home = Home(self)
        """The handle of this module, and of the newest module once this one is retired."""
        self.names: dict[str, list[tuple[_From, Declared]]] = {}
        """The declarations of each name in order, with the position from which each is visible."""
        self.variables: list[Variable | Register] = []
        self.repeated: list[Repeated] = []
        self.verdicts: dict[Shape, Verdict | None] = {}
        """The instruction table's verdict on each instruction shape seen so far."""
        self.directive_shapes: DirectiveShapes = DirectiveShapes()
        self.facts: dict[object, object] = {}
        """The facts that `ptx_lsp.facts` has computed about this version as a whole."""
        self._symbols: Symbols = {}
        self._ranges: dict[str, tuple[_From, Variable | Register, int]] = {}
        self._numbers: dict[int, int] = {}
        """The indices of the statements, by the identity of their `anchor`."""
        self._outside: list[int] = []
        """The indices of statements that are not functions."""

    @cached_property
    def outside(self) -> tuple[Item, ...]:
        """The statements that are not functions."""
        return tuple(map(self.document.items.__getitem__, self._outside))

    def launch_block(self, kernel: str) -> LaunchBlock | None:
        """The block size that the launches of a kernel have, if that is known apart from its directives."""
        return self._launch_blocks.get(kernel, self._block)

    @cached_property
    def _launch_blocks(self) -> dict[str, LaunchBlock]:
        return launch_blocks(self.document)

    # -- header ---------------------------------------------------------------------------------

    @cached_property
    def version(self) -> isa.Version | None:
        """The version in the first `.version`; None if PTX has no such version."""
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
        """The names that the first `.target` lists."""
        for item in self.outside:
            if isinstance(item.node, nodes.Target):
                return item.node.names
        return ()

    @cached_property
    def target(self) -> isa.Target | None:
        """The architecture in the first `.target`. If it lists several, the last one, as in ptxas; None if
        none of them exists.
        """
        if self._target is not None:
            return self._target
        for name in reversed(self.target_names):
            found = isa.parse_target(name.text)
            if found is not None and found in isa.TARGETS:
                return found
        return None

    @cached_property
    def stated_address_size(self) -> int | None:
        """The value of the first `.address_size`, in bits; None if there is none."""
        for item in self.outside:
            if isinstance(item.node, nodes.AddressSize):
                bits = item.node.bits
                return 64 if isinstance(bits, nodes.Number) and bits.text == "64" else 32
        return None

    @property
    def address_size(self) -> int:
        """The address size in bits; 64 if the file does not specify it, as in ptxas for every version."""
        return self.stated_address_size or 64

    @cached_property
    def has_samplers(self) -> bool:
        """Whether a `.target` asks for independent texture mode, where samplers are operands of their own."""
        return any(
            name.text == "texmode_independent"
            for item in self.outside
            if isinstance(item.node, nodes.Target)
            for name in item.node.names
        )

    @property
    def _table_inputs(self) -> tuple[object, ...]:
        """The inputs of the table's verdict on an instruction besides the instruction."""
        return self.version, self.target, self.address_size, self.has_samplers

    @cached_property
    def files(self) -> dict[int, str]:
        """The path that `.file` gives for each number."""
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
        """The span of a place of this module in its text."""
        if place.owner is None:
            return Span(place.start, place.end)
        return self.item_of(place.owner).span(place)

    def item_of(self, owner: Owner) -> Item:
        """The top-level statement that `owner` identifies."""
        return self._item(id(anchor(owner)))

    def _item(self, identity: int) -> Item:
        return self.document.items[self._numbers[identity]]

    # -- names ----------------------------------------------------------------------------------

    def find(self, name: str, before: int) -> Declared | None:
        """The symbol of `name` in a statement that begins at offset `before`.

        A function is visible in its own body, everything else only after its declaration.
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
        """The definition of a function that may be declared several times, else its first declaration."""
        symbols = [s for _, s in self.names.get(name, ()) if isinstance(s, FunctionName)]
        return next((s for s in symbols if s.is_definition), symbols[0] if symbols else None)

    def _declare(self, item: Item, known: Symbols) -> FunctionName | None:
        """Returns the anchor of a function; None for other statements."""
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

    def _declare_variables(
        self, item: Item, node: nodes.Declaration, known: Symbols
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
        """`distance`: the offset from the start of `item` at which the symbol becomes visible."""
        declared = self.names.setdefault(symbol.name, [])
        earlier = declared[0][1] if declared else self.find(symbol.name, item.start + distance)
        if earlier is not None:
            self.repeated.append(Repeated(symbol, earlier))
        declared.append((_From(id(anchor(item.node)), distance), symbol))

    def _offset(self, place: _From) -> int:
        return self._item(place.anchor).start + place.distance
