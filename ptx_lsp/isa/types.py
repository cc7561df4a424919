"""The types of PTX: fundamental, alternate and packed (PTX ISA, "Types").

An operand fits an instruction type by size and kind (PTX ISA, "Type Information for Instructions
and Operands"); `fits` and `fits_wider` are those rules, as ptxas applies them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from ptx_lsp.isa.target import OLDEST, Version
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Kind(Enum):
    """The kind of value that the bits of a type represent."""

    UNSIGNED = "unsigned integer"
    SIGNED = "signed integer"
    BITS = "untyped bits"
    FLOAT = "floating point"
    ALTERNATE = "alternate or packed format"
    PREDICATE = "predicate"
    HANDLE = "texture, sampler or surface handle"


INTEGERS: Final = (Kind.UNSIGNED, Kind.SIGNED)


class Type:
    """One type: `name` as written (`.u32`), `width` in bits, and the version that introduced it.

    `lanes` counts the elements of a packed type. A type that is not `declarable` names a format
    inside an instruction only; its values live in bit-size registers of the same width.
    """

    __slots__ = ("declarable", "kind", "lanes", "name", "since", "width")

    def __init__(
        self,
        name: str,
        width: int,
        kind: Kind,
        lanes: int = 1,
        declarable: bool = True,
        since: Version = OLDEST,
    ) -> None:
        self.name: Final = name
        self.width: Final = width
        self.kind: Final = kind
        self.lanes: Final = lanes
        self.declarable: Final = declarable
        self.since: Final = since

    @property
    def summary(self) -> str:
        """The meaning of the bits, in one sentence."""
        return _SENTENCES.get(self.name) or _sentence(self)

    @property
    def is_integer(self) -> bool:
        return self.kind in INTEGERS

    @property
    def bytes(self) -> int:
        """The size in memory, in bytes (a predicate has none: 0)."""
        return 0 if self.kind is Kind.PREDICATE else (self.width + 7) // 8

OPAQUE = (".texref", ".samplerref", ".surfref")
"""The types of textures, samplers and surfaces."""


def fits(register: Type, wanted: Type) -> bool:
    """Whether a register of type `register` may stand where an instruction says `wanted`.

    Sizes must agree. `.bN` fits everything, integers fit integers and bits, floats fit the same
    float and bits; a packed or alternate format lives in `.bN` alone. ptxas also takes a declared
    `.f16x2` for an integer, or for packed integers.
    """
    if register.width != wanted.width:
        return False
    if wanted.kind is Kind.BITS:
        return register.kind not in (Kind.PREDICATE, Kind.HANDLE)
    if register.kind is Kind.BITS:
        return wanted.kind not in (Kind.PREDICATE, Kind.HANDLE)
    if register.is_integer:
        return wanted.is_integer
    if register.name == ".f16x2":
        return wanted.is_integer or wanted.name in (".f16x2", *_PACKED_INTEGERS)
    return register.name == wanted.name


def fits_wider(register: Type, wanted: Type) -> bool:
    """The relaxed rule of `ld`, `st` and `cvt`: the register may be wider than the type.

    Integers and bits are chopped or extended; a floating-point type still needs its own size,
    or any wider bit-size register (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
    """
    if register.width <= wanted.width:
        return fits(register, wanted)
    if wanted.kind is Kind.BITS:
        return register.kind not in (Kind.PREDICATE, Kind.HANDLE)
    if wanted.is_integer:
        return register.is_integer or register.kind is Kind.BITS or register.name == ".f16x2"
    return wanted.kind in (Kind.FLOAT, Kind.ALTERNATE) and register.kind is Kind.BITS


def twice(type: Type) -> Type | None:
    """The type of the same kind with twice the width (`.s16` -> `.s32`), where there is one."""
    return TYPES.get(f".{type.name[1]}{type.width * 2}")


def _table() -> Iterable[Type]:
    for width in (8, 16, 32, 64):
        yield Type(f".b{width}", width, Kind.BITS)
        yield Type(f".u{width}", width, Kind.UNSIGNED)
        yield Type(f".s{width}", width, Kind.SIGNED)
    yield Type(".b128", 128, Kind.BITS, since=Version(8, 3))
    yield Type(".pred", 1, Kind.PREDICATE)
    yield Type(".f16", 16, Kind.FLOAT)
    yield Type(".f32", 32, Kind.FLOAT)
    yield Type(".f64", 64, Kind.FLOAT)
    yield Type(".f16x2", 32, Kind.ALTERNATE, 2, since=Version(4, 2))
    for name in OPAQUE:
        yield Type(name, 64, Kind.HANDLE, since=Version(1, 5))
    for element, width, lanes, since in _ALTERNATE:
        for count in lanes:
            name = element if count == 1 else f"{element}x{count}"
            yield Type(name, width * count, Kind.ALTERNATE, count, False, since)
    for name, width in _PARTS:
        yield Type(name, width, Kind.ALTERNATE, 1, False, Version(6, 3))


def _sentence(type: Type) -> str:
    if type.lanes > 1:
        element = type.name.removesuffix(f"x{type.lanes}")
        count = {2: "Two", 4: "Four"}[type.lanes]
        return f"{count} {element} in {type.width} bits, the first one lowest."
    if type.kind is Kind.HANDLE:
        return f"{type.name[1:-3].capitalize()}: an opaque handle, of {type.width} bits as a value."
    if type.name.startswith(".b"):
        return f"{type.width} untyped bit{'s' if type.width > 1 else ''}."
    return f"{'Signed' if type.name.startswith('.s') else 'Unsigned'} {type.width}-bit integer."


_SENTENCES: Final = {
    ".pred": "Predicate: true or false.",
    ".f16": "16-bit float with 5 exponent and 10 mantissa bits: half precision.",
    ".f32": "32-bit float with 8 exponent and 23 mantissa bits: single precision.",
    ".f64": "64-bit float with 11 exponent and 52 mantissa bits: double precision.",
    ".bf16": "16-bit float with 8 exponent and 7 mantissa bits: the upper half of .f32.",
    ".tf32": "Float with 8 exponent and at least 10 mantissa bits, in 32 bits laid out as .f32.",
    ".e4m3": "8-bit float with 4 exponent and 3 mantissa bits, no infinity.",
    ".e5m2": "8-bit float with 5 exponent and 2 mantissa bits: the upper half of .f16.",
    ".ue8m0": "8-bit scale factor, a power of two: 8 exponent bits, no sign, no mantissa.",
    ".ue4m3": "Float without a sign: 4 exponent and 3 mantissa bits, padded to 8 bits; no infinity.",
    ".ue5m3": "8-bit float without a sign: 5 exponent and 3 mantissa bits, no infinity.",
    ".s2f6": "8-bit fixed-point number in two's complement with 6 fraction bits: -2 to just below 2.",
    ".e2m3": "6-bit float with 2 exponent and 3 mantissa bits, no infinity, no NaN.",
    ".e3m2": "6-bit float with 3 exponent and 2 mantissa bits, no infinity, no NaN.",
    ".e2m1": "4-bit float with 2 exponent bits and 1 mantissa bit, no infinity, no NaN.",
    ".e2m1p4": "The 4-bit float .e2m1 below four bits of padding.",
    ".b1024": "1024 untyped bits: a tensor map.",
}

# Formats that no register holds alone: a part of one, or more than one.
_PARTS: Final = (
    (".b1", 1), (".u2", 2), (".s2", 2), (".u4", 4), (".s4", 4), (".b1024", 1024),
)

_PACKED_INTEGERS: Final = (".u8x4", ".s8x4", ".u16x2", ".s16x2")

# Formats that exist inside instructions only: element, its width, how many travel together.
_ALTERNATE: Final = (
    (".bf16", 16, (1, 2), Version(7, 0)),
    (".tf32", 32, (1,), Version(7, 0)),
    (".u8", 8, (4,), Version(9, 2)),
    (".s8", 8, (4,), Version(9, 2)),
    (".u16", 16, (2,), Version(8, 0)),
    (".s16", 16, (2,), Version(8, 0)),
    (".f32", 32, (2,), Version(8, 6)),
    (".e4m3", 8, (1, 2, 4), Version(8, 1)),
    (".e5m2", 8, (1, 2, 4), Version(8, 1)),
    (".ue8m0", 8, (1, 2, 4), Version(8, 6)),
    (".ue4m3", 8, (1, 2, 4), Version(8, 6)),
    (".ue5m3", 8, (1, 2, 4), Version(9, 4)),
    (".s2f6", 8, (1, 2, 4), Version(9, 1)),
    # A pair of 6-bit elements takes 16 bits (8 each, padded); four-bit elements really pack.
    (".e2m3", 8, (1, 2, 4), Version(8, 6)),
    (".e3m2", 8, (1, 2, 4), Version(8, 6)),
    (".e2m1", 4, (1, 2, 4), Version(8, 6)),
    (".e2m1p4", 8, (4,), Version(9, 4)),
)

TYPES: Final[dict[str, Type]] = {type.name: type for type in _table()}
