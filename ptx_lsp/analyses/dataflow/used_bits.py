"""Used bits: the bits of a register that can affect more than unused bits of other registers.

1. `mov`, `and`, `or`, `xor`, `not`, `selp`, `shfl`, `prmt` with a constant selector, shifts by constants and
   conversions to fewer bits use what they pass on to used bits of their result. So what `mov` writes to `_`
   is unused, and what an `and` with a constant clears.
2. `st` uses the bits that it stores. All other instructions use every bit of a register that they read, and
   so does a guard, and the caller of a function that returns it.
3. All reads of a register count, whichever definition they read.
"""

from __future__ import annotations

from ptx_lsp.analyses.dataflow.definitions import readers
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.operands import register_of
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.isa.types import INTEGERS, TYPES, Kind, Type
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

EVERY_BIT: Final = -1
_MOST: Final = 500
"""Through more registers bits are not followed."""
_BITWISE: Final = frozenset({"and", "or", "xor", "not", "selp", "shfl"})


def used_bits(function: Function, register: int) -> int:
    """The used bits of a register, as a mask."""
    return _Search(function).of(register)


class _Search:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.flow = instructions(function)
        self.readers = readers(function)
        self.used: dict[int, int] = {}
        """The bits of registers that are known to be used."""
        self.sources: dict[int, set[int]] = {}
        """The registers whose used bits depend on those of a register."""
        self.waiting: list[int] = []

    def of(self, register: int) -> int:
        self.of_result(register, register)
        while self.waiting:
            if len(self.used) > _MOST:
                return EVERY_BIT
            current = self.waiting.pop()
            bits = self.used[current]
            for number in self.readers.of(current):
                if bits == EVERY_BIT:
                    break
                bits |= self.read(number, current)
            if bits != self.used[current]:
                self.used[current] = bits
                self.waiting += self.sources[current]
        return self.used[register]

    def of_result(self, register: int, source: int) -> int:
        """The used bits of a register as far as known. Those of `source` depend on them."""
        self.sources.setdefault(register, set()).add(source)
        if register not in self.used:
            one = self.flow.register(register)
            is_known = one.vector == 1 and not one.is_parameter and one.name not in self.function.linked
            self.used[register] = 0 if is_known and one.type != ".pred" else EVERY_BIT
            self.waiting.append(register)
        return self.used[register]

    def read(self, number: int, register: int) -> int:
        """The bits of a register that an instruction uses."""
        node, shape = self.flow.body.instructions[number], self.flow.kinds[number].shape
        *_, last = shape.spelling.split(".")
        type = TYPES.get(f".{last}")
        if type is None or len(node.operands) < 2 or self.flow.guards[number] == register:
            return EVERY_BIT
        first, *operands = node.operands
        match shape.opcode:
            case "st":
                is_value = not any(self.is_named(one, register) for one in (first, *operands[1:]))
                return (1 << type.width) - 1 if is_value else EVERY_BIT
            case "mov":
                return self.moved(node, type.width, register)
            case opcode if opcode in _BITWISE:
                count = 1 if opcode in ("not", "shfl") else 2
            case "cvt" | "shl" | "shr":
                count = 1
            case "prmt" if shape.spelling == "prmt.b32":
                count = 2
            case _:
                return EVERY_BIT
        if any(self.is_named(one, register) for one in operands[count:]):
            return EVERY_BIT
        bits = self.of_element(first.left if isinstance(first, nodes.Pair) else first, register)
        if shape.opcode in _BITWISE:
            values = [literal(one) for one in operands[:count]] if shape.opcode == "and" else []
            mask = next((one for one in values if one is not None), EVERY_BIT)
            return bits & mask
        match shape.opcode:
            case "cvt":
                return _converted(shape.spelling, bits)
            case "prmt":
                places = [at for at, one in enumerate(operands[:2]) if self.is_named(one, register)]
                return _permuted(places, literal(operands[2]), bits)
            case _:
                return _shifted(shape.opcode, type, literal(operands[1]), bits)

    def moved(self, node: nodes.Instruction, width: int, register: int) -> int:
        """The bits that a `mov` uses."""
        results, sources = map(_elements, node.operands)
        each = width // len(results)
        bits = 0
        for at, result in enumerate(results):
            bits |= (self.of_element(result, register) & (1 << each) - 1) << at * each
        each = width // len(sources)
        used = 0
        for at, source in enumerate(sources):
            if self.is_named(source, register):
                used |= bits >> at * each & (1 << each) - 1
        return used

    def of_element(self, result: nodes.Operand, source: int) -> int:
        """The used bits of a result, or of an element of it."""
        if isinstance(result, nodes.Name) and result.text == "_":
            return 0
        found = register_of(self.flow, result)
        return EVERY_BIT if found is None else self.of_result(found, source)

    def is_named(self, operand: nodes.Operand, register: int) -> bool:
        return any(register_of(self.flow, name) == register for name in names_in(operand))


def _elements(operand: nodes.Operand) -> tuple[nodes.Operand, ...]:
    return operand.items if isinstance(operand, nodes.Vector) and operand.items else (operand,)


def _converted(spelling: str, bits: int) -> int:
    """The bits that a `cvt` uses for those of its result."""
    found = [TYPES.get(f".{one}") for one in spelling.split(".")[1:]]
    if len(found) != 2 or not all(one is not None and one.kind in (*INTEGERS, Kind.BITS) for one in found):
        return EVERY_BIT
    to, of = found
    assert to is not None and of is not None
    every = (1 << to.width) - 1
    return EVERY_BIT if to.width > of.width else every if bits & ~every else bits


def _shifted(opcode: str, type: Type, by: int | None, bits: int) -> int:
    """The bits that a shift uses for those of its result."""
    every = (1 << type.width) - 1
    if by is None or by < 0 or (opcode == "shr" and type.kind is Kind.SIGNED):
        return EVERY_BIT
    return (bits & every) >> by if opcode == "shl" else bits << min(by, type.width) & every


def _permuted(places: list[int], selector: int | None, bits: int) -> int:
    """The bits of its first (0) or second (1) source, or both, that a `prmt` uses for those of its result."""
    if selector is None:
        return EVERY_BIT
    used = 0
    for byte in range(4):
        selected = selector >> 4 * byte & 7
        if selected >> 2 in places and bits >> 8 * byte & 0xFF:
            used |= 0xFF << 8 * (selected & 3)
    return used
