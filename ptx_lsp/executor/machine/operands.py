"""Operands of instructions as the executor sees them: registers by number, constants, addresses."""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.executor.arithmetic import integers as lanes
from ptx_lsp.executor.arithmetic.integers import Integers
from ptx_lsp.executor.arithmetic.literals import bits, constant
from ptx_lsp.executor.arithmetic.program import BOOL
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.locals import Relative
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.isa import special_registers
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import (
    AliasName,
    FunctionName,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.syntax import nodes

_COMPONENTS = {".x": 0, ".y": 1, ".z": 2, ".w": 3, ".r": 0, ".g": 1, ".b": 2, ".a": 3}
_PARTS = {
    ".b0": (0, 8), ".b1": (8, 8), ".b2": (16, 8), ".b3": (24, 8), ".h0": (0, 16), ".h1": (16, 16),
}
"""Selectors of video instructions: the lowest bit of a byte or half-word, and its width."""
FLOATS = (".f16", ".f32", ".f64")


class Operands:
    """Reads the operands of a function, or of one call of it (`instance`).

    `addresses` has that of each variable, by `id(declarator)`, and of each function, by `id(node)`.
    """

    def __init__(
        self,
        function: Function,
        frame: RegisterLayout,
        addresses: Mapping[int, int | Relative],
        instance: int = 0,
    ) -> None:
        self.function = function
        self.frame = frame
        self.addresses = addresses
        self._instance = instance

    @property
    def declared(self) -> list[tuple[Register, list[int]]]:
        """The registers of the function that instructions name, with the numbers of their components."""
        return self.frame.declared(self._instance)

    def is_launched(self, variable: Variable) -> bool:
        """Whether a variable is a parameter of the kernel; others in `.param` belong to calls."""
        return self._instance == 0 and any(variable is one for one in self.function.launched)

    def number(self, operand: nodes.Expression) -> int | None:
        """The number of the operand's register; None for `_`."""
        if isinstance(operand, nodes.Name) and operand.text == "_":
            return None
        match operand:
            case nodes.Name():
                symbol, component = self._symbol(operand), 0
            case nodes.Member(object=nodes.Name() as name, components=(one,)):
                symbol, component = self._symbol(name), _COMPONENTS.get(one.text, 0)
            case _:
                symbol, component = None, 0
        if not isinstance(symbol, Register):
            raise _unsupported("this destination")
        return self.frame.register(symbol, component, self._instance)

    def numbers(self, operand: nodes.Expression) -> tuple[int | None, ...]:
        """The numbers of all registers of an operand: of a vector, or of the halves of a `.b128`."""
        return tuple(number for element in self.written(operand) for number in element)

    def registers(self, symbol: Register) -> list[int]:
        """The numbers of a register: of all elements of a vector, of both halves of a `.b128`."""
        each = 2 if symbol.type == ".b128" else 1
        return [self.frame.register(symbol, at, self._instance) for at in range(symbol.vector * each)]

    def written(self, operand: nodes.Expression) -> list[tuple[int | None, ...]]:
        """The numbers of each written element: two for a `.b128`, else one."""
        if isinstance(operand, nodes.Vector):
            return [numbers for item in operand.items for numbers in self.written(item)]
        symbol = self._symbol(operand) if isinstance(operand, nodes.Name) else None
        if not isinstance(symbol, Register):
            return [(self.number(operand),)]
        each = 2 if symbol.type == ".b128" else 1
        numbers = self.registers(symbol)
        return [tuple(numbers[at : at + each]) for at in range(0, len(numbers), each)]

    def elements(self, operand: nodes.Expression, type: Type | None) -> list[Integers]:
        """The values read for each element of a vector in braces, or of a vector register such as `%tid`."""
        if isinstance(operand, nodes.Vector):
            return [value for item in operand.items for value in self.elements(item, type)]
        symbol = self._symbol(operand) if isinstance(operand, nodes.Name) else None
        if isinstance(operand, nodes.Name) and isinstance(symbol, Predefined):
            special = special_registers.find(operand.text)
            count = special.vector if special is not None else 1
            components = [f".{axis}" for axis in "xyzw"[:count]] if count > 1 else [""]
            return [self._of_symbol(symbol, operand.text, one, type) for one in components]
        if not isinstance(symbol, Register) or symbol.vector == 1:
            return [self.source(operand, type)]
        return [
            self._typed(self.frame.register(symbol, at, self._instance), type) for at in range(symbol.vector)
        ]

    def source(self, operand: nodes.Expression, type: Type | None) -> Integers:
        """The bits that are read, as an integer of `type`; without a type, unchanged."""
        match operand:
            case nodes.Name():
                return self._of_symbol(self._symbol(operand), operand.text, "", type)
            case nodes.Member(object=nodes.Name() as name, components=(component,)) if (
                component.text in _PARTS
            ):
                at, width = _PARTS[component.text]
                signed = type is not None and type.kind is Kind.SIGNED
                whole = self._of_symbol(self._symbol(name), name.text, "", TYPES[".u32"])
                return lanes.wrap(whole >> at, width, signed)
            case nodes.Member(object=nodes.Name() as name, components=(component,)):
                return self._of_symbol(self._symbol(name), name.text, component.text, type)
            case nodes.Element(array=nodes.Name() as name, indices=(index,)) if (
                isinstance(symbol := self._symbol(name), Variable)
            ):
                return self.source(name, type) + self._offset(symbol, index)
            case nodes.Unary(operator="!" | "-" as operator, value=inner) if constant(inner) is None:
                value = self.source(inner, type)
                return value ^ 1 if operator == "!" else -value
            case nodes.Binary(operator="+" | "-" as operator, left=left, right=right) if (
                constant(operand) is None
            ):
                offset = self.source(right, TYPES[".s64"])
                base = self.source(left, type)
                return base + offset if operator == "+" else base - offset
            case _:
                return self._constant(operand, type)

    def address(self, operand: nodes.Expression) -> Integers:
        """The address in brackets, modulo 2**64."""
        if isinstance(operand, nodes.Address) and operand.items:
            operand = operand.items[0]
        return lanes.wrap(self.source(operand, None), 64, signed=False)

    def variable(self, operand: nodes.Expression) -> Variable | None:
        """The variable that an address begins with."""
        match operand:
            case nodes.Address(items=(first, *_)):
                return self.variable(first)
            case nodes.Binary(left=left):
                return self.variable(left)
            case nodes.Element(array=array):
                return self.variable(array)
            case nodes.Name():
                symbol = self._symbol(operand)
                return symbol if isinstance(symbol, Variable) else None
            case _:
                return None

    def _symbol(self, name: nodes.Name) -> Symbol | None:
        return self.function.resolve(name)

    def _offset(self, array: Variable, index: nodes.Expression) -> Integers:
        """How far behind the beginning of an array `array[index]` lies: the index, of 32 bits, times the size
        of the scalar type, without a sign, as ptxas has it; a constant may be negative.
        """
        size, at = TYPES[array.type].bytes, constant(index)
        if isinstance(at, int):
            return lanes.constant(at * size)
        symbol = self._symbol(index) if isinstance(index, nodes.Name) else None
        is_signed = isinstance(symbol, Register) and TYPES[symbol.type].kind is Kind.SIGNED
        return lanes.wrap(self.source(index, TYPES[".s32" if is_signed else ".u32"]) * size, 32, signed=False)

    def _of_symbol(
        self, symbol: Symbol | None, name: str, component: str, type: Type | None
    ) -> Integers:
        match symbol:
            case Register(type=".b128"):
                low, high = (
                    lanes.register(self.frame.register(symbol, at, self._instance), 64, signed=False)
                    for at in (0, 1)
                )
                return low | high << 64
            case Register():
                number = self.frame.register(symbol, _COMPONENTS.get(component, 0), self._instance)
            case Predefined(name="WARP_SZ"):
                return lanes.constant(32)
            case Predefined():
                found = special_registers.find(name)
                number = self.frame.special(name + component, found.type if found else ".u32")
            case Variable():
                return self._at(symbol.declarator, f"the variable `{name}`")
            case FunctionName() | AliasName():
                return self._at(
                    symbol.node, f"the address of `{name}`, which is not defined in this file,"
                )
            case None if name == "_":
                return lanes.constant(0)  # packed with others: ptxas takes RZ
            case None:
                raise ExecutionError(f"`{name}` is not declared", "unsupported")
            case _:
                raise _unsupported(f"`{name}` as an operand")
        return self._typed(number, type)

    def _at(self, node: nodes.Declarator | nodes.Function | nodes.Alias, what: str) -> Integers:
        address = self.addresses.get(id(node))
        if address is None:
            raise _unsupported(what)
        if isinstance(address, int):
            return lanes.constant(address)
        return lanes.register(address.register, 64, signed=False) + address.offset

    def _typed(self, number: int, type: Type | None) -> Integers:
        own = self.frame.dtypes[number]
        width = 1 if own == BOOL else 8 * own.itemsize
        signed = type is not None and type.kind is Kind.SIGNED
        if type is None or type.width >= width:
            return lanes.register(number, width, signed and width > 1)
        return lanes.wrap(lanes.register(number, width, signed=False), type.width, signed)

    def _constant(self, operand: nodes.Expression, type: Type | None) -> Integers:
        if type is None:
            type = TYPES[".s64"]
        if type.kind is Kind.PREDICATE:
            return lanes.constant(int(bool(constant(operand))))
        number = bits(operand, type.width, type.name in FLOATS)
        if number is None:
            raise _unsupported("this operand")
        return lanes.wrap(lanes.constant(number), type.width, type.kind is Kind.SIGNED)


def _unsupported(what: str) -> ExecutionError:
    return ExecutionError(f"{what} is not supported yet", "unsupported")
