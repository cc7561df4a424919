"""Where addresses come from: the state space and, where it is known, the variable that a register points to.

1. Only a register that one unguarded step writes, and no other, has an origin.
2. `mov` of a variable's name gives its address in its own state space.
3. `cvta.SPACE` makes of that, or of anything, a generic address into SPACE; `cvta.to.SPACE` the reverse.
4. A parameter of a kernel that is declared with `.ptr .SPACE` holds a generic address into SPACE.
5. `mov`, and `add` or `sub` of a constant, keep the origin at another distance. `add` of a register that
   has no origin itself keeps it at an unknown distance: it is taken to stay within the same variable.
"""

from __future__ import annotations

from typing import NamedTuple

from analyses.steps import Step, steps
from ptx_lsp.facts import fact, instruction_fact
from ptx_lsp.model.access import size_bytes
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

_SPACES = ("global", "shared", "local", "const")
_MEMORY = frozenset({"ld", "ldu", "st", "atom", "red"})


class Origin(NamedTuple):
    """`space` with its dot. `offset` is in bytes, from the start of `variable`, or from an address that is
    not known; None where a register has been added. `is_generic`: the address is a generic one.
    """

    space: str
    variable: Variable | None
    offset: int | None
    is_generic: bool

    def moved(self, by: int | None) -> Origin:
        if by is None or self.offset is None:
            return self._replace(offset=None)
        return self._replace(offset=self.offset + by)


class Access(NamedTuple):
    """A `ld`, `st`, `atom` or `red` at an address with an origin, its own offset counted in.

    `size` is in bytes; None where the table does not tell it.
    """

    step: Step
    address: nodes.Expression
    origin: Origin
    size: int | None


@fact
def origins(function: Function) -> dict[int, Origin]:
    """For each register that has one, by its number in `Steps.registers`."""
    return _Reader(function).read()


@fact
def register_accesses(function: Function) -> tuple[Access, ...]:
    """Accesses through registers whose origin is known, in order."""
    known = origins(function)
    addresses, numbers = _addresses(function), steps(function).numbers
    found: list[Access] = []
    for step in steps(function).spelt(_is_memory) if known else ():
        for register, address in addresses[step.number]:
            origin = known.get(numbers[id(register)])
            if origin is None:
                continue
            if isinstance(address, nodes.Binary):
                origin = _at(function, address, known)
            if origin is not None:
                found.append(Access(step, address, origin, size_bytes(step.spelling)))
    return tuple(found)


def _is_memory(spelling: str) -> bool:
    return spelling.partition(".")[0] in _MEMORY


@instruction_fact
def _addresses(
    function: Function, instruction: nodes.Instruction
) -> tuple[tuple[Register, nodes.Expression], ...]:
    """The registers in the addresses of an instruction, each with its address."""
    found: list[tuple[Register, nodes.Expression]] = []
    for operand in instruction.operands:
        if isinstance(operand, nodes.Address) and operand.items:
            address = operand.items[0]
            name = address.left if isinstance(address, nodes.Binary) else address
            symbol = function.body.symbols.get(name.start) if isinstance(name, nodes.Name) else None
            if isinstance(symbol, Register):
                found.append((symbol, address))
    return tuple(found)


class _Reader:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.flow = steps(function)
        self.known: dict[int, Origin] = {}

    def read(self) -> dict[int, Origin]:
        written: dict[int, int] = {}
        for step in self.flow.steps:
            for register in step.writes:
                written[register] = written.get(register, 0) + 1
        for symbol in self.function.body.parameters:
            number = self.flow.number(symbol) if isinstance(symbol, Register) else None
            if number is not None:
                written[number] = 2
        for step in self.flow.steps:
            if len(step.writes) == 1 and not step.keeps and written[step.writes[0]] == 1:
                origin = self.origin(step)
                if origin is not None:
                    self.known[step.writes[0]] = origin
        return self.known

    def origin(self, step: Step) -> Origin | None:
        operands = step.node.operands
        match step.opcode:
            case "mov" if len(operands) == 2:
                return _at(self.function, operands[1], self.known)
            case "cvta" if len(operands) == 2:
                return self.converted(step)
            case "add" if len(operands) == 3:
                return self.added(operands[1], operands[2], 1)
            case "sub" if len(operands) == 3:
                return self.added(operands[1], operands[2], -1)
            case "ld" if step.spelling.startswith("ld.param.") and self.function.is_kernel:
                return self.parameter(operands[1]) if len(operands) == 2 else None
            case _:
                return None

    def converted(self, step: Step) -> Origin | None:
        words = step.spelling.split(".")
        space = next((f".{word}" for word in words if word in _SPACES), None)
        if space is None:
            return None
        is_generic = "to" not in words
        before = _at(self.function, step.node.operands[1], self.known)
        if before is None or before.space != space:
            return Origin(space, None, 0, is_generic)
        return before._replace(is_generic=is_generic)

    def added(self, left: nodes.Operand, right: nodes.Operand, sign: int) -> Origin | None:
        first = _at(self.function, left, self.known)
        second = _at(self.function, right, self.known)
        if first is not None and second is None:
            value = _integer(right)
            return first.moved(sign * value if value is not None else None)
        if second is not None and first is None and sign > 0:
            return second.moved(_integer(left))
        return None

    def parameter(self, operand: nodes.Operand) -> Origin | None:
        match operand:
            case nodes.Address(items=(nodes.Name() as name,)):
                symbol = self.function.resolve(name)
            case _:
                return None
        if not isinstance(symbol, Variable) or not symbol.is_parameter:
            return None
        words = [word.text for word in symbol.declaration.modifiers]
        if ".ptr" not in words:
            return None
        space = next((word for word in words if word.removeprefix(".") in _SPACES), None)
        return Origin(space, None, 0, True) if space is not None else None


def _at(function: Function, value: nodes.Expression, known: dict[int, Origin]) -> Origin | None:
    """The origin of a register or variable with an offset."""
    match value:
        case nodes.Name():
            symbol = function.resolve(value)
            if isinstance(symbol, Register):
                number = steps(function).number(symbol)
                return known.get(number) if number is not None else None
            if isinstance(symbol, Variable) and symbol.space.removeprefix(".") in _SPACES:
                return Origin(symbol.space, symbol, 0, False)
            return None
        case nodes.Binary(operator="+" | "-" as sign, left=nodes.Name() as name, right=right):
            origin, offset = _at(function, name, known), _integer(right)
            if origin is None or offset is None:
                return None
            return origin.moved(offset if sign == "+" else -offset)
        case _:
            return None


def _integer(value: nodes.Expression) -> int | None:
    match value:
        case nodes.Number(text=text, kind="integer"):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(text=text, kind="integer")):
            number = integer(text)
            return -number if number is not None else None
        case _:
            return None
