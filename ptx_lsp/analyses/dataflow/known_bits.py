"""The bits of a value that are the same in every execution: an abstract domain of known zeros and ones.

1. A value has a `width`, and `known` has a 1 for each bit that is known; `value` has those bits.
2. Copies, bitwise operations, shifts by constants, extractions and insertions of bits, conversions between
   integers and the packing of registers keep what they can. A sum is known up to its lowest unknown bit, and
   beyond where adding cannot carry.
3. A phi knows what all its inputs agree on. All else is unknown: loads, addresses, calls, guarded writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ptx_lsp.analyses.dataflow.ssa import SsaForm, ssa_form
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

_MOST_STEPS: Final = 500
_WORD: Final = 64


class KnownBits(NamedTuple):
    """See above."""

    value: int
    known: int
    width: int

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1

    @property
    def constant(self) -> int | None:
        """The value, if all of it is known."""
        return self.value if self.known == self.mask else None


def known_bits(
    function: Function, instruction: nodes.Instruction, operand: nodes.Operand, width: int
) -> KnownBits:
    """The known bits of an operand that an instruction reads, as `width` bits."""
    every = function.body.instructions
    number = next((at for at, one in enumerate(every) if one is instruction), None)
    form = ssa_form(function)
    if number is None or not form.is_available:
        return _of_literal(operand, width)
    return _resized(_Evaluation(function, form).operand(number, operand, width), width, signed=False)


class _Evaluation:
    def __init__(self, function: Function, form: SsaForm) -> None:
        self._function = function
        self._form = form
        self._instructions = instructions(function)
        self._found: dict[int, KnownBits] = {}
        self._steps = 0

    def operand(self, number: int, operand: nodes.Operand, width: int) -> KnownBits:
        """The known bits of an operand."""
        if not isinstance(operand, nodes.Name):
            return _of_literal(operand, width)
        symbol = self._function.resolve(operand)
        if not isinstance(symbol, Register) or symbol.vector > 1:
            return unknown(width)
        index = self._instructions.index_of(symbol)
        uses = self._instructions.uses[number]
        if index is None or index not in uses:
            return unknown(width)
        return self.value(self._form.by_instruction[number].uses[uses.index(index)], _width(symbol))

    def value(self, value: int, width: int) -> KnownBits:
        if value in self._found:
            return self._found[value]
        self._steps += 1
        self._found[value] = unknown(width)  # while it is evaluated: in a loop
        if value < 0 or self._steps > _MOST_STEPS or self._form.is_initial(value):
            return self._found[value]
        phi = self._form.phis.get(value)
        if phi is not None:
            inputs = [self.value(one, width) for one in phi.inputs]
            found = inputs[0]
            for one in inputs[1:]:
                same = found.known & one.known & ~(found.value ^ one.value)
                found = KnownBits(found.value & same, same, width)
        else:
            found = self._defined(self._form.definitions[value], value, width)
        self._found[value] = found
        return found

    def _defined(self, number: int, value: int, width: int) -> KnownBits:
        if number < 0:
            return unknown(width)
        node = self._function.body.instructions[number]
        opcode, *modifiers = node.opcode.text.split(".")
        types = [one for one in (TYPES.get(f".{word}") for word in modifiers) if one is not None]
        is_signed = bool(types) and types[-1].name.startswith(".s")
        if (
            node.guard is not None or not types or "sat" in modifiers or len(node.operands) < 2
            or any(one.kind is Kind.FLOAT for one in types) or (is_signed and opcode in ("shr", "bfe"))
        ):
            return unknown(width)
        sources = node.operands[1:]
        if opcode == "mov":
            return self._moved(number, node, value, width)
        if opcode == "cvt":
            given = _resized(self.operand(number, sources[0], types[-1].width), types[-1].width, signed=False)
            return _resized(_resized(given, types[0].width, signed=is_signed), width)
        operate = _OPERATIONS.get(opcode)
        if operate is None or isinstance(node.operands[0], nodes.Vector | nodes.Pair):
            return unknown(width)
        size = types[-1].width
        inputs = [_resized(self.operand(number, one, size), size) for one in sources]
        return _resized(operate(inputs, size), width)

    def _moved(self, number: int, node: nodes.Instruction, value: int, width: int) -> KnownBits:
        target, source = node.operands[0], node.operands[1]
        if isinstance(source, nodes.Vector):  # packs
            each = width // len(source.items)
            found = KnownBits(0, 0, width)
            for at, item in enumerate(source.items):
                part = _resized(self.operand(number, item, each), each)
                found = KnownBits(
                    found.value | part.value << at * each, found.known | part.known << at * each, width
                )
            return found
        if isinstance(target, nodes.Vector):  # unpacks
            position = self._form.by_instruction[number].defs.index(value)
            whole = self.operand(number, source, width * len(target.items))
            whole = _resized(whole, width * len(target.items))
            shift = position * width
            return _resized(KnownBits(whole.value >> shift, whole.known >> shift, whole.width), width)
        return _resized(self.operand(number, source, width), width)


def unknown(width: int) -> KnownBits:
    return KnownBits(0, 0, width)


def _of_literal(operand: nodes.Operand, width: int) -> KnownBits:
    value = literal(operand) if isinstance(operand, nodes.Number | nodes.Unary) else None
    mask = (1 << width) - 1
    return unknown(width) if value is None else KnownBits(value & mask, mask, width)


def _width(register: Register) -> int:
    found = TYPES.get(register.type)
    return found.width if found is not None else _WORD


def _resized(given: KnownBits, width: int, *, signed: bool = False) -> KnownBits:
    """Truncated, or with zeros (or copies of the sign) above."""
    mask = (1 << width) - 1
    if width <= given.width:
        return KnownBits(given.value & mask, given.known & mask, width)
    above = mask & ~given.mask
    if not signed:
        return KnownBits(given.value, given.known | above, width)
    sign = 1 << given.width - 1
    if not given.known & sign:
        return KnownBits(given.value, given.known, width)
    return KnownBits(given.value | (above if given.value & sign else 0), given.known | above, width)


# -- operations -----------------------------------------------------------------------------------


def _and(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, b = inputs
    known = a.known & b.known | a.known & ~a.value | b.known & ~b.value
    return KnownBits(a.value & b.value & known, known, width)


def _or(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, b = inputs
    known = a.known & b.known | a.value | b.value
    return KnownBits((a.value | b.value) & known, known, width)


def _xor(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, b = inputs
    known = a.known & b.known
    return KnownBits((a.value ^ b.value) & known, known, width)


def _not(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    (a,) = inputs
    return KnownBits(~a.value & a.known, a.known, width)


def _add(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    """Bit by bit, as long as the carry is known."""
    a, b = inputs
    value = known = 0
    carry: int | None = 0
    for at in range(width):
        bits = [one.value >> at & 1 if one.known >> at & 1 else None for one in (a, b)]
        ones = [bit for bit in (*bits, carry) if bit is not None]
        if len(ones) == 3:
            value |= (sum(ones) & 1) << at
            known |= 1 << at
            carry = sum(ones) >> 1
        elif sum(ones) >= 2:
            carry = 1
        elif len(ones) - sum(ones) >= 2:
            carry = 0
        else:
            carry = None
    return KnownBits(value, known, width)


def _shift_left(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, distance = inputs[0], inputs[1].constant
    if distance is None or distance >= width:
        return unknown(width)
    mask = (1 << width) - 1
    return KnownBits(a.value << distance & mask, (a.known << distance | (1 << distance) - 1) & mask, width)


def _shift_right(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, distance = inputs[0], inputs[1].constant
    if distance is None or distance >= width:
        return unknown(width)
    above = ((1 << width) - 1) & ~((1 << width - distance) - 1)
    return KnownBits(a.value >> distance, a.known >> distance | above, width)


def _extract(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    a, first, count = inputs[0], inputs[1].constant, inputs[2].constant
    if first is None or count is None or first >= width:
        return unknown(width)
    part = KnownBits(a.value >> first, a.known >> first, max(width - first, 1))
    return _resized(_resized(part, min(count, part.width)), width) if count else KnownBits(0, a.mask, width)


def _insert(inputs: Sequence[KnownBits], width: int) -> KnownBits:
    part, whole, first, count = inputs[0], inputs[1], inputs[2].constant, inputs[3].constant
    if first is None or count is None:
        return unknown(width)
    place = ((1 << count) - 1 << first) & whole.mask
    value = whole.value & ~place | part.value << first & place
    return KnownBits(value, whole.known & ~place | part.known << first & place, width)


_OPERATIONS: Final[dict[str, Callable[[Sequence[KnownBits], int], KnownBits]]] = {
    "and": _and, "or": _or, "xor": _xor, "not": _not, "add": _add, "shl": _shift_left, "shr": _shift_right,
    "bfe": _extract, "bfi": _insert,
}
