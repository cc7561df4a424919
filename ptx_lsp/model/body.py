"""The body of one function: its scopes, instructions and labels, and the symbol of each name.

It depends on the text of that function alone, so an edit elsewhere preserves it. Names that the function does
not declare are `free`; `Function` looks them up in the module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy

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
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class Instruction(NamedTuple):
    """An instruction, and the index in `Body.scopes` of the scope of its names."""

    node: nodes.Instruction
    scope: int


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
            self.duplicates.clear()  # parameters of a prototype may have the same name
        else:
            self._walk(node.body)
        self.directives = tuple(directives_among(self.statements))
        self.resolve_pending()

    # -- changes --------------------------------------------------------------------------------

    def within(self, node: nodes.Function) -> Body:
        """This body for `node`, which has the same statements. The result shares its data: do not change it.
        """
        found = copy(self)
        found.node = node
        return found

    def copy(self, node: nodes.Function) -> Body:
        """A copy for `node` that can be changed, except for the scopes."""
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
        """Gives this body its own copy of the scopes."""
        copies: dict[int, Scope] = {}
        for scope in self.scopes:  # outer scopes come first
            copies[id(scope)] = scope.copy(copies[id(scope.parent)] if scope.parent else None)
        self.scopes = list(copies.values())
        self.scope = self.scopes[0]

    def resolve_plain(self, statement: nodes.Statement, scope: Scope) -> None:
        """Adds `statement` if it is an instruction or a label."""
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
        """Not recursive: blocks may be nested thousands deep."""
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
        """Resolves names without an earlier declaration: later labels, or names of the module. The labels of
        target lists and call prototypes are visible only after their declaration, as registers are.
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


def names_in(value: nodes.Expression) -> Iterable[nodes.Name]:
    """The names of an operand, in text order."""
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
