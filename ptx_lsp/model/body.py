"""The body of one function: its scopes, instructions and labels, and the symbol of each name.

It depends on the text of that function alone, so an edit elsewhere preserves it. Names that the function does
not declare are `free`; `Function` looks them up in the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.isa import special_registers
from ptx_lsp.model._core import declare_all, resolve_instructions, resolve_names
from ptx_lsp.model._core import names_in as names_in
from ptx_lsp.model.place import Place
from ptx_lsp.model.scope import Scope
from ptx_lsp.model.symbols import (
    Declared,
    Label,
    Predefined,
    Prototype,
    Register,
    Symbol,
    TargetTable,
    Variable,
)
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import final
from ptx_lsp.syntax import nodes


class Directive(NamedTuple):
    """A statement that is not an instruction, label or block. `is_labelled`: a label directly precedes it."""

    node: nodes.Statement
    is_labelled: bool


class Duplicate(NamedTuple):
    """A name that its block has already declared."""

    name: nodes.Name
    symbol: Declared
    first: Declared


class Free(NamedTuple):
    """A name that no earlier declaration in the function provides, and the index in `Body.scopes` of its
    scope. `later` is the function's later declaration of that name.
    """

    name: nodes.Name
    scope: int
    later: Declared | None = None


class Body:
    """The contents of one function.

    `symbols` maps the `start` of a name's node to its symbol; names found in the module are not in it.
    `statements` lists every statement in order, including statements of inner blocks. `directives` lists the
    statements that are not instructions, labels or blocks. It omits each `.loc` without attributes, because
    `.loc` is frequent and declares nothing. `forward` has the uses of later labels. Such a use refers to the
    label unless the module declares that name (`Function.link`).
    """

    def __init__(self, node: nodes.Function) -> None:
        """Empty: `of` is the body of a function."""
        self.node = node
        self.scope = Scope()
        self.scopes = [self.scope]
        self.returns: list[Register | Variable] = []
        self.parameters: list[Register | Variable] = []
        self.variables: list[Variable] = []
        self.registers: list[Register] = []
        self.labels: list[Label] = []
        self.instructions: list[nodes.Instruction] = []
        self.statements: list[nodes.Statement] = []
        self.directives: tuple[Directive, ...] = ()
        self.symbols: dict[int, Symbol] = {}
        self.duplicates: list[Duplicate] = []
        self.free: dict[str, list[Free]] = {}
        self.forward: dict[str, list[nodes.Name]] = {}
        self._pending: list[tuple[nodes.Name, int]] = []
        """The names without an earlier declaration, with the numbers of their scopes."""

    @classmethod
    def of(cls, node: nodes.Function) -> Body:
        body = cls(node)
        body._declare_parameters()
        if node.body is None:
            body.duplicates.clear()  # parameters of a prototype may have the same name
        else:
            body._walk(node.body)
        body.resolve_pending()
        return body

    # -- changes --------------------------------------------------------------------------------

    def within(self, node: nodes.Function) -> Body:
        """This body for `node`, which has the same statements. The result shares its data: do not change it.
        """
        found = self._changeable(node)
        found.labels = self.labels
        found.instructions = self.instructions
        found.statements = self.statements
        found.symbols = self.symbols
        found.duplicates = self.duplicates
        found.free = self.free
        found.forward = self.forward
        return found

    def copy(self, node: nodes.Function) -> Body:
        """A copy for `node` that can be changed, except for the scopes."""
        found = self._changeable(node)
        found.labels = list(self.labels)
        found.instructions = list(self.instructions)
        found.statements = list(self.statements)
        found.symbols = dict(self.symbols)
        found.duplicates = list(self.duplicates)
        found.free = {name: list(uses) for name, uses in self.free.items()}
        found.forward = {name: list(uses) for name, uses in self.forward.items()}
        return found

    def _changeable(self, node: nodes.Function) -> Body:
        """A body for `node` with the declarations of this one."""
        found = Body(node)
        found.scope = self.scope
        found.scopes = self.scopes
        found.returns = self.returns
        found.parameters = self.parameters
        found.variables = self.variables
        found.registers = self.registers
        found.directives = self.directives
        return found

    def copy_scopes(self) -> None:
        """Gives this body its own copy of the scopes."""
        copies: dict[int, Scope] = {}
        for scope in self.scopes:  # outer scopes come first
            copies[id(scope)] = scope.copy(copies[id(scope.parent)] if scope.parent else None)
        self.scopes = list(copies.values())
        self.scope = self.scopes[0]

    def resolve_plain(self, statement: nodes.Statement, scope: Scope) -> None:
        """Adds `statement` if it is an instruction or a label."""
        if isinstance(statement, nodes.Instruction):
            resolve_instructions(
                (statement,), 0, self.instructions, scope, {}, self.symbols, self._missing
            )
        elif isinstance(statement, nodes.Label):
            self._declare(statement.name, self._label(statement, None), scope)

    # -- declarations ---------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        if self.node.returns:
            self.returns = self._declared(self.node.returns, self.scope, is_parameter=True)
        if self.node.parameters:
            self.parameters = self._declared(self.node.parameters, self.scope, is_parameter=True)

    def _declared(
        self, declarations: tuple[nodes.Declaration, ...], scope: Scope, *, is_parameter: bool = False
    ) -> list[Register | Variable]:
        return declare_all(
            declarations, scope, self.node.kind, is_parameter, self.symbols, self._missing, self._clash
        )

    def _clash(self, name: nodes.Name, symbol: Declared, first: Declared) -> None:
        self.duplicates.append(Duplicate(name, symbol, first))

    def _declare(self, name: nodes.Name, symbol: Declared, scope: Scope) -> None:
        first = scope.declare(symbol)
        self.symbols[name.start] = symbol
        if first is not None:
            self._clash(name, symbol, first)

    # -- statements -----------------------------------------------------------------------------

    def _walk(self, body: nodes.Block) -> None:
        """Not recursive: blocks may be nested thousands deep."""
        every = self.statements
        directives: list[Directive] = []
        is_labelled = False
        around: list[_OpenBlock] = []
        block = _OpenBlock(body, self.scope)
        while True:
            first = block.index
            index = resolve_instructions(
                block.statements, first, self.instructions, block.scope, block.visible, self.symbols,
                self._missing,
            )  # fmt: skip
            if index != first:
                every += block.statements[first:index]
                is_labelled = False
            if index == len(block.statements):
                if not around:
                    break
                block = around.pop()
                continue
            statement = block.statements[index]
            block.index = index + 1
            every.append(statement)
            if isinstance(statement, nodes.Block):
                around.append(block)
                inner = Scope(block.scope, len(self.scopes), statement.start)
                self.scopes.append(inner)
                block = _OpenBlock(statement, inner)
            elif isinstance(statement, nodes.Label):
                self._declare(statement.name, self._label(statement, block.following()), block.scope)
                block.visible.pop(statement.name.text, None)
                is_labelled = True
                continue
            else:
                directives.append(Directive(statement, is_labelled))
                self._other(statement, block.scope)
                block.visible.clear()
            is_labelled = False
        self.directives = tuple(directives)

    def _other(self, statement: nodes.Statement, scope: Scope) -> None:
        if isinstance(statement, nodes.Declaration):
            for symbol in self._declared((statement,), scope):
                if isinstance(symbol, Register):
                    self.registers.append(symbol)
                else:
                    self.variables.append(symbol)
        elif isinstance(statement, nodes.TargetList):
            for name in statement.names:
                self._use(name, scope)
        elif isinstance(statement, nodes.Alias):
            for used in (statement.name, statement.aliasee):
                if isinstance(used, nodes.Name):
                    self._use(used, scope)

    def _label(self, node: nodes.Label, following: nodes.Statement | None) -> Declared:
        name, place = node.name.text, Place(self.node.kind, node.name.start, node.name.end)
        if isinstance(following, nodes.CallPrototype):
            return Prototype(name, following, place)
        if isinstance(following, nodes.TargetList):
            return TargetTable(name, following, place)
        label = Label(name, place)
        self.labels.append(label)
        return label

    # -- names ----------------------------------------------------------------------------------

    def _use(self, value: nodes.Expression, scope: Scope) -> None:
        resolve_names(value, scope, {}, self.symbols, self._missing)

    def _missing(self, name: nodes.Name, scope: Scope) -> Symbol | None:
        """The symbol of a name without an earlier declaration, if it is predefined."""
        text = name.text
        symbol = predefined(text) if text.startswith(("%", "WARP_SZ")) else None
        if symbol is None and text != "_":
            self._pending.append((name, scope.number))
        return symbol

    def resolve_pending(self) -> None:
        """Resolves names without an earlier declaration: later labels, or names of the module. The labels of
        target lists and call prototypes are visible only after their declaration, as registers are.
        """
        for name, scope in self._pending:
            symbol = self.scopes[scope].find(name.text)
            if isinstance(symbol, Label):
                self.symbols[name.start] = symbol
                self.forward.setdefault(name.text, []).append(name)
            else:
                self.free.setdefault(name.text, []).append(Free(name, scope, symbol))
        self._pending.clear()


@final
class _OpenBlock:
    """A block that is being walked: the index of its next statement, its scope, and the symbols of names that
    were looked up since the last declaration.
    """

    __slots__ = ("index", "scope", "statements", "visible")

    def __init__(self, block: nodes.Block, scope: Scope) -> None:
        self.statements = block.statements
        self.index = 0
        self.scope = scope
        self.visible: dict[str, Symbol] = {}

    def following(self) -> nodes.Statement | None:
        return self.statements[self.index] if self.index < len(self.statements) else None


def directives_among(statements: Iterable[nodes.Statement]) -> Iterator[Directive]:
    """See `Body.directives`."""
    is_labelled = False
    for statement in statements:
        if is_directive(statement):
            yield Directive(statement, is_labelled)
        is_labelled = type(statement) is nodes.Label


def is_directive(statement: nodes.Statement) -> bool:
    """Whether `Body.directives` includes it."""
    if type(statement) in _NO_DIRECTIVES:
        return False
    return not isinstance(statement, nodes.Location) or bool(statement.attributes)


_NO_DIRECTIVES = frozenset({nodes.Instruction, nodes.Label, nodes.Block})


def predefined(name: str) -> Predefined | None:
    """The predefined symbol `name`: a special register, or `WARP_SZ`."""
    if name == "WARP_SZ" or special_registers.find(name) is not None:
        return Predefined(name)
    return None


def instruction_names(node: nodes.Instruction) -> list[nodes.Name]:
    """The names in an instruction, in text order."""
    found: list[nodes.Name] = [] if node.guard is None else names_in(node.guard.predicate)
    for operand in node.operands:
        found += names_in(operand)
    return found
