"""The inside of one function: its scopes, instructions and labels, and what each name stands for.

It depends on the text of that function alone, so an edit elsewhere keeps it. Names that the function
does not declare are `free`; `Function` looks them up in the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

from ptx_lsp.isa import special_registers
from ptx_lsp.model.place import Place
from ptx_lsp.model.scope import Range, Scope, range_count
from ptx_lsp.model.symbols import (
    Declared,
    Label,
    Predefined,
    Prototype,
    Register,
    Symbol,
    TargetTable,
    Variable,
    element_type,
    vector_length,
)
from ptx_lsp.syntax import nodes


class Instruction(NamedTuple):
    """An instruction, and which of `Body.scopes` its names are looked up in."""

    node: nodes.Instruction
    scope: int


class Directive(NamedTuple):
    """A statement that is no instruction, label or block. `is_labelled`: a label stands right before it."""

    node: nodes.Statement
    is_labelled: bool


class Duplicate(NamedTuple):
    """A name declared again in the block that declares it already."""

    name: nodes.Name
    symbol: Declared
    first: Declared


class Free(NamedTuple):
    """A name that nothing in the function declares before it, and which of `Body.scopes` it stands in.
    `later` is what the function declares of that name further on.
    """

    name: nodes.Name
    scope: int
    later: Declared | None = None


class Body:
    """What one function holds.

    `symbols` tells, by the `start` of a name's node, what it stands for; names found in the module are
    not in it. `statements` lists every statement in order, those of inner blocks included, and `directives`
    those of them that are neither instructions, labels nor blocks. Of `.loc`, which may be everywhere and
    declares nothing, it has only those with attributes. `forward` has the uses of labels further on: they
    mean those unless the module has something of that name (`Function.link`).
    """

    def __init__(self, node: nodes.Function) -> None:
        self.node = node
        self.scope = Scope()
        self.scopes = [self.scope]
        self.returns: list[Register | Variable] = []
        self.parameters: list[Register | Variable] = []
        self.variables: list[Variable] = []
        self.registers: list[Register] = []
        self.labels: list[Label] = []
        self.instructions: list[Instruction] = []
        self.statements: list[nodes.Statement] = []
        self.symbols: dict[int, Symbol] = {}
        self.duplicates: list[Duplicate] = []
        self.free: dict[str, list[Free]] = {}
        self.forward: dict[str, list[nodes.Name]] = {}
        self._pending: list[Free] = []
        self._declare_parameters()
        if node.body is None:
            self.duplicates.clear()  # parameters of a prototype may share a name
        else:
            self._walk(node.body)
        self.directives = tuple(directives_among(self.statements))
        self.resolve_pending()

    # -- changes --------------------------------------------------------------------------------

    def within(self, node: nodes.Function) -> Body:
        """The same for `node`, which has the same statements: nothing of this one may be changed."""
        found = copy(self)
        found.node = node
        return found

    def copy(self, node: nodes.Function) -> Body:
        """One for `node` that can be changed, but for the scopes."""
        found = copy(self)
        found.node = node
        found.labels = list(self.labels)
        found.instructions = list(self.instructions)
        found.statements = list(self.statements)
        found.symbols = dict(self.symbols)
        found.duplicates = list(self.duplicates)
        found.free = {name: list(uses) for name, uses in self.free.items()}
        found.forward = {name: list(uses) for name, uses in self.forward.items()}
        found._pending = []
        return found

    def copy_scopes(self) -> None:
        """Gives this body scopes of its own."""
        copies: dict[int, Scope] = {}
        for scope in self.scopes:  # those around others come first
            copies[id(scope)] = scope.copy(copies[id(scope.parent)] if scope.parent else None)
        self.scopes = list(copies.values())
        self.scope = self.scopes[0]

    def resolve_plain(self, statement: nodes.Statement, scope: Scope) -> None:
        """Adds the instruction or the label that `statement` is, if it is one."""
        if isinstance(statement, nodes.Instruction):
            self._instruction(statement, scope)
        elif isinstance(statement, nodes.Label):
            self._declare(statement.name, self._label(statement, None), scope)

    # -- declarations ---------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        for into, declarations in (
            (self.returns, self.node.returns), (self.parameters, self.node.parameters)
        ):
            for declaration in declarations or ():
                for symbol in self._declared(declaration, self.scope):
                    symbol.is_parameter = True
                    into.append(symbol)

    def _declared(
        self, declaration: nodes.Declaration, scope: Scope
    ) -> Iterable[Register | Variable]:
        space = declaration.space.text if declaration.space else ""
        for declarator in declaration.declarators:
            if declarator.initializer is not None:
                self._use(declarator.initializer, scope)
            name = declarator.name
            if name.text == "_":
                continue
            place = Place.of(self.node, name)
            symbol: Register | Variable
            if space == ".reg":
                symbol = Register(
                    name.text, element_type(declaration), vector_length(declaration), declarator,
                    place,
                )
            else:
                symbol = Variable(name.text, space, declaration, declarator, place)
            if declarator.range is None:
                self._declare(name, symbol, scope)
            else:
                first = scope.declare_range(name.text, Range(symbol, range_count(declarator)))
                if first is not None:
                    self.duplicates.append(Duplicate(name, symbol, first))
            self.symbols[name.start] = symbol
            yield symbol

    def _declare(self, name: nodes.Name, symbol: Declared, scope: Scope) -> None:
        first = scope.declare(symbol)
        self.symbols[name.start] = symbol
        if first is not None:
            self.duplicates.append(Duplicate(name, symbol, first))

    # -- statements -----------------------------------------------------------------------------

    def _walk(self, body: nodes.Block) -> None:
        """Without recursion: blocks may be nested thousands deep."""
        open_blocks = [(iter(_with_next(body.statements)), self.scope)]
        while open_blocks:
            statements, scope = open_blocks[-1]
            for statement, following in statements:
                self.statements.append(statement)
                if isinstance(statement, nodes.Instruction):
                    self._instruction(statement, scope)
                elif isinstance(statement, nodes.Block):
                    inner = Scope(scope, len(self.scopes), statement.start)
                    self.scopes.append(inner)
                    open_blocks.append((iter(_with_next(statement.statements)), inner))
                    break
                else:
                    self._other(statement, following, scope)
            else:
                open_blocks.pop()

    def _instruction(self, node: nodes.Instruction, scope: Scope) -> None:
        self.instructions.append(Instruction(node, scope.number))
        if node.guard is not None:
            self._use(node.guard.predicate, scope)
        names = scope.names
        symbols = self.symbols
        for operand in node.operands:
            if isinstance(operand, nodes.Name):  # most of them, so without a call
                symbol = names.get(operand.text)
                if symbol is not None:
                    symbols[operand.start] = symbol
                else:
                    self._use_name(operand, scope)
            else:
                self._use(operand, scope)

    def _other(
        self, statement: nodes.Statement, following: nodes.Statement | None, scope: Scope
    ) -> None:
        match statement:
            case nodes.Declaration():
                for symbol in self._declared(statement, scope):
                    if isinstance(symbol, Register):
                        self.registers.append(symbol)
                    else:
                        self.variables.append(symbol)
            case nodes.Label():
                self._declare(statement.name, self._label(statement, following), scope)
            case nodes.TargetList():
                for name in statement.names:
                    self._use_name(name, scope)
            case nodes.Alias():
                for used in (statement.name, statement.aliasee):
                    if isinstance(used, nodes.Name):
                        self._use_name(used, scope)
            case _:
                pass

    def _label(self, node: nodes.Label, following: nodes.Statement | None) -> Declared:
        name, place = node.name.text, Place.of(self.node, node.name)
        if isinstance(following, nodes.CallPrototype):
            return Prototype(name, following, place)
        if isinstance(following, nodes.TargetList):
            return TargetTable(name, following, place)
        label = Label(name, place)
        self.labels.append(label)
        return label

    # -- names ----------------------------------------------------------------------------------

    def _use(self, value: nodes.Expression, scope: Scope) -> None:
        for name in names_in(value):
            self._use_name(name, scope)

    def _use_name(self, name: nodes.Name, scope: Scope) -> None:
        symbol: Symbol | None = scope.find(name.text) or predefined(name.text)
        if symbol is not None:
            self.symbols[name.start] = symbol
        elif name.text != "_":
            self._pending.append(Free(name, scope.number))

    def resolve_pending(self) -> None:
        """Names that nothing before them declares: of a label further on, or of the module. The labels of
        lists of targets and call prototypes are known from there on only, as registers are.
        """
        for pending in self._pending:
            name, scope, _ = pending
            symbol = self.scopes[scope].find(name.text)
            if isinstance(symbol, Label):
                self.symbols[name.start] = symbol
                self.forward.setdefault(name.text, []).append(name)
            else:
                self.free.setdefault(name.text, []).append(Free(name, scope, symbol))
        self._pending.clear()


def directives_among(statements: Iterable[nodes.Statement]) -> Iterator[Directive]:
    """See `Body.directives`."""
    is_labelled = False
    for statement in statements:
        if is_directive(statement):
            yield Directive(statement, is_labelled)
        is_labelled = type(statement) is nodes.Label


def is_directive(statement: nodes.Statement) -> bool:
    """Whether `Body.directives` has it."""
    if type(statement) in _NO_DIRECTIVES:
        return False
    return not isinstance(statement, nodes.Location) or bool(statement.attributes)


_NO_DIRECTIVES = frozenset({nodes.Instruction, nodes.Label, nodes.Block})


def predefined(name: str) -> Predefined | None:
    """What PTX itself calls `name`: a special register, or `WARP_SZ`."""
    if name == "WARP_SZ" or special_registers.find(name) is not None:
        return Predefined(name)
    return None


def names_in(value: nodes.Expression) -> Iterable[nodes.Name]:
    """The names of an operand, in the order they stand."""
    match value:
        case nodes.Name():
            yield value
        case nodes.Address() | nodes.Vector() | nodes.Group() | nodes.InitializerList():
            for item in value.items:
                yield from names_in(item)
        case nodes.Binary():
            yield from names_in(value.left)
            yield from names_in(value.right)
        case nodes.Member():
            yield from names_in(value.object)
        case nodes.Pair():
            yield from names_in(value.left)
            if isinstance(value.right, nodes.Name):
                yield value.right
        case nodes.Unary() | nodes.Cast():
            yield from names_in(value.value)
        case nodes.Element():
            yield value.array
            for index in value.indices:
                yield from names_in(index)
        case nodes.Conditional():
            for part in (value.condition, value.then, value.otherwise):
                yield from names_in(part)
        case nodes.Relocation():
            for item in value.values:
                yield from names_in(item)
        case _:
            return


def _with_next(
    statements: tuple[nodes.Statement, ...],
) -> Iterable[tuple[nodes.Statement, nodes.Statement | None]]:
    return zip(statements, (*statements[1:], None), strict=False)  # nothing follows the last
