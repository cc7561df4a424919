"""Arguments and results of calls, passed in registers or in memory.

1. An argument has the size of its parameter, and either can be a vector: ptxas passes two 32-bit registers
   for one of 64. So bits are passed, with the first element as the lowest.
2. A parameter in `.param` is memory: the variable of the caller that is named; for registers and constants,
   memory that is made for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from ptx_lsp.executor.arithmetic import integers as lanes
from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.integers import Integers
from ptx_lsp.executor.arithmetic.program import UNSIGNED, DType, Program
from ptx_lsp.executor.instructions.access import Load, Store
from ptx_lsp.executor.instructions.compute import move
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.locals import HANDLE_BYTES, Locals, Relative
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.calls.calls import Formal
from ptx_lsp.model.instructions.layout import declared_alignment, dimensions, element_bytes
from ptx_lsp.model.symbols import Register, Variable, element_type
from ptx_lsp.syntax import nodes

Make = Callable[[Spaces], Action]
"""Makes an action, which may need memory."""
Place = int | Relative
"""An address in local memory."""
_Bits = tuple[Integers, int]
"""A value and how many bits it has."""


@dataclass(frozen=True)
class Passed:
    """The memory of a parameter, and the actions `before` and `after` the call."""

    place: Place
    before: tuple[Make, ...] = ()
    after: tuple[Make, ...] = ()


class Passing:
    """The argument passing of one caller: actions that set a parameter, or copy a result to its destination.
    """

    def __init__(self, frame: RegisterLayout, operands: Operands, locals: Locals) -> None:
        self._frame = frame
        self._operands = operands
        self._locals = locals

    def give(self, actual: nodes.Expression, numbers: Sequence[int], type: str) -> list[Make]:
        """Passes an argument in registers, as a parameter of this type."""
        place = self._variable(actual)
        if place is not None:
            return [self._load(place, numbers)]
        return self.move(self._passed(actual, type), numbers)

    def take(self, actual: nodes.Expression, numbers: Sequence[int]) -> list[Make]:
        """Takes a result from registers."""
        values = self.held(numbers)
        place = self._variable(actual)
        if place is not None:
            return [self._store(place, values)]
        into = [number for number in self._operands.numbers(actual) if number is not None]
        return self.move(values, into) if into else []

    def memory(self, actual: nodes.Expression, formal: Formal | Variable, *, returns: bool) -> Passed:
        """The memory of a parameter, or of a result, in `.param`."""
        place = self._variable(actual)
        if place is not None:
            return Passed(place)
        element = element_bytes(formal.declaration) or HANDLE_BYTES
        size = element * prod(length or 1 for length in dimensions(formal.declarator))
        place = self._locals.slot(size, declared_alignment(formal.declaration) or element)
        if not returns:
            values = self._passed(actual, element_type(formal.declaration))
            return Passed(place, before=(self._store(place, values),))
        into = [number for number in self._operands.numbers(actual) if number is not None]
        return Passed(place, after=(self._load(place, into),) if into else ())

    def held(self, numbers: Sequence[int]) -> list[_Bits]:
        """The values in registers."""
        return [
            (lanes.register(number, width, signed=False), width)
            for number, width in zip(numbers, self._widths(numbers), strict=True)
        ]

    def move(self, values: Sequence[_Bits], numbers: Sequence[int]) -> list[Make]:
        """Moves values to registers of the same total size."""
        parts = _spread(values, self._widths(numbers))
        moves = [move(*one, self._operands) for one in zip(numbers, parts, strict=True)]
        return [lambda _, action=action: action for action in moves]

    def point(self, number: int, place: Place) -> list[Make]:
        """Sets a register to the address of memory."""
        return self.move([(_address(place), 64)], [number])

    # -- parts of these -------------------------------------------------------------------------

    def _variable(self, actual: nodes.Expression) -> Place | None:
        """Where a variable of the caller lies; None for what is none."""
        operands = self._operands
        symbol = operands.function.resolve(actual) if isinstance(actual, nodes.Name) else None
        if not isinstance(symbol, Variable) or operands.is_launched(symbol):
            return None
        return operands.addresses.get(id(symbol.declarator))

    def _passed(self, actual: nodes.Expression, type: str) -> list[_Bits]:
        """What a register or a constant holds for a parameter of a type."""
        symbol = self._operands.function.resolve(actual) if isinstance(actual, nodes.Name) else None
        if isinstance(symbol, Register):
            return self.held([one for one in self._operands.numbers(actual) if one is not None])
        return [(self._operands.source(actual, TYPES[type]), TYPES[type].width)]

    def _widths(self, numbers: Sequence[int]) -> list[int]:
        return [self._frame.width(number) for number in numbers]

    def _load(self, place: Place, numbers: Sequence[int]) -> Make:
        address, dtypes = _program([_address(place)], 64, self._frame.dtypes), self._frame.dtypes
        type = TYPES[f".b{self._frame.width(numbers[0])}"]
        return lambda spaces: Load(spaces, address, ".local", type, tuple(numbers), dtypes)

    def _store(self, place: Place, values: Sequence[_Bits]) -> Make:
        width = min(values[0][1], 64)
        count = sum(bits for _, bits in values) // width
        address = _program([_address(place)], 64, self._frame.dtypes)
        stored = _program(_spread(values, [width] * count), width, self._frame.dtypes)
        return lambda spaces: Store(spaces, address, ".local", TYPES[f".b{width}"], stored)


def _spread(values: Sequence[_Bits], widths: Sequence[int]) -> list[Integers]:
    """The bits of values, side by side, in parts of such widths."""
    if [width for _, width in values] == list(widths):
        return [value for value, _ in values]
    whole, at = lanes.constant(0), 0
    for value, width in values:
        whole |= value << at
        at += width
    starts = [sum(widths[:number]) for number in range(len(widths))]
    return [
        lanes.wrap(whole >> start, width, signed=False)
        for start, width in zip(starts, widths, strict=True)
    ]


def _program(values: Sequence[Integers], width: int, dtypes: dict[int, DType]) -> Program:
    """What computes values of `width` bits."""
    program = Program()
    emitter = Emitter(program, dtypes)
    slots = [emitter.modular(value, 64 if width == 64 else 32) for value in values]
    program.outputs += [program.cast(slot, UNSIGNED[width]) for slot in slots]
    return program


def _address(place: Place) -> Integers:
    if isinstance(place, int):
        return lanes.constant(place)
    return lanes.register(place.register, 64, signed=False) + place.offset
