"""The values of constant expressions, as ptxas computes them (PTX ISA, "Constant Expressions").

1. Integers have 64 bits. A literal is signed unless it ends with `U` or needs the 64th bit; so is `WARP_SZ`.
2. `+ - * /`, comparisons and `& | ^` are unsigned if one side is. Comparisons, `!`, `&&` and `||` give signed
   integers. `%` and `~` are unsigned for any operands.
3. Shifts have the type of their left side, and use 6 bits of the right one.
4. Floats support `+ - * /` and comparisons. No operator mixes an integer and a float.
5. `?:`, `!`, `~`, casts and the integer operators take only integers. `?:` computes both values, and has the
   type of the chosen one.
6. A cast is to `.s64` or `.u64`.
7. A 32-bit float, `0f3F800000`, takes no sign and no arithmetic operator. A 64-bit float, `0d...`, takes
   both.

(Probed with ptxas 13.5; docs/ptxas.md, section 1.4.)
"""

from __future__ import annotations

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import WORD, constant, integer, overflows

if TYPE_CHECKING:
    from typing import Final, TypeAlias

ConstantKind: TypeAlias = Literal["integer", "float"]

_INFINITY: Final = float("inf")
_SIGN: Final = 2**63
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
_FLOATING = frozenset({"+", "-", "*", "/", *_COMPARISONS})


class Constant(NamedTuple):
    """The value of a constant expression. A signed integer is below 2^63, an unsigned integer is not
    negative.
    """

    value: int | float
    is_unsigned: bool = False

    @property
    def kind(self) -> ConstantKind:
        return "integer" if isinstance(self.value, int) else "float"


class Fault(NamedTuple):
    """A part of an expression that ptxas does not compute, and the reason."""

    part: nodes.Expression
    message: str


def evaluated(value: nodes.Expression) -> Constant | None:
    """The value; None if `value` is not a constant expression, or if ptxas rejects it."""
    evaluation = _Evaluation()
    found = evaluation.of(value)
    return None if evaluation.faults else found


def faults(value: nodes.Expression) -> list[Fault]:
    """The faults of the constants in an operand or initial value, which may begin with a name."""
    evaluation = _Evaluation(follows_name=True)
    evaluation.of(value)
    return evaluation.faults


def constant_kind(value: nodes.Expression) -> ConstantKind | None:
    """The kind of number that a constant expression gives; None if `evaluated` gives None."""
    found = evaluated(value)
    return None if found is None else found.kind


def whole_number(value: nodes.Expression) -> int | None:
    """The value of one whole literal or `WARP_SZ`, as a directive takes it; None for anything else. From 2^63
    on it is the lowest 32 bits. For smaller values that need more than 32 bits, ptxas reports "Constant
    overflow".
    """
    if isinstance(value, nodes.Name | nodes.Number) and value.text == "WARP_SZ":
        return 32
    if not isinstance(value, nodes.Number) or value.kind != "integer":
        return None
    number = integer(value.text)
    return number if number is None or overflows(value.text, 32) else number % 2**32


_INTEGER = "expected a whole number, found a float"
_MIXED = "integers and floats cannot be mixed in an expression"


class _Evaluation:
    """The evaluation of one expression. With `follows_name`, a name or an array element in it counts as 0.
    Only the first part can be one; the rest is an offset.
    """

    def __init__(self, *, follows_name: bool = False) -> None:
        self.faults: list[Fault] = []
        self._follows_name = follows_name

    def of(self, value: nodes.Expression) -> Constant | None:
        match value:
            case nodes.Number():
                found = _literal(value)
                if found is None and value.kind == "float":
                    self._fault(value, f"`{value.text}` is outside the range of `.f64`")
                return found
            case nodes.Name(text="WARP_SZ"):
                return Constant(32)
            case nodes.Name():
                return Constant(0) if self._follows_name else None
            case nodes.Element():
                for index in value.indices:
                    self._integer(index)
                return Constant(0) if self._follows_name else None
            case nodes.Group(items=(inner,)):
                return self.of(inner)
            case nodes.Unary():
                return self._unary(value)
            case nodes.Cast():
                return self._cast(value)
            case nodes.Conditional():
                return self._conditional(value)
            case nodes.Binary():
                return self._chain(value)
            case nodes.Address() | nodes.Vector() | nodes.Group():
                for item in value.items:
                    found = self.of(item)
                    if isinstance(value, nodes.Address) and found is not None and found.kind == "float":
                        self._fault(item, _INTEGER)
                return None
            case _:
                return None

    def _fault(self, part: nodes.Expression, message: str) -> None:
        self.faults.append(Fault(part, message))

    def _integer(self, value: nodes.Expression) -> tuple[int, bool] | None:
        """Of what must be an integer: its value, and whether it is unsigned."""
        found = self.of(value)
        if found is None:
            return None
        if isinstance(found.value, float):
            self._fault(value, _INTEGER)
            return None
        return found.value, found.is_unsigned

    def _no_single(self, operand: nodes.Expression) -> None:
        if isinstance(operand, nodes.Number) and operand.kind == "exact_float" and operand.text[1] in "fF":
            self._fault(operand, f"`{operand.text}` cannot have a sign or be part of an expression")

    def _unary(self, value: nodes.Unary) -> Constant | None:
        self._no_single(value.value)
        if value.operator in ("!", "~"):
            found = self._integer(value.value)
            if found is None:
                return None
            return Constant(int(not found[0])) if value.operator == "!" else _wrapped(~found[0], True)
        inner = self.of(value.value)
        if inner is None or value.operator == "+":
            return inner
        if isinstance(inner.value, float):
            return Constant(-inner.value)
        return _wrapped(-inner.value, inner.is_unsigned)

    def _cast(self, value: nodes.Cast) -> Constant | None:
        found = self._integer(value.value)
        if value.type.text not in (".s64", ".u64"):
            self._fault(
                value,
                f"a constant can only be cast to `.s64` or `.u64`, not to `{value.type.text}`",
            )
            return None
        return None if found is None else _wrapped(found[0], value.type.text == ".u64")

    def _conditional(self, value: nodes.Conditional) -> Constant | None:
        condition, *choices = map(self._integer, (value.condition, value.then, value.otherwise))
        if condition is None or None in choices:
            return None
        chosen = choices[0] if condition[0] else choices[1]
        return None if chosen is None else Constant(*chosen)

    def _chain(self, value: nodes.Binary) -> Constant | None:
        """Without recursion along chains such as `1+1+1+...`."""
        chain = [value]
        while isinstance(chain[-1].left, nodes.Binary):
            chain.append(chain[-1].left)
        first: nodes.Expression = chain[-1].left
        if self._follows_name and isinstance(first, nodes.Name) and first.text != "WARP_SZ":
            first = chain.pop().right  # in `name + 4 < 5`, everything after the first `+` is one number
            found = self._applied(chain, first)
            if found is not None and found.kind == "float":
                self._fault(first, _INTEGER)
            return Constant(0)
        return self._applied(chain, first)

    def _applied(self, chain: list[nodes.Binary], first: nodes.Expression) -> Constant | None:
        """Of `first` and what the links of a chain, from the last to the first, do with it."""
        found = self.of(first)
        if chain:
            self._no_single(first)
        for link in reversed(chain):
            self._no_single(link.right)
            found = self._binary(link, found, self.of(link.right))
        return found

    def _binary(
        self, node: nodes.Binary, left: Constant | None, right: Constant | None
    ) -> Constant | None:
        if left is None or right is None:
            return None
        a, b = left.value, right.value
        if node.operator in ("/", "%") and not b and isinstance(a, type(b)):
            self._fault(node.right, "division by zero")
            return None
        is_unsigned = left.is_unsigned or right.is_unsigned
        if isinstance(a, int) and isinstance(b, int):
            if node.operator in ("<<", ">>"):
                shifted = a << (b & 63) if node.operator == "<<" else a >> (b & 63)
                return _wrapped(shifted, left.is_unsigned)
            return _of_integers(node.operator, a, b, is_unsigned)
        if node.operator not in _FLOATING:
            self._fault(node.left if isinstance(a, float) else node.right, _INTEGER)
        elif isinstance(a, float) and isinstance(b, float):
            return _of_floats(node.operator, a, b)
        else:
            self._fault(node, _MIXED)
        return None


def _literal(value: nodes.Number) -> Constant | None:
    text = value.text
    match value.kind:
        case "integer":
            number = constant(text)
            if number is None:
                return Constant(0)  # the rule `constant-overflow`
            return Constant(number, text.endswith("U") or number >= _SIGN)
        case "float":
            decimal = float(text)
            is_zero = not text.lower().partition("e")[0].strip("+-0.")
            return None if decimal == _INFINITY or (not decimal and not is_zero) else Constant(decimal)
        case "exact_float":
            import struct  # few texts have such numbers

            code, raw = ("<f", "<I") if text[1] in "fF" else ("<d", "<Q")
            return Constant(float(struct.unpack(code, struct.pack(raw, int(text[2:], 16)))[0]))
        case _:
            return None


def _wrapped(value: int, is_unsigned: bool) -> Constant:
    """The lowest 64 bits of `value`."""
    word = value % WORD
    return Constant(word if is_unsigned or word < _SIGN else word - WORD, is_unsigned)


def _of_integers(operator: str, a: int, b: int, is_unsigned: bool) -> Constant | None:
    if is_unsigned or operator == "%":
        a, b = a % WORD, b % WORD
    match operator:
        case "+":
            return _wrapped(a + b, is_unsigned)
        case "-":
            return _wrapped(a - b, is_unsigned)
        case "*":
            return _wrapped(a * b, is_unsigned)
        case "/":
            quotient = abs(a) // abs(b)
            return _wrapped(quotient if (a < 0) == (b < 0) else -quotient, is_unsigned)
        case "%":
            return Constant(a % b, True)
        case "&":
            return _wrapped(a & b, is_unsigned)
        case "|":
            return _wrapped(a | b, is_unsigned)
        case "^":
            return _wrapped(a ^ b, is_unsigned)
        case "&&":
            return Constant(int(bool(a) and bool(b)))
        case "||":
            return Constant(int(bool(a) or bool(b)))
        case _:
            return _compared(operator, a, b)


def _of_floats(operator: str, a: float, b: float) -> Constant | None:
    match operator:
        case "+":
            return Constant(a + b)
        case "-":
            return Constant(a - b)
        case "*":
            return Constant(a * b)
        case "/":
            return Constant(a / b)
        case _:
            return _compared(operator, a, b)


def _compared(operator: str, a: float, b: float) -> Constant | None:
    match operator:
        case "==":
            return Constant(int(a == b))
        case "!=":
            return Constant(int(a != b))
        case "<":
            return Constant(int(a < b))
        case ">":
            return Constant(int(a > b))
        case "<=":
            return Constant(int(a <= b))
        case ">=":
            return Constant(int(a >= b))
        case _:
            return None
