"""Opcodes that PTX had, or reserved, and has no more.

Sources: the manuals of PTX 1.0 and 1.1, "Changes"; ptxas 13.5 knows none of them in any version. Most were
never implemented.
"""

from __future__ import annotations

from typing import Final

REMOVED: Final = {
    "cross": "write the products and differences of the elements: `mul.f32` and `fma.rn.f32`",
    "dot": "add up the products of the elements: `mul.f32`, then `fma.rn.f32`",
    "mag": "take the root of the sum of squares: `mul.f32`, `fma.rn.f32`, `sqrt.rn.f32`",
    "vred": "combine the elements one by one: `add`, `min` or `max`",
    "frc": "subtract the rounded value: `cvt.rmi.f32.f32` and `sub.f32`",
    "extract": "unpack the elements by `mov.b64 {a, b}, c`, or the bits by `bfe`",
    "insert": "pack the elements by `mov.b64 c, {a, b}`, or the bits by `bfi`",
    "nop": "delete it: PTX has no such instruction",
}
"""The replacement, as a clause."""
