"""A function in its module."""

from __future__ import annotations

from ptx_lsp.model.body import Body, Free
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.launch_blocks import LaunchBlock
from ptx_lsp.model.module_scope import Home, ModuleScope
from ptx_lsp.model.place import Located, Place
from ptx_lsp.model.symbols import Declared, FunctionName, Register, Symbol, Variable
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span

INCREMENTAL_FACTS: set[object] = set()
"""The facts that can be updated incrementally after an edit, by their keys."""
DIRECTIVE_FACTS: set[object] = set()
"""The facts that are valid as long as the directives of a function are unchanged."""
TEXT_FACTS: set[object] = set()
"""The facts that an edit of whitespace or comments between statements invalidates."""

INLINE_ASSEMBLY_END = "// end inline asm"
"""The comment after a block of inline assembly in the output of nvcc and LLVM."""


class Function:
    """A kernel or function as declared or defined at one place of a file.

    `linked` has the symbols of the names that the function takes from the module. `undeclared` are the names
    without an earlier declaration, `early_uses` the names that the function declares later. `symbols` and
    `free` are those of the body, except labels hidden by names of the module; see `link`.
    """

    def __init__(
        self,
        module: ModuleScope,
        item: Item,
        symbol: FunctionName,
        body: Body,
        change: InstructionRangeEdit | None = None,
    ) -> None:
        self._module_ref = module.home
        self.item = item
        self.symbol = symbol
        self.body = body
        self.facts: dict[object, object] = {}
        """The facts that `ptx_lsp.facts` has computed about this function."""
        self.change = change
        """The change of its instructions by an edit, if known."""
        self.previous_facts: dict[object, tuple[object, InstructionRangeEdit]] = {}
        """Facts about its previous version, each with the change of the instructions since."""
        self.features = 0
        """What it has that passes look for (`function_wakes.py`)."""
        self._environment: tuple[object, ...] | None = None
        self.symbols = body.symbols
        self.free = body.free
        self.linked: dict[str, Declared] = {}
        self.early_uses: list[tuple[Free, Declared]] = []
        self.undeclared: list[Free] = []
        self.undeclared_late: list[tuple[Free, Declared]] = []
        """Names of the module that are declared after this function."""

    @property
    def module(self) -> ModuleScope:
        """The module of this function. A function outlives its module; this then leads to a later module, in
        which its position may differ: see `text`.
        """
        return self._module_ref.module

    def link(self) -> None:
        """Looks up the free names, once the whole module is known.

        As in ptxas, the place of use decides: a name that the module has already declared refers to that
        symbol, even if the function later declares the name, for example as a label.
        """
        module, item = self.module, self.item
        for name in self.body.forward:
            if module.find(name, item.start) is not None:
                self._hide_label(name)
        for name, every in self.free.items():
            found = module.find(name, item.start)
            if found is not None:
                self.linked[name] = found
                continue
            self.early_uses.extend((use, use.later) for use in every if use.later is not None)
            uses = [use for use in every if use.later is None]
            if not uses:
                continue
            inner = module.find(name, item.end)
            if inner is not None:  # a prototype in this body
                known_from = module.span(inner.place).start
                self.linked[name] = inner
                early = [use for use in uses if item.offset(use.name.start) < known_from]
                self.undeclared_late.extend((use, inner) for use in early)
                continue
            later = module.find(name, len(module.document.source.data))
            if later is None:
                self.undeclared.extend(uses)
            else:
                self.undeclared_late.extend((use, later) for use in uses)

    def _hide_label(self, name: str) -> None:
        """Makes the uses of a label further on free."""
        uses = self.body.forward[name]
        hidden = {use.start for use in uses}
        self.symbols = {start: one for start, one in self.symbols.items() if start not in hidden}
        self.free = {**self.free, name: [*self.free.get(name, ()), *(Free(use, 0) for use in uses)]}

    @property
    def node(self) -> nodes.Function:
        return self.body.node

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def is_kernel(self) -> bool:
        return self.symbol.is_kernel

    @property
    def launched(self) -> list[Register | Variable]:
        """The parameters that a launch gives a kernel. Up to PTX 1.3, they are `.param` declarations in its
        body.
        """
        version = self.module.version
        if not self.is_kernel or version is None or version >= (1, 4):
            return self.body.parameters
        return [*self.body.parameters, *(one for one in self.body.variables if one.space == ".param")]

    @property
    def opaque(self) -> list[Variable]:
        """The textures, samplers and surfaces among the variables of the module and of the body."""
        every = (*self.module.variables, *self.body.variables)
        return [one for one in every if isinstance(one, Variable) and one.is_opaque]

    @property
    def launch_block(self) -> LaunchBlock | None:
        """The block size that launches of this kernel have, if that is known apart from its directives."""
        return self.module.launch_block(self.name) if self.is_kernel else None

    def resolve(self, name: nodes.Name) -> Symbol | None:
        """The symbol of a name in this function; None if it is undeclared."""
        return self.symbols.get(name.start) or self.linked.get(name.text)

    def place(self, part: Located) -> Place:
        """The place of a node of this function."""
        return Place(self.node.kind, part.start, part.end)

    def part(self, start: int, end: int) -> Place:
        """The place between two stable offsets of one statement of this function."""
        return Place(self.node.kind, start, end)

    def between(self, start: int, end: int) -> Place:
        """The place of the bytes from `start` to `end` of the file, which are in this function."""
        return Place(self.node.kind, self.item.mark(start), self.item.mark(end - 1) + 1)

    def span(self, part: Located) -> Span:
        """The span of a node of this function in the file."""
        return self.item.span(part)

    def text(self, part: Located) -> str:
        """The text of a node of this function, one character per byte."""
        module = self.module
        return module.document.source.part(*module.span(self.place(part)))

    def inherit(self, before: Function) -> None:
        """Takes over the facts of the function's previous version, if they are useful."""
        if self.body.instructions is before.body.instructions:
            if self.environment == before.environment:
                self.facts, self.previous_facts = before.facts, before.previous_facts
                if self.body is not before.body:
                    self.previous_facts = dict(before.previous_facts)
                    facts = list(before.facts.items())  # another thread may add to them
                    self.facts = {key: value for key, value in facts if key not in TEXT_FACTS}
        elif self.change is not None and self._means_the_same(before):
            change = self.change
            for key, (value, since) in list(before.previous_facts.items()):
                self.previous_facts[key] = (value, since.then(change))
            same_directives = self.body.directives is before.body.directives
            for key, value in list(before.facts.items()):
                if key in INCREMENTAL_FACTS:
                    self.previous_facts[key] = (value, change)
                elif same_directives and key in DIRECTIVE_FACTS:
                    self.facts[key] = value
            before.previous_facts.clear()  # so that no version holds one before it

    def moved_to(self, item: Item, home: Home) -> Function:
        """This function in a module where only its position has changed: it is at `item`."""
        if item is self.item and home is self._module_ref:
            return self
        found = Function.__new__(Function)
        found.__dict__.update(self.__dict__)
        found.item = item
        found._module_ref = home
        return found

    def dispose(self) -> None:
        """Drops all facts of this function, which may refer to it: the function is no longer used."""
        self.facts.clear()
        self.previous_facts.clear()

    def _means_the_same(self, before: Function) -> bool:
        """Whether the names that both versions take from the module have the same symbols."""
        if self.environment[:5] != before.environment[:5]:
            return False
        mine, theirs = self._meanings(), before._meanings()
        return not any(
            name in self.free and name in before.free
            for name in mine.keys() | theirs.keys()
            if mine.get(name) != theirs.get(name)
        )

    def _meanings(self) -> dict[str, int]:
        """The symbol of each name that the function takes from the module."""
        found = {name: _identity(symbol) for name, symbol in self.linked.items()}
        found.update((use.name.text, ~_identity(late)) for use, late in self.undeclared_late)
        return found

    @property
    def environment(self) -> tuple[object, ...]:
        """Everything that a finding about this function may depend on besides its own statements."""
        if self._environment is None:
            self._environment = self._looked_up()
        return self._environment

    def _looked_up(self) -> tuple[object, ...]:
        module = self.module
        return (
            module.version,
            (module.target, *(name.text for name in module.target_names)),
            self.launch_block,
            module.document.source.data.count(INLINE_ASSEMBLY_END.encode(), self.item.start, self.item.end),
            module.address_size,
            module.has_samplers,
            tuple((name, _identity(symbol)) for name, symbol in self.linked.items()),
            tuple((use.name.text, _identity(late)) for use, late in self.undeclared_late),
            module.declarations_revision
            if self.undeclared
            else 0,  # similar names may be declared anywhere
        )


def _identity(symbol: Declared) -> int:
    """Identifies the statement that declares a name."""
    return id(symbol.node if isinstance(symbol, FunctionName) else symbol.place.owner)
