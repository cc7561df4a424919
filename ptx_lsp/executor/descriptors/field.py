"""The bit fields of descriptors, for display."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """`width` bits from bit `first` on; `meaning` has the value in words."""

    name: str
    first: int
    width: int
    meaning: Callable[[int], str] = str

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1 << self.first

    @property
    def bits(self) -> str:
        """Its place: "17-22"."""
        return f"{self.first}-{self.first + self.width - 1}" if self.width > 1 else str(self.first)


@dataclass(frozen=True)
class FieldValue:
    """A field in words; `text` is "" where the value is not known."""

    bits: str
    name: str
    text: str


def decoded(fields: Iterable[Field], word: int, known: int = -1) -> Iterator[FieldValue]:
    """The fields of a descriptor of which the bits `known` are known."""
    for one in fields:
        is_known = known & one.mask == one.mask
        yield FieldValue(one.bits, one.name, one.meaning((word & one.mask) >> one.first) if is_known else "")


def count(unit: str, scale: int = 1) -> Callable[[int], str]:
    """A number of units, counted in `scale`."""
    return lambda value: f"{value * scale} {unit}".rstrip()


def address(scale: int) -> Callable[[int], str]:
    return lambda value: f"{value * scale:#x}"


def flag(name: str, other: str = "no") -> Callable[[int], str]:
    """A bit that is set or not."""
    return lambda value: name if value else other


def constant(wanted: int, width: int) -> Callable[[int], str]:
    """Bits with one valid value."""

    def meaning(value: int) -> str:
        return f"{value:#0{width + 2}b}" + ("" if value == wanted else f", must be {wanted:#0{width + 2}b}")

    return meaning


def choice(texts: dict[int, str]) -> Callable[[int], str]:
    """One of some codes."""
    return lambda value: texts.get(value, f"{value}, not valid")
