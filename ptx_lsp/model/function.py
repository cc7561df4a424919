"""A function in its module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx_lsp.model.body import Body, Free
from ptx_lsp.model.place import Located, Place
from ptx_lsp.model.symbols import Declared, FunctionName, Symbol
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Item

if TYPE_CHECKING:
    from ptx_lsp.model.module import Module


class _Home:
    """Which module a function is in: one for all versions of the function in which it is the same."""

    def __init__(self, module: Module) -> None:
        self.module = module


class Function:
    """A kernel or function as declared or defined at one place of a file.

    `linked` tells what the names stand for that the function takes from the module; `undeclared` are
    those that nothing declares before the function.
    """

    def __init__(self, module: Module, item: Item, symbol: FunctionName, body: Body) -> None:
        self._home = _Home(module)
        self.item = item
        self.symbol = symbol
        self.body = body
        self.facts: dict[object, object] = {}
        """What `ptx_lsp.facts` has found out about this function."""
        self.linked: dict[str, Declared] = {}
        self.undeclared: list[Free] = []
        self.undeclared_late: list[tuple[Free, Declared]] = []
        """Names of the module that are declared only after this function."""

    @property
    def module(self) -> Module:
        """The newest module that has this function just as it is."""
        return self._home.module

    def take_over(self, earlier: Function) -> None:
        """Continues an earlier version of this very function. What knows the earlier one, such as its
        facts, finds this one's module through it, and does not keep the earlier module alive.
        """
        module = self.module
        self.facts = earlier.facts
        self._home = earlier._home
        self._home.module = module

    def link(self) -> None:
        """Looks up the free names, once the whole module is known."""
        module, item = self.module, self.item
        for name, uses in self.body.free.items():
            found = module.find(name, item.start)
            if found is not None:
                self.linked[name] = found
                continue
            inner = module.find(name, item.end)
            if inner is not None:  # a prototype in this body
                known_from = module.span(inner.place).start - item.start
                self.linked[name] = inner
                early = [use for use in uses if use.name.start < known_from]
                self.undeclared_late.extend((use, inner) for use in early)
                continue
            later = module.find(name, len(module.document.source.data))
            if later is None:
                self.undeclared.extend(uses)
            else:
                self.undeclared_late.extend((use, later) for use in uses)

    @property
    def node(self) -> nodes.Function:
        return self.body.node

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def is_kernel(self) -> bool:
        return self.symbol.is_kernel

    def resolve(self, name: nodes.Name) -> Symbol | None:
        """What a name in this function stands for; None where nothing declares it."""
        return self.body.symbols.get(name.start) or self.linked.get(name.text)

    def place(self, part: Located) -> Place:
        """Where a node of this function is."""
        return Place(self.node, part.start, part.end)

    @property
    def environment(self) -> tuple[object, ...]:
        """All that a finding about this function may depend on besides its own text."""
        module = self.module
        return (
            module.version,
            module.target,
            module.address_size,
            tuple((name, id(symbol.place.owner)) for name, symbol in self.linked.items()),
            tuple((use.name.text, id(late.place.owner)) for use, late in self.undeclared_late),
            id(module) if self.undeclared else 0,  # what is near such a name may be anywhere
        )
