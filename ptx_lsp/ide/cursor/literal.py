"""Alternative spellings of literals: `0f3F800000` is 1, `255` is 0xFF."""

from __future__ import annotations

import math
import struct

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import WORD, constant, integer


def decoded(number: nodes.Number) -> str | None:
    """The value of an exact float, in decimal digits; None for other literals."""
    if number.kind != "exact_float":
        return None
    return _digits(float_value(number))


def float_value(number: nodes.Number) -> float:
    """The value of a float literal, decimal or exact (`0f` for 32 bits, `0d` for 64)."""
    text = number.text
    if number.kind != "exact_float":
        return float(text)
    bits = int(text[2:], 16)
    if text[1] in "fF":
        return _single(bits)
    return _double(bits)


def spellings(number: nodes.Number, type: str, negated: bool = False) -> tuple[str, ...]:
    """Equivalent spellings of a literal of `type`. For a `negated` float, the spelling includes the `-`
    before it, for which an exact float has a bit.
    """
    if number.kind == "integer":
        value = _written_out(number)
        if value is None:
            return ()
        suffix = "U" if number.text.endswith("U") else ""
        forms = (f"{value}{suffix}", f"0x{value:X}{suffix}", f"0b{value:b}{suffix}")
        return tuple(form for form in forms if form.lower() != number.text.lower())
    if number.kind not in ("float", "exact_float"):
        return ()
    value = -float_value(number) if negated else float_value(number)
    if number.kind == "exact_float" and type == _EXACT[number.text[1].lower()]:
        return (decimal(value),) if math.isfinite(value) else ()
    if number.kind == "float" and type in _EXACT.values():
        found = exact(value, type)
        return (found,) if found is not None else ()
    return ()


_MOST_BITS = 10_000
_EXACT = {"f": ".f32", "d": ".f64"}
"""The types of the letters of exact floats."""


def exact(value: float, type: str) -> str | None:
    """A float as bits of `type` (`.f32` or `.f64`); None if it is too large."""
    if type == ".f64":
        return f"0d{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    try:
        return f"0f{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"
    except OverflowError:
        return None


def decimal(value: float) -> str:
    """The shortest digits that represent `value` exactly, with the point that PTX requires."""
    text = repr(value)
    if "e" in text and "." not in text:
        return text.replace("e", ".0e")
    return text


def meaning(number: nodes.Number, operator: str = "") -> list[str]:
    """Lines for people: the value of a literal, with the `-` or `~` before it; none if that does not apply.
    """
    match number.kind:
        case "integer" if operator:
            return _signed(number, operator)
        case "integer":
            return _integer(number)
        case _ if operator == "~":
            return []
        case "exact_float" if operator:
            return []
        case "exact_float":
            size = "32" if number.text[1] in "fF" else "64"
            return [f"{size}-bit float `{_digits(float_value(number))}`", *_parts(number)]
        case "float":
            value = -float_value(number) if operator else float_value(number)
            single, double = exact(value, ".f32"), exact(value, ".f64")
            return [f"float, as `.f32`: `{single or 'too large'}`, as `.f64`: `{double}`"]
        case _:
            return []


def _written_out(number: nodes.Number) -> int | None:
    """The value of an integer, if it is not too long to be written out in decimal."""
    value = integer(number.text)
    return value if value is not None and value.bit_length() <= _MOST_BITS else None


def _integer(number: nodes.Number) -> list[str]:
    value = _written_out(number)
    if value is None:
        return []
    lines = [f"decimal `{value}`, hexadecimal `0x{value:X}`"]
    if value < 2**16:
        lines.append(f"binary `0b{value:b}`")
    for width in (32, 64):
        if 2 ** (width - 1) <= value < 2**width:
            lines.append(f"as signed {width}-bit integer `{value - 2**width}`")
            break
    if value >= WORD:
        taken = constant(number.text)
        outcome = "rejects it" if taken is None else f"truncates it to `{taken}`"
        lines.append(f"more than 64 bits: ptxas {outcome}")
    return lines


def _signed(number: nodes.Number, operator: str) -> list[str]:
    """Of a negative integer; none where 64 bits do not hold it."""
    value = _written_out(number)
    if value is None:
        return []
    value = -value if operator == "-" else ~value
    if not -(2**63) <= value < 0:
        return []
    single = f"as 32 bits `0x{value % 2**32:X}`, " if value >= -(2**31) else ""
    return [f"decimal `{value}`, {single}as 64 bits `0x{value % 2**64:X}`"]


def _parts(number: nodes.Number) -> list[str]:
    """Sign, exponent and mantissa of an exact float."""
    bits = int(number.text[2:], 16)
    width, mantissa, bias = (32, 23, 127) if number.text[1] in "fF" else (64, 52, 1023)
    sign = bits >> (width - 1)
    exponent = (bits >> mantissa) & ((1 << (width - 1 - mantissa)) - 1)
    fraction = bits & ((1 << mantissa) - 1)
    digits = -(-mantissa // 4)
    kind = "subnormal" if not exponent and fraction else f"exponent {exponent - bias}"
    if exponent == 2 * bias + 1:
        kind = "NaN" if fraction else "infinity"
    if not exponent and not fraction:
        kind = "zero"
    return [f"sign {sign}, {kind}, mantissa `0x{fraction:0{digits}X}`"]


def _digits(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    if value == int(value) and abs(value) < 1e15:
        return f"{value:.1f}"
    return repr(value)


def _single(bits: int) -> float:
    value: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    if math.isfinite(value):
        # the shortest digits that give the same 32 bits
        for digits in range(6, 10):
            short = float(f"{value:.{digits}g}")
            if struct.pack("<f", short) == struct.pack("<f", value):
                return short
    return value


def _double(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])
