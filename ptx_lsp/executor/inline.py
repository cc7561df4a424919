"""The instructions of a kernel in one list, with those of the functions that it calls.

1. A function that is called by its name stands in the place of the call, with registers and local memory of
   its own. One that is recursive, allocates on the stack or is called by its address stands once, behind the
   kernel (`routines`).
2. A parameter of the callee in `.param` is the memory that the caller passes; one in a register is moved.
   What is no variable of the caller goes through memory that is made for it.
3. A function without a body is an error once a thread calls it, but for those that every device has
   (`runtime`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from ptx_lsp.executor import lanes
from ptx_lsp.executor.access import Load, Store, sources
from ptx_lsp.executor.callees import addressed, callee, formals
from ptx_lsp.executor.compute import move
from ptx_lsp.executor.control import Action, Control, Leave, Returned, Unsupported
from ptx_lsp.executor.emitter import Emitter
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.frame import Frame, array_type
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.lanes import Integers
from ptx_lsp.executor.locals import Locals, Relative
from ptx_lsp.executor.operands import Operands
from ptx_lsp.executor.program import UNSIGNED, DType, Program
from ptx_lsp.executor.routines import Return, Routine, stack
from ptx_lsp.executor.runtime import Provided
from ptx_lsp.executor.spaces import Spaces
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.prototype import is_noreturn
from ptx_lsp.model.symbols import Label, Register, Variable, element_type
from ptx_lsp.syntax import nodes

_DEEPEST = 16
_LONGEST = 20_000


@dataclass
class Context:
    """A kernel, a routine, or one call of a function. `labels` has positions in the list, `end` is the one
    behind it.
    """

    function: Function
    operands: Operands
    callers: tuple[Function, ...]
    locals: Locals
    routine: Routine | None = None
    labels: dict[int, int] = field(default_factory=dict[int, int])
    end: int = -1

    @property
    def is_called(self) -> bool:
        return bool(self.callers) or self.routine is not None


@dataclass
class Line:
    """An instruction; or a part of a call, or of the beginning or end of a function: an `action` (one that
    needs memory is made by `make`), the jump past a call that a guard turns off (`skips`, to `jump_to`), the
    call of one of several `routines`, whose address `pointer` computes.
    """

    node: nodes.Instruction
    context: Context
    action: Action | Control | None = None
    make: Callable[[Spaces], Action] | None = None
    jump_to: int = -1
    skips: bool = False
    routines: dict[int, Routine] | None = None
    pointer: Program | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is the instruction as it stands."""
        return self.action is None and self.make is None and self.jump_to < 0 and self.routines is None


@dataclass
class Listing:
    """The lines of a kernel, and of the routines behind it."""

    lines: list[Line] = field(default_factory=list[Line])
    routines: dict[Function, Routine] = field(default_factory=dict[Function, Routine])


def inlined(kernel: Function, frame: Frame, image: Image) -> Listing:
    """The lines of a kernel."""
    made = _Inliner(frame, image, kernel.module)
    operands = Operands(kernel, frame, {**image.addresses, **image.own})
    context = Context(kernel, operands, (), image.locals)
    made.add(context)
    made.act(_end(kernel), context, Leave("ret"))
    while made.open:
        made.routine(made.open.pop())
    return made.listing


class _Inliner:
    def __init__(self, frame: Frame, image: Image, module: Module) -> None:
        self.frame = frame
        self.image = image
        self.module = module
        self.listing = Listing()
        self.lines = self.listing.lines
        self.instances = 0
        self.open: list[Routine] = []

    def add(self, context: Context) -> None:
        found = {call.node.start: call for call in calls(context.function)}
        for statement in context.function.body.statements:
            if isinstance(statement, nodes.Label):
                symbol = context.function.body.symbols.get(statement.name.start)
                if isinstance(symbol, Label):
                    context.labels[symbol.place.start] = len(self.lines)
            elif isinstance(statement, nodes.Instruction):
                call = found.get(statement.start)
                if call is not None:
                    self.call(call, context)
                else:
                    self.lines.append(Line(statement, context))
        context.end = len(self.lines)

    def routine(self, routine: Routine) -> None:
        """Adds the lines of a routine."""
        function = routine.function
        addresses = {**self.image.addresses, **routine.locals.place(function)}
        operands = Operands(function, self.frame, addresses, routine.instance)
        context = Context(function, operands, (), routine.locals, routine)
        routine.start = len(self.lines)
        for kind, declared in (("return", function.body.returns), ("argument", function.body.parameters)):
            for at, formal in enumerate(declared):
                if isinstance(formal, Variable):
                    here = self.frame.hidden(f"{kind} {at}", UNSIGNED[64], routine.instance)
                    addresses[id(formal.declarator)] = Relative(here, 0)
                    self.move(_start(function), context, here, self.passed(kind, at, UNSIGNED[64]))
                elif kind == "argument":
                    here, dtype = operands.number(formal.declarator.name), array_type(formal.type)
                    self.move(_start(function), context, here, self.passed(kind, at, dtype))
        self.add(context)
        for at, formal in enumerate(function.body.returns):
            if isinstance(formal, Register):
                number = self.carrier("return", at, array_type(formal.type))
                value = operands.source(formal.declarator.name, None)
                self.move(_end(function), context, number, value)
        self.act(_end(function), context, Return(routine, stack(self.frame)))

    # -- calls ----------------------------------------------------------------------------------

    def call(self, call: Call, context: Context) -> None:
        """Adds the lines of a call."""
        skip = Line(call.node, context, skips=True)
        if call.node.guard is not None:
            self.lines.append(skip)
        start = len(self.lines)
        try:
            called = callee(call, context.function)
            if isinstance(called, str):
                self.provide(call, called, context)
                skip.jump_to = len(self.lines)
                return
            if called is not None and self._is_put_in_place(called, context):
                self.put_in_place(call, called, context)
            else:
                self.enter(call, called, context)
            if any(is_noreturn(one.symbol.node) for one in call.callees):
                self.act(call.node, context, Returned())
        except ExecutionError as error:
            del self.lines[start:]
            self.act(call.node, context, Unsupported(str(error)))
        skip.jump_to = len(self.lines)

    def _is_put_in_place(self, called: Function, context: Context) -> bool:
        if called is context.function or called in context.callers:
            return False
        if len(context.callers) > _DEEPEST or len(self.lines) > _LONGEST:
            return False
        return not any(
            node.opcode.text.startswith(("alloca", "stack")) for node, _ in called.body.instructions
        )

    def put_in_place(self, call: Call, called: Function, context: Context) -> None:
        """Adds the lines of a function in the place of a call."""
        self.instances += 1
        if context.routine is not None:
            context.routine.instances.add(self.instances)
        addresses = {**self.image.addresses, **context.locals.place(called)}
        operands = Operands(called, self.frame, addresses, self.instances)
        inner = Context(
            called, operands, (*context.callers, context.function), context.locals, context.routine
        )
        after: list[Callable[[], None]] = []
        for declared, actuals, returns in (
            (called.body.returns, call.returns, True), (called.body.parameters, call.arguments, False)
        ):
            for formal, actual in zip(declared, actuals, strict=False):
                name = formal.declarator.name
                if isinstance(formal, Variable):
                    place = self.memory(call, context, actual, formal.type, after, returns=returns)
                    addresses[id(formal.declarator)] = place
                elif returns:
                    number = context.operands.number(actual)
                    value = operands.source(name, None)
                    after.append(lambda n=number, v=value: self.move(call.node, context, n, v))
                else:
                    value = context.operands.source(actual, TYPES.get(formal.type))
                    self.move(call.node, context, operands.number(name), value)
        self.add(inner)
        for one in after:
            one()

    def enter(self, call: Call, called: Function | None, context: Context) -> None:
        """Adds the lines of the call of a routine."""
        routines = [self.known(called)] if called is not None else self.by_address()
        returns, parameters = formals(call, [one.function for one in routines])
        after: list[Callable[[], None]] = []
        for kind, declared, actuals in (
            ("return", returns, call.returns), ("argument", parameters, call.arguments)
        ):
            for at, (formal, actual) in enumerate(zip(declared, actuals, strict=False)):
                type = element_type(formal.declaration)
                space = formal.declaration.space
                if space is None or space.text != ".reg":
                    place = self.memory(call, context, actual, type, after, returns=kind == "return")
                    number = self.carrier(kind, at, UNSIGNED[64])
                    self.move(call.node, context, number, _address(place))
                elif kind == "return":
                    number, value = context.operands.number(actual), self.passed(kind, at, array_type(type))
                    after.append(lambda n=number, v=value: self.move(call.node, context, n, v))
                else:
                    number = self.carrier(kind, at, array_type(type))
                    value = context.operands.source(actual, TYPES.get(type))
                    self.move(call.node, context, number, value)
        line = Line(call.node, context, routines={one.address: one for one in routines})
        if called is None:
            line.pointer = sources([(call.target, TYPES[".u64"])], context.operands)
        self.lines.append(line)
        for one in after:
            one()

    def provide(self, call: Call, name: str, context: Context) -> None:
        """Adds the lines of the call of a function that every device has."""
        returns, parameters = formals(call, [])
        after: list[Callable[[], None]] = []
        registers: dict[str, list[int]] = {"return": [], "argument": []}
        for kind, declared, actuals in (
            ("return", returns, call.returns), ("argument", parameters, call.arguments)
        ):
            for at, (formal, actual) in enumerate(zip(declared, actuals, strict=True)):
                type = element_type(formal.declaration)
                dtype = array_type(type)
                number = self.carrier(kind, at, dtype)
                registers[kind].append(number)
                place = self.memory(call, context, actual, type, after, returns=kind == "return")
                if kind == "argument":
                    self.load(call, context, place, type, (number,))
                else:
                    value = self.passed(kind, at, dtype)
                    after.insert(0, partial(self.store, call, context, place, type, value))
        result = registers["return"][0] if registers["return"] else None
        self.lines.append(Line(
            call.node, context, make=lambda spaces: Provided(name, spaces, registers["argument"], result)
        ))
        for one in after:
            one()

    def known(self, function: Function) -> Routine:
        """The routine of a function."""
        found = self.listing.routines.get(function)
        if found is None:
            self.instances += 1
            address = self.image.addresses[id(function.node)]
            assert isinstance(address, int)
            found = Routine(function, address, self.instances, self.frame, {self.instances})
            self.listing.routines[function] = found
            self.open.append(found)
        return found

    def by_address(self) -> list[Routine]:
        """Those of all functions of the module whose address is taken."""
        return [self.known(function) for function in addressed(self.module)]

    # -- arguments and results ------------------------------------------------------------------

    def memory(
        self, call: Call, context: Context, actual: nodes.Expression, type: str,
        after: list[Callable[[], None]], *, returns: bool,
    ) -> int | Relative:
        """The address of what is passed for a parameter in `.param`."""
        operands = context.operands
        symbol = context.function.resolve(actual) if isinstance(actual, nodes.Name) else None
        if isinstance(symbol, Variable) and not operands.is_launched(symbol):
            address = operands.addresses.get(id(symbol.declarator))
            if address is not None:
                return address
        width = TYPES[type].width // 8
        place = context.locals.slot(width, width)
        if returns:
            after.append(partial(self.load, call, context, place, type, operands.numbers(actual)))
        else:
            self.store(call, context, place, type, operands.source(actual, TYPES[type]))
        return place

    def load(
        self, call: Call, context: Context, place: int | Relative, type: str,
        numbers: tuple[int | None, ...],
    ) -> None:
        """Adds the line that gives registers what lies in local memory."""
        address, dtypes = self.program(_address(place), 64), self.frame.dtypes
        self.lines.append(Line(
            call.node, context,
            make=lambda spaces: Load(spaces, address, ".local", TYPES[type], numbers, dtypes),
        ))

    def store(
        self, call: Call, context: Context, place: int | Relative, type: str, value: Integers
    ) -> None:
        """Adds the line that writes local memory."""
        address = self.program(_address(place), 64)
        values = self.program(value, TYPES[type].width)
        self.lines.append(Line(
            call.node, context,
            make=lambda spaces: Store(spaces, address, ".local", TYPES[type], values),
        ))

    def program(self, value: Integers, width: int) -> Program:
        """What computes a value of `width` bits."""
        program = Program()
        slot = Emitter(program, self.frame.dtypes).modular(value, 64 if width == 64 else 32)
        program.outputs.append(program.cast(slot, UNSIGNED[width]))
        return program

    def carrier(self, kind: str, at: int, dtype: DType) -> int:
        """The register that passes an argument or a result."""
        return self.frame.hidden(f"{kind} {at} {dtype}", dtype)

    def passed(self, kind: str, at: int, dtype: DType) -> Integers:
        """What comes in it."""
        width = 1 if dtype.kind == "b" else 8 * dtype.itemsize
        return lanes.register(self.carrier(kind, at, dtype), width, signed=False)

    def move(
        self, node: nodes.Instruction, context: Context, number: int | None, value: Integers
    ) -> None:
        if number is not None:
            self.act(node, context, move(number, value, context.operands))

    def act(self, node: nodes.Instruction, context: Context, action: Action | Control) -> None:
        self.lines.append(Line(node, context, action))


def _start(function: Function) -> nodes.Instruction:
    """What stands for what happens when a function begins: its name."""
    name = function.node.name
    start, end = (name.start, name.end) if name else (function.node.start, function.node.end)
    return nodes.Instruction(start, end, None, nodes.Opcode(start, end, "mov"), ())


def _end(function: Function) -> nodes.Instruction:
    """What stands for the return at the end of the text of a function: its brace."""
    end = function.node.end
    return nodes.Instruction(end - 1, end, None, nodes.Opcode(end - 1, end, "ret"), ())


def _address(place: int | Relative) -> Integers:
    if isinstance(place, int):
        return lanes.constant(place)
    return lanes.register(place.register, 64, signed=False) + place.offset
