"""The elements of matrices: what the bits of each type stand for, as doubles, and the bits of sums."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ptx_lsp.executor.arithmetic.floats import Doubles, Floats
from ptx_lsp.executor.arithmetic.formats import FORMATS
from ptx_lsp.executor.matrices.fragments import Words

Decoder = Callable[[Words], Doubles]

_WIDTHS = {
    ".f64": 64, ".f32": 32, ".tf32": 32, ".s32": 32, ".f16": 16, ".bf16": 16, ".s4": 4, ".u4": 4,
    ".b1": 32,  # 32 of them are taken as one element
}


def width(type: str, *, packed: bool = False) -> int:
    """The bits that an element takes in a register: floats of 6 and 4 bits take 8, but packed ones 4."""
    return 4 if packed else _WIDTHS.get(type, 8)


def decoder(type: str, *, packed: bool = False) -> Decoder:
    """The numbers that bits of a type stand for."""
    if type == ".e2m1" and not packed:
        return _middle
    if type in FORMATS:
        format = FORMATS[type]
        return lambda bits: format.decoded(bits.astype(np.uint32)).astype(np.float64)
    return _DECODERS[type]


def encoded(values: Floats) -> Words:
    """The bits of sums; NaN is the canonical one."""
    size = values.dtype.itemsize
    if size == 8:
        return values.view(np.uint64)
    bits = values.view(np.dtype(f"u{size}"))
    canonical = bits.dtype.type((1 << 8 * size - 1) - 1)
    return np.where(np.isnan(values), canonical, bits).astype(np.uint32)


def _middle(bits: Words) -> Doubles:
    """`.e2m1` in the middle of 8 bits."""
    return FORMATS[".e2m1"].decoded(bits.astype(np.uint32) >> np.uint32(2)).astype(np.float64)


def _signed(bits: Words, width: int) -> Doubles:
    value, top = bits.astype(np.int64), 1 << width - 1
    return ((value ^ top) - top).astype(np.float64)


def _singles(bits: Words) -> Doubles:
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


_DECODERS: dict[str, Decoder] = {
    ".f64": lambda bits: bits.view(np.float64),
    ".f32": _singles,
    ".tf32": lambda bits: _singles(bits & np.uint32(0xFFFFE000)),
    ".bf16": lambda bits: _singles(bits.astype(np.uint32) << np.uint32(16)),
    ".f16": lambda bits: bits.astype(np.uint16).view(np.float16).astype(np.float64),
    ".s32": lambda bits: _signed(bits, 32),
    ".s8": lambda bits: _signed(bits, 8),
    ".s4": lambda bits: _signed(bits, 4),
    ".u8": lambda bits: bits.astype(np.float64),
    ".u4": lambda bits: bits.astype(np.float64),
}
