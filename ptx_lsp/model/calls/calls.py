"""The callee of each `call` instruction, and the argument for each parameter.

As in ptxas (docs/ptxas.md, part 3), a call names a function, or goes through an address in a register
together with a `.callprototype`, a `.calltargets` list, or an array of functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName, Prototype, TargetTable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class Formal(NamedTuple):
    """A parameter, or return parameter, of the callee."""

    declaration: nodes.Declaration
    declarator: nodes.Declarator
    place: Place

    @property
    def name(self) -> str:
        return self.declarator.name.text


class Callee(NamedTuple):
    """A possible callee: a function, or the functions that a call prototype describes; `place` is its name.
    """

    symbol: FunctionName | Prototype
    place: Place
    returns: tuple[Formal, ...]
    parameters: tuple[Formal, ...]

    @property
    def name(self) -> str:
        return self.symbol.name


class Call(NamedTuple):
    """A `call`. `target` is the function's name, or the register with its address. For the latter, `table` is
    the last operand. `callees` is empty if they are unknown.
    """

    node: nodes.Instruction
    target: nodes.Name
    table: nodes.Name | None
    return_list: nodes.Group | None
    argument_list: nodes.Group | None
    callees: tuple[Callee, ...]

    @property
    def returns(self) -> tuple[nodes.Operand, ...]:
        """The operands that receive the results."""
        return self.return_list.items if self.return_list else ()

    @property
    def arguments(self) -> tuple[nodes.Operand, ...]:
        return self.argument_list.items if self.argument_list else ()


@fact
def calls(function: Function) -> tuple[Call, ...]:
    """The calls of `function` in order, except calls with a syntax error or with invalid operands."""
    found = (_call(function, node) for node in _nodes(function) if not _is_broken(function, node))
    return tuple(call for call in found if call is not None)


@collect_over_instructions(InstructionWake(opcodes=("call",)))
def _nodes(_: Function, node: nodes.Instruction) -> Iterator[nodes.Instruction]:
    if node.opcode.text == "call" or node.opcode.text.removesuffix(".uni") in ("call", "call.uni"):
        yield node


def _is_broken(function: Function, node: nodes.Instruction) -> bool:
    return function.item.is_broken_between(node.start, node.end)


def _call(function: Function, node: nodes.Instruction) -> Call | None:
    return_list: nodes.Group | None
    match node.operands:
        case (nodes.Group() as returns, nodes.Name() as target, *rest):
            return_list = returns
        case (nodes.Name() as target, *rest):
            return_list = None
        case _:
            return None
    argument_list: nodes.Group | None = None
    table: nodes.Name | None = None
    match rest:
        case [nodes.Group() as argument_list]:
            pass
        case [nodes.Group() as argument_list, nodes.Name() as table]:
            pass
        case [nodes.Name() as table]:
            pass
        case []:
            pass
        case _:
            return None
    callees = _callees(function, target, table)
    return Call(node, target, table, return_list, argument_list, callees)


def _callees(
    function: Function, target: nodes.Name, table: nodes.Name | None
) -> tuple[Callee, ...]:
    symbol = function.resolve(table or target)
    match symbol:
        case FunctionName() if table is None and not symbol.is_kernel:
            return (_of_function(symbol),)
        case Prototype() if table is not None:
            return (_of_prototype(symbol),)
        case TargetTable() if table is not None and symbol.node.kind.text == ".calltargets":
            listed = [function.resolve(name) for name in symbol.node.names]
            functions = [found for found in listed if isinstance(found, FunctionName)]
            if len(functions) < len(listed):
                return ()
            return tuple(_of_function(found) for found in functions)
        case _:
            return ()


def _of_function(symbol: FunctionName) -> Callee:
    node = symbol.node
    returns = _formals(symbol.place, node.returns)
    return Callee(symbol, symbol.place, returns, _formals(symbol.place, node.parameters))


def _of_prototype(symbol: Prototype) -> Callee:
    node = symbol.node
    returns = _formals(symbol.place, node.returns)
    return Callee(symbol, symbol.place, returns, _formals(symbol.place, node.parameters))


def _formals(
    place: Place, declarations: tuple[nodes.Declaration, ...] | None
) -> tuple[Formal, ...]:
    return tuple(
        Formal(declaration, declarator, Place.of(place.owner, declarator.name))
        for declaration in declarations or ()
        for declarator in declaration.declarators
    )
