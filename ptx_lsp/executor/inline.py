"""The instructions of a kernel in one list, with those of the functions that it calls in their places.

Each call gets registers and local memory of its own. A parameter of the callee in `.param` is the memory that
the caller passes; one in a register is moved. Recursive calls, indirect ones and those of functions without
a body stay in the list as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ptx_lsp.executor.compute import move
from ptx_lsp.executor.control import Action
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.operands import Operands
from ptx_lsp.model.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import FunctionName, Label, Register, Variable
from ptx_lsp.syntax import nodes


@dataclass
class Context:
    """A kernel, or one call of a function. `labels` has positions in the list, `end` the one behind it."""

    function: Function
    operands: Operands
    callers: tuple[Function, ...]
    labels: dict[int, int] = field(default_factory=dict[int, int])
    end: int = -1

    @property
    def is_called(self) -> bool:
        return bool(self.callers)


@dataclass
class Line:
    """An instruction; or at a call a move of a parameter (`action`), or the jump past a call that a guard
    turns off (`skips`, to `jump_to`).
    """

    node: nodes.Instruction
    context: Context
    action: Action | None = None
    jump_to: int = -1
    skips: bool = False


def inlined(kernel: Function, frame: Frame, image: Image) -> list[Line]:
    """The lines of a kernel."""
    found = _Inliner(frame, image)
    found.add(Context(kernel, Operands(kernel, frame, image.addresses), ()))
    return found.lines


class _Inliner:
    def __init__(self, frame: Frame, image: Image) -> None:
        self.frame = frame
        self.image = image
        self.lines: list[Line] = []
        self.instances = 0

    def add(self, context: Context) -> None:
        found = {call.node.start: call for call in calls(context.function)}
        for statement in context.function.body.statements:
            if isinstance(statement, nodes.Label):
                symbol = context.function.body.symbols.get(statement.name.start)
                if isinstance(symbol, Label):
                    context.labels[symbol.place.start] = len(self.lines)
            elif isinstance(statement, nodes.Instruction):
                call = found.get(statement.start)
                callee = _callee(call, context) if call is not None else None
                if call is None or callee is None or not self.call(call, callee, context):
                    self.lines.append(Line(statement, context))
        context.end = len(self.lines)

    def call(self, call: Call, callee: Function, context: Context) -> bool:
        """Adds the lines of a call; false where its parameters cannot be passed."""
        self.instances += 1
        passed = self.image.local(callee)
        operands = Operands(
            callee, self.frame, {**self.image.addresses, **passed}, self.instances
        )
        inner = Context(callee, operands, (*context.callers, context.function))
        formals = [*callee.body.returns, *callee.body.parameters]
        actuals = [*call.returns, *call.arguments]
        moves: list[tuple[Register, nodes.Expression]] = []
        for formal, actual in zip(formals, actuals, strict=False):
            if isinstance(formal, Register):
                moves.append((formal, actual))
                continue
            symbol = context.function.resolve(actual) if isinstance(actual, nodes.Name) else None
            if not isinstance(symbol, Variable):
                return False
            address = context.operands.addresses.get(id(symbol.declarator))
            if address is None or context.operands.is_launched(symbol):
                return False
            passed[id(formal.declarator)] = address
        operands.addresses = {**self.image.addresses, **passed}
        skip = Line(call.node, context, skips=True)
        if call.node.guard is not None:
            self.lines.append(skip)
        returned = [(f, a) for f, a in moves if f in callee.body.returns]
        for formal, actual in moves:
            if (formal, actual) not in returned:
                number = operands.number(formal.declarator.name)
                self.move(call, context, number, actual, context.operands)
        self.add(inner)
        for formal, actual in returned:
            self.move(call, context, context.operands.number(actual), formal.declarator.name, operands)
        skip.jump_to = len(self.lines)
        return True

    def move(
        self, call: Call, context: Context, number: int | None, source: nodes.Expression,
        operands: Operands,
    ) -> None:
        if number is not None:
            action = move(number, operands.source(source, None), operands)
            self.lines.append(Line(call.node, context, action))


def _callee(call: Call, context: Context) -> Function | None:
    """The function that is called, where it can be put in the place of the call."""
    symbol = context.function.resolve(call.target)
    if call.table is not None or not isinstance(symbol, FunctionName):
        return None
    callee = context.function.module.definitions.get(symbol.name)
    if callee is None or callee is context.function or callee in context.callers:
        return None
    return callee
