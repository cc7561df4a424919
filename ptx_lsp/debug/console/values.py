"""Values as commands print them, in the formats of gdb."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ptx_lsp.debug import values
from ptx_lsp.debug.expressions import Column
from ptx_lsp.debug.groups import Group
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import Lanes, Named
from ptx_lsp.isa.types import TYPES

FORMATS = "xduotacfz"
MOST_ELEMENTS = 200
_FLOATS = {16: ("e", "H"), 32: ("f", "I"), 64: ("d", "Q")}


@dataclass(frozen=True)
class Value:
    """A value: its `text` without a format, and its elements; none for an unset register."""

    text: str
    elements: tuple[int | float | bool, ...]
    width: int
    """The bits of an element."""
    is_register: bool = False
    """Whether the elements are bits, which a format may interpret as it likes."""

    def formatted(self, format: str) -> str:
        """The value in a format of gdb, such as `x`. Raises RequestError for an unknown one."""
        if not format or not self.elements:
            return self.text
        found = [formatted(one, format, self.width, is_bits=self.is_register) for one in self.elements]
        return found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"


def of_register(group: Group, register: Named, lanes: Lanes) -> list[Value]:
    """The values of a register in some lanes."""
    known = TYPES.get(register.type)
    width = 128 if known is None else known.width
    return [
        Value(values.text(bits, register.type), bits or (), width if width else 1, is_register=True)
        for bits in values.bits(group.wave, register, lanes)
    ]


def of_index(parts: Sequence[Value]) -> Value:
    """An index or a size of its values in x, y and z, as in `{x = 3, y = 0, z = 0}`."""
    named = ", ".join(f"{axis} = {one.text}" for axis, one in zip("xyz", parts, strict=True))
    return Value("{" + named + "}", tuple(element for one in parts for element in one.elements), 32)


def of_column(column: Column) -> list[Value]:
    """The values of an expression."""
    found: list[Value] = []
    for one in column:
        elements = tuple(np.atleast_1d(one).tolist())
        found.append(Value(values.plain(one), elements, _width(elements)))
    return found


def _width(elements: tuple[int | float | bool, ...]) -> int:
    numbers = [int(one) for one in elements if isinstance(one, int)]
    return 32 if all(-(1 << 31) <= one < 1 << 32 for one in numbers) else 64


def formatted(value: int | float | bool, format: str, width: int, *, is_bits: bool) -> str:
    """A number in a format of gdb. Raises RequestError for an unknown format."""
    if format not in FORMATS:
        raise RequestError(f'Undefined output format "{format}".')
    if format == "f":
        return _float(value, width, is_bits=is_bits)
    if isinstance(value, float):
        value = int(value) if np.isfinite(value) else 0
    bits = int(value) & (1 << width) - 1
    signed = bits - (1 << width) if bits >> (width - 1) and width > 1 else bits
    match format:
        case "x" | "a":
            return f"{bits:#x}"
        case "z":
            return f"{bits:#0{2 + max(1, width // 4)}x}"
        case "o":
            return f"0{bits:o}" if bits else "0"
        case "t":
            return f"{bits:b}"
        case "u":
            return str(bits)
        case "c":
            return _character(signed)
        case _:
            return str(signed)


def _float(value: int | float | bool, width: int, *, is_bits: bool) -> str:
    if not is_bits or width not in _FLOATS:
        return shortest(float(value), 64)
    to, of = _FLOATS[width]
    return shortest(struct.unpack(f"<{to}", struct.pack(f"<{of}", int(value)))[0], width)


def shortest(value: float, width: int) -> str:
    """A float with as many digits as its width needs."""
    kinds = {16: np.float16, 32: np.float32}
    return str(kinds.get(width, np.float64)(value))


def _character(code: int) -> str:
    low = code & 0xFF
    shown = chr(low) if 32 <= low < 127 and low not in (39, 92) else f"\\{low:03o}"
    return f"{code} '{shown}'"


def listed(texts: list[str]) -> str:
    """Elements in braces, equal ones once with their number, as gdb prints arrays."""
    if len(texts) == 1:
        return texts[0]
    found: list[str] = []
    for text, same in groupby(texts[:MOST_ELEMENTS]):
        count = len(list(same))
        found += [f"{text} <repeats {count} times>"] if count > _FEW else [text] * count
    return "{" + ", ".join(found) + (", ..." if len(texts) > MOST_ELEMENTS else "") + "}"


_FEW = 9
"""gdb prints so many equal elements singly."""
