"""Flattens a kernel and the functions that it calls into one list of instructions, inlining calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ptx_lsp.executor.arithmetic.program import UNSIGNED, DType, Program
from ptx_lsp.executor.decoding.argument_passing import Make, Passing
from ptx_lsp.executor.decoding.call_stack import Return, Routine, stack
from ptx_lsp.executor.decoding.callees import addressed, callee, formals
from ptx_lsp.executor.decoding.runtime import Provided
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import (
    Action,
    Control,
    Leave,
    Provenance,
    Returned,
    Unsupported,
)
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.locals import Locals, Relative
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.register_file import RegisterLayout, array_type
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.calls.calls import Call, Formal, calls
from ptx_lsp.model.calls.prototype import is_noreturn
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.symbols import Label, Register, Variable, element_type, vector_length
from ptx_lsp.syntax import nodes

_DEEPEST = 16
_LONGEST = 20_000


@dataclass
class Context:
    """A kernel, a routine, or one call of a function. `labels` has positions in the list, `end` is the
    position after it.
    """

    function: Function
    operands: Operands
    callers: tuple[Function, ...]
    locals: Locals
    routine: Routine | None = None
    caller: Provenance | None = None
    """The call by which it was inlined."""
    labels: dict[int, int] = field(default_factory=dict[int, int])
    end: int = -1

    @property
    def is_called(self) -> bool:
        return bool(self.callers) or self.routine is not None


@dataclass
class FlatInstruction:
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
        """Whether it is the unmodified instruction."""
        return self.action is None and self.make is None and self.jump_to < 0 and self.routines is None

    @property
    def provenance(self) -> Provenance:
        context = self.context
        return Provenance(self.node, context.function, context.operands, self.is_plain, context.caller)


@dataclass
class FlatProgram:
    """The flattened instructions of a kernel, and of the routines after it."""

    lines: list[FlatInstruction] = field(default_factory=list[FlatInstruction])
    routines: dict[Function, Routine] = field(default_factory=dict[Function, Routine])


def flatten(kernel: Function, frame: RegisterLayout, image: ModuleMemory) -> FlatProgram:
    """The flattened instructions of a kernel."""
    made = _Flattener(frame, image, module_of(kernel))
    operands = Operands(kernel, frame, {**image.addresses, **image.own})
    context = Context(kernel, operands, (), image.locals)
    made.add(context)
    made.act(_end(kernel), context, Leave("ret"))
    while made.open:
        made.routine(made.open.pop())
    return made.listing


class _Flattener:
    def __init__(self, frame: RegisterLayout, image: ModuleMemory, module: Module) -> None:
        self.frame = frame
        self.image = image
        self.module = module
        self.listing = FlatProgram()
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
                    self.lines.append(FlatInstruction(statement, context))
        context.end = len(self.lines)

    def routine(self, routine: Routine) -> None:
        """Adds the lines of a routine."""
        function = routine.function
        addresses = {**self.image.addresses, **routine.locals.place(function)}
        operands = Operands(function, self.frame, addresses, routine.instance)
        context = Context(function, operands, (), routine.locals, routine)
        routine.start = len(self.lines)
        passing = Passing(self.frame, operands, routine.locals)
        for kind, declared in (("return", function.body.returns), ("argument", function.body.parameters)):
            for at, formal in enumerate(declared):
                carriers = self.carriers(kind, at, formal)
                if isinstance(formal, Variable):
                    here = self.frame.hidden(f"{kind} {at}", UNSIGNED[64], routine.instance)
                    addresses[id(formal.declarator)] = Relative(here, 0)
                    self.do(_start(function), context, passing.move(passing.held(carriers), [here]))
                elif kind == "argument":
                    numbers = operands.registers(formal)
                    self.do(_start(function), context, passing.move(passing.held(carriers), numbers))
        self.add(context)
        for at, formal in enumerate(function.body.returns):
            if isinstance(formal, Register):
                held = passing.held(operands.registers(formal))
                self.do(_end(function), context, passing.move(held, self.carriers("return", at, formal)))
        self.act(_end(function), context, Return(routine, stack(self.frame)))

    # -- calls ----------------------------------------------------------------------------------

    def call(self, call: Call, context: Context) -> None:
        """Adds the lines of a call."""
        skip = FlatInstruction(call.node, context, skips=True)
        if call.node.guard is not None:
            self.lines.append(skip)
        start = len(self.lines)
        try:
            called = callee(call, context.function)
            if isinstance(called, str):
                self.call_runtime(call, called, context)
                skip.jump_to = len(self.lines)
                return
            if called is not None and self._is_inlined(called, context):
                self.inline_call(call, called, context)
            else:
                self.call_routine(call, called, context)
            if any(is_noreturn(one.symbol.node) for one in call.callees):
                self.act(call.node, context, Returned())
        except ExecutionError as error:
            del self.lines[start:]
            self.act(call.node, context, Unsupported(str(error)))
        skip.jump_to = len(self.lines)

    def _is_inlined(self, called: Function, context: Context) -> bool:
        if called is context.function or called in context.callers:
            return False
        if len(context.callers) > _DEEPEST or len(self.lines) > _LONGEST:
            return False
        return not any(
            one.opcode.text.startswith(("alloca", "stack")) for one in called.body.instructions
        )

    def inline_call(self, call: Call, called: Function, context: Context) -> None:
        """Adds the instructions of a function in place of the call."""
        self.instances += 1
        if context.routine is not None:
            context.routine.instances.add(self.instances)
        addresses = {**self.image.addresses, **context.locals.place(called)}
        operands = Operands(called, self.frame, addresses, self.instances)
        inner = Context(
            called, operands, (*context.callers, context.function), context.locals, context.routine,
            FlatInstruction(call.node, context, skips=True).provenance,
        )
        passing = Passing(self.frame, context.operands, context.locals)
        after: list[Make] = []
        for declared, actuals, returns in (
            (called.body.returns, call.returns, True), (called.body.parameters, call.arguments, False)
        ):
            for formal, actual in zip(declared, actuals, strict=False):
                if isinstance(formal, Variable):
                    passed = passing.memory(actual, formal, returns=returns)
                    addresses[id(formal.declarator)] = passed.place
                    self.do(call.node, context, passed.before)
                    after += passed.after
                elif returns:
                    after += passing.take(actual, operands.registers(formal))
                else:
                    self.do(call.node, context, passing.give(actual, operands.registers(formal), formal.type))
        self.add(inner)
        self.do(call.node, context, after)

    def call_routine(self, call: Call, called: Function | None, context: Context) -> None:
        """Adds the call of an out-of-line routine."""
        routines = [self.known(called)] if called is not None else self.by_address()
        returns, parameters = formals(call, [one.function for one in routines])
        passing = Passing(self.frame, context.operands, context.locals)
        after: list[Make] = []
        for kind, declared, actuals in (
            ("return", returns, call.returns), ("argument", parameters, call.arguments)
        ):
            for at, (formal, actual) in enumerate(zip(declared, actuals, strict=False)):
                numbers = self.carriers(kind, at, formal)
                if not _is_in_register(formal):
                    passed = passing.memory(actual, formal, returns=kind == "return")
                    self.do(call.node, context, [*passed.before, *passing.point(numbers[0], passed.place)])
                    after += passed.after
                elif kind == "return":
                    after += passing.take(actual, numbers)
                else:
                    type = element_type(formal.declaration)
                    self.do(call.node, context, passing.give(actual, numbers, type))
        line = FlatInstruction(call.node, context, routines={one.address: one for one in routines})
        if called is None:
            line.pointer = sources([(call.target, TYPES[".u64"])], context.operands)
        self.lines.append(line)
        self.do(call.node, context, after)

    def call_runtime(self, call: Call, name: str, context: Context) -> None:
        """Adds the call of a function of the CUDA runtime."""
        returns, parameters = formals(call, [])
        passing = Passing(self.frame, context.operands, context.locals)
        arguments: list[int] = []
        for at, (formal, actual) in enumerate(zip(parameters, call.arguments, strict=True)):
            type = element_type(formal.declaration)
            number = self.carrier(f"argument {at}", array_type(type))
            arguments.append(number)
            self.do(call.node, context, passing.give(actual, [number], type))
        results = [
            (actual, self.carrier(f"return {at}", array_type(element_type(formal.declaration))))
            for at, (formal, actual) in enumerate(zip(returns, call.returns, strict=True))
        ]
        result = results[0][1] if results else None
        self.do(call.node, context, [lambda spaces: Provided(name, spaces, arguments, result)])
        for actual, number in results:
            self.do(call.node, context, passing.take(actual, [number]))

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

    def carriers(self, kind: str, at: int, formal: Formal | Register | Variable) -> list[int]:
        """The registers that pass an argument or a result: one per element of a vector, or one for the
        address of memory.
        """
        if isinstance(formal, Register):
            type, count = formal.type, formal.vector
        elif _is_in_register(formal):
            type, count = element_type(formal.declaration), vector_length(formal.declaration)
        else:
            return [self.carrier(f"{kind} {at}", UNSIGNED[64])]
        count *= 2 if type == ".b128" else 1
        return [self.carrier(f"{kind} {at}.{element}", array_type(type)) for element in range(count)]

    def carrier(self, name: str, dtype: DType) -> int:
        return self.frame.hidden(f"{name} {dtype}", dtype)

    def do(self, node: nodes.Instruction, context: Context, actions: Iterable[Make]) -> None:
        self.lines += [FlatInstruction(node, context, make=make) for make in actions]

    def act(self, node: nodes.Instruction, context: Context, action: Action | Control) -> None:
        self.lines.append(FlatInstruction(node, context, action))


def _start(function: Function) -> nodes.Instruction:
    """What stands for what happens when a function begins: its name."""
    name = function.node.name
    start, end = (name.start, name.end) if name else (function.node.start, function.node.end)
    return nodes.Instruction(start, end, None, nodes.Opcode(start, end, "mov"), ())


def _end(function: Function) -> nodes.Instruction:
    """What stands for the return at the end of the text of a function: its brace."""
    end = function.node.end
    return nodes.Instruction(end - 1, end, None, nodes.Opcode(end - 1, end, "ret"), ())


def _is_in_register(formal: Formal | Variable) -> bool:
    space = formal.declaration.space
    return space is not None and space.text == ".reg"
