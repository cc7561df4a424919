"""Boundary values of each type, and how values are written."""

from __future__ import annotations

import struct

from ptx_lsp.isa.types import Kind, Type

_PACK = {".f16": ("<e", "<H"), ".f32": ("<f", "<I"), ".f64": ("<d", "<Q")}
_FLOATS = (0.0, 1.0, -1.5, -0.0, 0.1, float("inf"), float("nan"), -2.75)


def edge_values(type: Type) -> list[int]:
    """The edge values as bits: small ones first, then limits, infinities, NaN."""
    name, width = type.name, type.width
    if type.kind is Kind.PREDICATE:
        return [0, 1]
    if name in _PACK:
        code, raw = _PACK[name]
        least, largest = _extremes(width)
        found = [int(struct.unpack(raw, struct.pack(code, one))[0]) for one in _FLOATS]
        return [*found, largest, least]
    if name in (".bf16", ".tf32"):
        drop = 16 if name == ".bf16" else 0
        singles = [int(struct.unpack("<I", struct.pack("<f", one))[0]) for one in _FLOATS]
        return [one >> drop if drop else one & ~0x1FFF for one in singles]
    if type.lanes > 1:
        return _packed(type)
    full = (1 << width) - 1
    top = 1 << width - 1
    if type.kind is Kind.SIGNED:
        return [1, 0, full, 7, -7 & full, top - 1, top, 100]
    return [1, 0, 7, full, top, 100, top - 1, 0x5A5A_5A5A_5A5A_5A5A & full]


def _extremes(width: int) -> tuple[int, int]:
    """The least subnormal, and the largest finite number."""
    precision = {16: 10, 32: 23, 64: 52}[width]
    infinity = ((1 << width - 1) - 1) >> precision << precision
    return 1, infinity - 1


def _packed(type: Type) -> list[int]:
    """Two different elements in each; formats that are not known here get patterns of bits."""
    each = type.width // type.lanes
    element = type.name.removesuffix(f"x{type.lanes}")
    if element in _PACK and each in (16, 32, 64):
        code, raw = _PACK[element]
        values = [int(struct.unpack(raw, struct.pack(code, one))[0]) for one in _FLOATS]
    elif element == ".bf16":
        values = [int(struct.unpack("<I", struct.pack("<f", one))[0]) >> 16 for one in _FLOATS]
    else:
        top = 1 << each - 1
        values = [1, 0, (1 << each) - 1, top, top - 1, 5 & ((1 << each) - 1)]
    return [
        sum(values[(at + shift) % len(values)] << each * at for at in range(type.lanes))
        for shift in range(len(values))
    ]


def shown(bits: int, type: Type) -> str:
    """A value in readable form: decimal, a float in the fewest digits, else its bits."""
    if type.kind is Kind.PREDICATE:
        return str(bits & 1)
    bits &= (1 << type.width) - 1
    if type.name in _PACK:
        return shown_float(bits, type.width)
    if type.name == ".bf16":
        return shown_float(bits << 16, 32)
    if type.name == ".tf32":
        return shown_float(bits, 32)
    if type.kind is Kind.SIGNED and type.lanes == 1:
        return str(bits - (1 << type.width) if bits >> type.width - 1 else bits)
    if type.kind is Kind.UNSIGNED and type.lanes == 1:
        return str(bits)
    return f"{bits:#0{2 + type.width // 4}x}"


def shown_float(bits: int, width: int) -> str:
    """The fewest digits that identify this float among those of its width."""
    import numpy as np

    raw = np.array(bits, f"u{width // 8}")
    value = raw.view(f"f{width // 8}")[()]
    return str(value)
