"""A function in its module."""

from __future__ import annotations

from ptx_lsp.model.body import Body, Free
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.module_scope import Home, ModuleScope
from ptx_lsp.model.place import Located, Place
from ptx_lsp.model.symbols import Declared, FunctionName, Register, Symbol, Variable
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span

INCREMENTAL_FACTS: set[object] = set()
"""The facts that can be brought up to date after an edit, by their keys."""
DIRECTIVE_FACTS: set[object] = set()
"""The facts that hold for as long as the directives of a function are the same."""
TEXT_FACTS: set[object] = set()
"""The facts that do not even outlive an edit of the spaces and comments between statements."""


class Function:
    """A kernel or function as declared or defined at one place of a file.

    `linked` tells what the names stand for that the function takes from the module; `undeclared` are
    those that nothing declares before the function, `early_uses` those that it declares itself further on.
    `symbols` and `free` are those of the body, but for labels that the module's names hide; see `link`.
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
        """What `ptx_lsp.facts` has found out about this function."""
        self.change = change
        """How its instructions differ from those that it had before an edit, if that is known."""
        self.previous_facts: dict[object, tuple[object, InstructionRangeEdit]] = {}
        """Facts about it as it was before, each with how the instructions have changed since."""
        self._environment: tuple[object, ...] | None = None
        self.symbols = body.symbols
        self.free = body.free
        self.linked: dict[str, Declared] = {}
        self.early_uses: list[tuple[Free, Declared]] = []
        self.undeclared: list[Free] = []
        self.undeclared_late: list[tuple[Free, Declared]] = []
        """Names of the module that are declared only after this function."""

    @property
    def module(self) -> ModuleScope:
        """The one that this function was taken from. What is known of a function outlives that, and then
        leads to a later one, in which the function may stand elsewhere: see `text`.
        """
        return self._module_ref.module

    def link(self) -> None:
        """Looks up the free names, once the whole module is known.

        As ptxas does, at the place of use: a name that the module has declared means that, whatever the
        function declares of that name further on, be it a label.
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
        """What a launch gives a kernel: its parameters, which up to PTX 1.3 are `.param` in its body."""
        version = self.module.version
        if not self.is_kernel or version is None or version >= (1, 4):
            return self.body.parameters
        return [*self.body.parameters, *(one for one in self.body.variables if one.space == ".param")]

    @property
    def opaque(self) -> list[Variable]:
        """The variables of the module and of the body that are textures, samplers and surfaces."""
        every = (*self.module.variables, *self.body.variables)
        return [one for one in every if isinstance(one, Variable) and one.is_opaque]

    def resolve(self, name: nodes.Name) -> Symbol | None:
        """What a name in this function stands for; None where nothing declares it."""
        return self.symbols.get(name.start) or self.linked.get(name.text)

    def place(self, part: Located) -> Place:
        """Where a node of this function is."""
        return Place(self.node.kind, part.start, part.end)

    def part(self, start: int, end: int) -> Place:
        """A place between two stable offsets of one statement of this function."""
        return Place(self.node.kind, start, end)

    def between(self, start: int, end: int) -> Place:
        """The place of what is from byte `start` to `end` of the file: some of this function."""
        return Place(self.node.kind, self.item.mark(start), self.item.mark(end - 1) + 1)

    def span(self, part: Located) -> Span:
        """Where a node of this function is in the file."""
        return self.item.span(part)

    def text(self, part: Located) -> str:
        """The text of a node of this function, one character for each byte."""
        module = self.module
        return module.document.source.part(*module.span(self.place(part)))

    def inherit(self, before: Function) -> None:
        """Keeps what is known of the function as it was before an edit, if it can be of use."""
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
        """This function in a module where nothing has changed for it but where it stands: at `item`."""
        if item is self.item and home is self._module_ref:
            return self
        found = Function.__new__(Function)
        found.__dict__.update(self.__dict__)
        found.item = item
        found._module_ref = home
        return found

    def dispose(self) -> None:
        """Gives up all that is known of this function, which may hold it in turn: nobody looks at it now."""
        self.facts.clear()
        self.previous_facts.clear()

    def _means_the_same(self, before: Function) -> bool:
        """Whether what the statements that both have take from the module is the same."""
        if self.environment[:3] != before.environment[:3]:
            return False
        mine, theirs = self._meanings(), before._meanings()
        return not any(
            name in self.free and name in before.free
            for name in mine.keys() | theirs.keys()
            if mine.get(name) != theirs.get(name)
        )

    def _meanings(self) -> dict[str, int]:
        """What each name that it takes from the module stands for."""
        found = {name: _identity(symbol) for name, symbol in self.linked.items()}
        found.update((use.name.text, ~_identity(late)) for use, late in self.undeclared_late)
        return found

    @property
    def environment(self) -> tuple[object, ...]:
        """All that a finding about this function may depend on besides its own text."""
        if self._environment is None:
            self._environment = self._looked_up()
        return self._environment

    def _looked_up(self) -> tuple[object, ...]:
        module = self.module
        return (
            module.version,
            (module.target, *(name.text for name in module.target_names)),
            module.address_size,
            tuple((name, _identity(symbol)) for name, symbol in self.linked.items()),
            tuple((use.name.text, _identity(late)) for use, late in self.undeclared_late),
            module.declarations_revision
            if self.undeclared
            else 0,  # what is near such a name may be anywhere
        )


def _identity(symbol: Declared) -> int:
    """Tells of the statement that declares a name whether it is another one."""
    return id(symbol.node if isinstance(symbol, FunctionName) else symbol.place.owner)
