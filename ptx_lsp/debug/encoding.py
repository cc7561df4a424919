"""Values that users write, as bits of a type."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.isa.types import TYPES, Kind

Evaluated: TypeAlias = np.generic | npt.NDArray[np.generic]
"""The value of an expression for one lane: a number, or the elements of a vector."""
_FLOATS = {16: "<e", 32: "<f", 64: "<d"}


def elements(text: str, count: int) -> list[str]:
    """The texts of so many elements: those of a vector stand in braces. Raises ExpressionError."""
    text = text.strip()
    is_list = text.startswith("{") and text.endswith("}")
    found = text[1:-1].split(",") if is_list else [text]
    if len(found) != count or (count > 1) != is_list:
        wanted = f"{count} elements, such as `{{1, 2}}`" if count > 1 else "one value"
        raise ExpressionError(f"expected {wanted}, found `{text}`")
    return found


def encoded(text: str, type: str, width: int, evaluate: Callable[[str], Evaluated]) -> int:
    """The bits of a value in a register or memory of a type. `evaluate` returns the value of an expression.
    Raises ExpressionError if the text is none, or if its value does not fit.
    """
    text = text.strip()
    if width > 64 and _is_whole(text):  # expressions have 64 bits
        return _whole(int(text, 0), text, width)
    value = evaluate({"true": "1", "false": "0"}.get(text, text))
    if value.ndim:
        raise ExpressionError(f"`{text}` has several elements")
    known = TYPES.get(type)
    if type == ".pred":
        if value not in (0, 1):
            raise ExpressionError(f"`{text}` is neither true nor false")
        return int(value)
    is_bits = text[:2].lower() == "0x" and value.dtype.kind != "f"
    if known is not None and known.kind is Kind.FLOAT and not is_bits:
        return _float(float(value), text, width)
    if value.dtype.kind != "f":
        return _whole(int(value), text, width)
    if known is None or known.is_integer or width not in _FLOATS:
        raise ExpressionError(f"`{text}` is not a whole number")
    return _float(float(value), text, width)


def _is_whole(text: str) -> bool:
    try:
        int(text, 0)
    except ValueError:
        return False
    return True


def _whole(value: int, text: str, width: int) -> int:
    if not -(1 << width - 1) <= value < 1 << width:
        raise ExpressionError(f"`{text}` does not fit into {width} bits")
    return value & (1 << width) - 1


def _float(value: float, text: str, width: int) -> int:
    try:
        packed = struct.pack(_FLOATS[width], value)
    except OverflowError:
        packed = b""
    if not packed or (math.isfinite(value) and not math.isfinite(struct.unpack(_FLOATS[width], packed)[0])):
        raise ExpressionError(f"`{text}` does not fit into a float of {width} bits")
    return int.from_bytes(packed, "little")
