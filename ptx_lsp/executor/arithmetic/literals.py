"""The values of literals and constant expressions (PTX ISA, "Constants")."""

from __future__ import annotations

import struct

from ptx_lsp.model.instructions.constants import evaluated
from ptx_lsp.syntax import nodes


def bits(value: nodes.Expression, width: int, is_float: bool) -> int | None:
    """The bits of a constant for an operand of `width` bits; None if it is not a constant.

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
    found = evaluated(value)
    return None if found is None else found.value
