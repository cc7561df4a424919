"""A PTX file: its version, target, variables and functions, with every name resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from ptx_lsp.isa import target as isa
from ptx_lsp.model.body import Body, names_in, predefined
from ptx_lsp.model.body_diff import edited_body
from ptx_lsp.model.directive_shape import DirectiveShape
from ptx_lsp.model.function import Function
from ptx_lsp.model.functions import Definitions, Functions
from ptx_lsp.model.launch_blocks import LaunchBlock
from ptx_lsp.model.module_scope import ModuleScope
from ptx_lsp.model.name_index import NameIndex
from ptx_lsp.model.place import anchor
from ptx_lsp.model.symbols import (
    FunctionName,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.item import Item


class Module(ModuleScope):
    """The meaning of one document, immutable. The module of an edited document takes over the unaffected
    parts of `previous`.
    """

    def __init__(
        self,
        document: Document,
        previous: Module | None = None,
        target: isa.Target | None = None,
        block: LaunchBlock | None = None,
    ) -> None:
        """`target` replaces the file's own target. `block` is the block size of launches, where no launch
        comment gives it.
        """
        super().__init__(document, target, block)
        self.undeclared: list[tuple[nodes.Statement, nodes.Name]] = []
        """The undeclared names in statements outside functions."""
        self.aggregates: dict[object, Mapping[int, object]] = {}
        """Results about all functions, such as facts (`collect_over_functions`), by index."""
        self.previous_aggregates: dict[object, tuple[Mapping[int, object], Sequence[int]]] = {}
        """The results of an earlier module, and the functions that differ from it."""
        self.alike: dict[tuple[int, DirectiveShape | None], list[int]] = {}
        """The numbers of the functions with the same features and directives (`function_wakes.py`)."""
        self.functions: Functions
        self._left: list[Function] = []
        """The functions that are not in the next module just as they are."""
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

    def dispose(self, successor: Module) -> None:
        """Drops the functions when this module is no longer used; `successor` is the next module, if any.
        This frees memory at once that only the garbage collector could free otherwise, because of reference
        cycles.
        """
        self.home.leave(successor.home if successor is not self else None)
        for function in self.functions.anywhere() if successor is self else self._left:
            function.dispose()
        self.functions.clear()
        self._left = []

    def _read(self, previous: Module | None) -> None:
        """Declares and links everything."""
        items = self.document.items
        self._numbers = {id(anchor(item.node)): number for number, item in enumerate(items)}
        self._outside = [n for n, item in enumerate(items) if not isinstance(item.node, nodes.Function)]
        if previous and previous._table_inputs == self._table_inputs:
            self.verdicts = previous.verdicts
            if [one.text for one in previous.target_names] == [one.text for one in self.target_names]:
                self.directive_shapes = previous.directive_shapes
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
            self._inherit_aggregates(previous, range(len(functions)))

    def _edited_inside(self, previous: Module) -> list[int] | None:
        """The indices of the changed statements, if these are functions edited in their bodies with unchanged
        declarations; None if anything else has changed.
        """
        items, before = self.document.items, previous.document.items
        if len(items) != len(before) or self._target != previous._target:
            return None
        if (self._block, self._launch_blocks) != (previous._block, previous._launch_blocks):
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
        """Keeps everything except the functions whose bodies were edited, and the functions that name them.
        """
        items, before = self.document.items, previous.document.items
        self._numbers, self._outside = previous._numbers, previous._outside
        self._defined, self.verdicts = previous._defined, previous.verdicts
        self.directive_shapes = previous.directive_shapes
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
            self.declarations_revision = previous.declarations_revision
        else:
            renew(previous._uses.with_undeclared - again.keys())
        renew(previous._uses.using(symbol.name for symbol in edited.values()) - again.keys())
        self.functions = previous.functions.replaced(again, items, self.home)
        previous._left = self._link_functions(again.values(), earlier)
        self._uses = previous._uses.updated(previous.functions, again)
        self._inherit_aggregates(previous, again)

    def _link_functions(
        self, functions: Iterable[Function], before: Mapping[int, Function]
    ) -> list[Function]:
        """Looks up the names in functions, and takes over the functions of the earlier module by the identity
        of their anchors. Returns the changed functions.
        """
        shared: set[int] = set()
        for function in functions:
            function.link()
            earlier = before.get(id(function.node.kind))
            if earlier is not None:
                function.inherit(earlier)
                if function.facts is earlier.facts:
                    shared.add(id(earlier))
        return [earlier for earlier in before.values() if id(earlier) not in shared]

    def _inherit_aggregates(self, before: Module, numbers: Iterable[int]) -> None:
        """Takes over the results about all functions. The functions with `numbers` may differ; equal facts
        show that they do not.
        """
        new, old = self.functions, before.functions
        touched = [number for number in numbers if new[number].facts is not old[number].facts]
        for key, (found, since) in list(before.previous_aggregates.items()):
            self.previous_aggregates[key] = (found, sorted({*since, *touched}))
        for key, found in list(before.aggregates.items()):  # another thread may add to them
            self.previous_aggregates[key] = (found, touched)

    @cached_property
    def definitions(self) -> Definitions:
        """The functions with a body, by name; the first of each name."""
        return Definitions(self.functions, self._defined)

    @cached_property
    def _uses(self) -> NameIndex:
        return NameIndex.build(self.functions)

    def function_at(self, offset: int) -> Function | None:
        """The function whose text contains `offset`."""
        return self.functions.at(offset)

    def function_of(self, item: Item) -> Function | None:
        """The function at a statement of this module; None for other statements."""
        return self.functions.of_item(self._numbers[id(anchor(item.node))])

    def _function(self, item: Item, symbol: FunctionName, before: Function | None) -> Function:
        """One of this module, with as much of what it was before as is still true."""
        node = symbol.node
        if before is not None and before.node is node:
            return Function(self, item, symbol, before.body)
        found = edited_body(before.body, before.item, item) if before is not None else None
        body, change = found or (Body.of(node), None)
        return Function(self, item, symbol, body, change)

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


def module_of(function: Function) -> Module:
    """The module of a function, with all other functions."""
    module = function.module
    assert isinstance(module, Module)
    return module
