"""The values of literals and constant expressions (PTX ISA, "Constants")."""

from __future__ import annotations

import struct

from ptx_lsp.model.scope import integer
from ptx_lsp.syntax import nodes

_WORD = (1 << 64) - 1


def bits(value: nodes.Expression, width: int, is_float: bool) -> int | None:
    """The bits of a constant for an operand of `width` bits; None where it is no constant.

    Floats become the format of the operand; where that is none they keep their own.
    """
    number = constant(value)
    if number is None:
        return None
    if isinstance(number, int):
        return float_bits(float(number), width) if is_float else number & ((1 << width) - 1)
    single = isinstance(value, nodes.Number) and value.text[1:2] in ("f", "F")
    if single and width == 32 and isinstance(value, nodes.Number):
        return int(value.text[2:], 16)  # whatever NaN it is
    return float_bits(number, width if is_float or not single else 32)


def float_bits(value: float, width: int) -> int:
    """The bits of the nearest float of `width` bits."""
    formats = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}
    code, raw = formats[width]
    try:
        packed = struct.pack(code, value)
    except OverflowError:
        packed = struct.pack(code, float("inf") if value > 0 else float("-inf"))
    return int(struct.unpack(raw, packed)[0])


def constant(value: nodes.Expression) -> int | float | None:
    """The value of a constant expression: an integer of 64 bits, or a double."""
    match value:
        case nodes.Number(kind="integer", text=text):
            return integer(text)
        case nodes.Number(kind="exact_float", text=text):
            code, raw = ("<f", "<I") if text[1] in "fF" else ("<d", "<Q")
            return float(struct.unpack(code, struct.pack(raw, int(text[2:], 16)))[0])
        case nodes.Number(kind="float", text=text):
            return float(text)
        case nodes.Name(text="WARP_SZ"):
            return 32
        case nodes.Group(items=(inner,)):
            return constant(inner)
        case nodes.Unary(operator=operator, value=inner):
            return _unary(operator, constant(inner))
        case nodes.Cast(type=type, value=inner):
            return _cast(type.text, constant(inner))
        case nodes.Binary(operator=operator, left=left, right=right):
            return _binary(operator, constant(left), constant(right))
        case nodes.Conditional(condition=condition, then=then, otherwise=otherwise):
            chosen = constant(condition)
            return None if chosen is None else constant(then if chosen else otherwise)
        case _:
            return None


def _unary(operator: str, value: int | float | None) -> int | float | None:
    if value is None or operator == "+":
        return value
    if operator == "-":
        return -value
    if operator == "!":
        return int(not value)
    return ~value if isinstance(value, int) else None


def _cast(type: str, value: int | float | None) -> int | None:
    if not isinstance(value, int):
        return None
    word = value & _WORD
    return word - (1 << 64) if type.startswith(".s") and word >> 63 else word


def _binary(
    operator: str, a: int | float | None, b: int | float | None
) -> int | float | None:
    if a is None or b is None:
        return None
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return _quotient(a, b)
        case "==" | "!=":
            return int((a == b) == (operator == "=="))
        case "<" | "<=":
            return int(a < b or (operator == "<=" and a == b))
        case ">" | ">=":
            return int(a > b or (operator == ">=" and a == b))
        case "&&":
            return int(bool(a) and bool(b))
        case "||":
            return int(bool(a) or bool(b))
        case _:
            return _bitwise(operator, a, b) if isinstance(a, int) and isinstance(b, int) else None


def _quotient(a: int | float, b: int | float) -> int | float | None:
    if not b:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
    return a / b


def _bitwise(operator: str, a: int, b: int) -> int | None:
    match operator:
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return a << (b & 63) & _WORD
        case ">>":
            return a >> (b & 63)
        case "%":
            return a - b * (abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)) if b else None
        case _:
            return None
