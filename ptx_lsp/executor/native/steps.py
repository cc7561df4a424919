"""Steps as native code, for the lanes of a mask."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ptx_lsp.executor.arithmetic.program import UNSIGNED, DType, Program
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.atomic import Atomic
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.machine.control import Nothing, Step
from ptx_lsp.executor.native.access import Accesses
from ptx_lsp.executor.native.ir import Code, NotLoweredError, Value, vector_of, vector_type
from ptx_lsp.executor.native.programs import called, lowered
from ptx_lsp.executor.native.traced import Traced, converted


class Steps:
    """Lowers the steps of a function."""

    def __init__(
        self, code: Code, accesses: Accesses, dtypes: Mapping[int, DType], temporary: Collection[int]
    ) -> None:
        """The value that a `temporary` register has where a block begins is never read."""
        self.code = code
        self.accesses = accesses
        self._dtypes = dtypes
        self._temporary = temporary
        self._slots: dict[int, Value] = {}
        """The variables of registers."""
        self.own = Value("ptr", "null")
        self.places: Mapping[int, int] = {}
        """The registers of the warp that are in memory, and at which byte."""
        self.written: set[int] = set()
        self.current: dict[int, Value] | None = None
        """In a loop (`loops`), the values of registers; the others are in their variables."""
        self.fixed: Collection[int] = ()
        """The registers that stay in their variables."""
        self._is_guarded = False
        """Whether the present step leaves some lanes of the group out."""

    def slot(self, number: int) -> Value:
        if number in self.places:
            return self.code.offset(self.own, self.places[number])
        if number not in self._slots:
            self._slots[number] = self.code.slot(vector_type(self._dtypes[number]), "register")
        return self._slots[number]

    def read(self, number: int) -> Traced:
        dtype = self._dtypes[number]
        value = self.current.get(number) if self.current is not None else None
        if value is None:
            value = self.code.load(vector_type(dtype), self.slot(number))
        return Traced(self.code, value, dtype)

    def write(self, number: int, value: Value, active: Value) -> None:
        """Gives a register the value in the lanes of a mask."""
        slot = self.slot(number)
        self.written.add(number)
        if self.current is not None and number not in self.fixed:
            self.current[number] = value
            return
        if self._is_guarded or number not in self._temporary:
            before = self.code.load(value.type, slot)
            value = self.code.select(self.code.truths(active), value, before)
        self.code.store(value, slot)

    def values(self, program: Program) -> list[Value]:
        return lowered(self.code, program, self.read)

    def taken(self, step: Step, mask: Value) -> Value:
        """The lanes of a mask that execute a step."""
        if step.guard < 0:
            return mask
        holds = self.code.bits(self.read(step.guard).value)
        if step.negated:
            holds = self.code.binary("xor", holds, -1)
        return self.code.binary("and", holds, mask)

    def run(self, step: Step, mask: Value, leave: str) -> None:
        """A step that does not jump. Where native code cannot do it, goes to `leave` before any effect."""
        active = self.taken(step, mask)
        self.accesses.step = step
        if isinstance(step.action, Nothing):
            return
        code, done = self.code, self.code.name("done")
        if step.guard >= 0:
            go_on = code.name("taken")
            code.branch(code.compare("icmp ne", active, 0), go_on, done)
            code.begin(go_on)
        self._is_guarded = step.guard >= 0
        self._divide(step, active)
        self._act(step.action, active, leave)
        if self._is_guarded:
            code.jump(done)
            code.begin(done)

    def _divide(self, step: Step, active: Value) -> None:
        """Checks a divisor, where that is wanted."""
        tracking = self.accesses.tracking
        if tracking is not None and id(step) in tracking.checks.divisors:
            number, bits = tracking.checks.divisors[id(step)]
            tracking.divides(self.read(number).value, bits, active)

    def _act(self, action: object, active: Value, leave: str) -> None:
        match action:
            case Compute(program=program, destinations=numbers):
                for number, value in zip(numbers, self.values(program), strict=True):
                    self.write(number, value, active)
            case Load():
                self._load(action, active, leave)
            case Store():
                self._store(action, active, leave)
            case Atomic():
                self._update(action, active, leave)
            case _:
                raise NotLoweredError(type(action).__name__)

    def _load(self, action: Load, active: Value, leave: str) -> None:
        count = len(action.destinations)
        constant = action.address.known_value
        if action.space == ".param" and constant is not None:
            found = self.accesses.parameter(constant, action.element, count, leave)
            self._give(action, found, active)
            return
        (addresses,) = self.values(action.address)
        place = self.accesses.place(
            addresses, action.space, action.element.itemsize * count, active, leave, writes=False
        )
        self._give(action, self.accesses.load(place, action.element, count, leave), active)

    def _give(self, action: Load, found: list[Value], active: Value) -> None:
        """Gives registers the elements that a load has found."""
        for number, value in zip(action.destinations, found, strict=True):
            if number is not None:
                dtype = self._dtypes[number]
                self.write(number, converted(self.code, value, action.element, dtype), active)

    def _store(self, action: Store, active: Value, leave: str) -> None:
        values = self.values(action.values)
        (addresses,) = self.values(action.address)
        size = action.element.itemsize * len(values)
        place = self.accesses.place(addresses, action.space, size, active, leave, writes=True)
        if values[0].type == vector_of("i1"):
            raise NotLoweredError("a predicate is stored")
        self.accesses.store(place, values, leave)

    def _update(self, action: Atomic, active: Value, leave: str) -> None:
        operation = action.operation(action.space)
        if operation is None or action.width != 1 or action.count != 1:
            raise NotLoweredError("an atomic operation")
        dtype, code = action.dtype, self.code
        operands = [
            code.convert("bitcast", one, vector_type(dtype)) for one in self.values(action.operands)
        ]
        (addresses,) = self.values(action.address)
        place = self.accesses.place(addresses, action.space, dtype.itemsize, active, leave, writes=True)

        def updated(values: list[Value]) -> Value:
            return called(code, operation, [Traced(code, one, dtype) for one in values])

        old = self.accesses.update(place, operands, dtype, updated, leave)
        bits = UNSIGNED[8 * dtype.itemsize]
        value = code.convert("bitcast", old, vector_type(bits))
        for number in action.destinations:
            if number is not None:
                self.write(number, converted(code, value, bits, self._dtypes[number]), active)
