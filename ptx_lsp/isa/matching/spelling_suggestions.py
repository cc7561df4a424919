"""Which names a misspelt opcode or modifier may have meant.

1. Names are as near as the share of their characters that they have in common, in order; of equally near
   ones those that begin alike come first.
2. A misspelt type (`.s33`, `.i32`) meant a type: one of its kind if the opcode has any, else one of its
   width; never a float for an integer, nor an integer for a float.
3. What is a type of PTX is not misspelt. It means its bits where the opcode has them (`.b16` in `ld.f16`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_LEAST = 0.6
_MOST = 5
_LONGEST = 60
"""Of the opcodes and modifiers that there are, none is half as long."""

_TYPE: Final = lazy_pattern(r"\.(u|s|b|f|i|d|int|uint|float)([0-9]+)")
_MEANT: Final = {"i": "s", "int": "s", "uint": "u", "d": "f", "float": "f"}
"""What other languages call a kind."""


def similar_names(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The nearest names, five at most, the best first; empty where none is near."""
    from difflib import get_close_matches  # only where something is wrong: it costs a start

    if len(word) > _LONGEST:
        return ()
    found = get_close_matches(word, list(names), 2 * _MOST, _LEAST)
    return tuple(sorted(found, key=lambda name: _order(word, name), reverse=True)[:_MOST])


def closeness(word: str, name: str) -> float:
    """From 0 to 1, for names that are the same."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word, name).ratio()


def similar_modifiers(
    word: str, known: Collection[str], suits: Callable[[str], bool]
) -> tuple[str, ...]:
    """Of the modifiers of an opcode the nearest, of those that suit if any does; several where they are
    equally near.
    """
    known = [name for name in known if is_of_class(name, word)]
    type = _TYPE.fullmatch(word)
    if type is not None:
        is_misspelt = word not in TYPES
        word = f".{_MEANT.get(type[1], type[1])}{type[2]}"
        bits = f".b{type[2]}"
        if not is_misspelt and bits in known and suits(bits):
            return (bits,)
        of_kind, others = _types(word, known)
        if others and not of_kind:
            return tuple(filter(suits, others)) or others
        if of_kind:
            found = tuple(filter(suits, of_kind)) or of_kind
            return _nearest(word, found) if is_misspelt else found
    found = similar_names(word, known)
    return _nearest(word, tuple(filter(suits, found)) or found)


def is_of_class(name: str, wanted: str) -> bool:
    """Whether the modifier `name` makes no float of the integer type `wanted`, nor the other way; for a word
    that means no type any may stand.
    """
    meant = TYPES.get(wanted)
    if meant is None and (type := _TYPE.fullmatch(wanted)) is not None:
        meant = TYPES.get(f".{_MEANT.get(type[1], type[1])}32")
    if meant is None or name not in TYPES:
        return meant is None
    floats = (Kind.FLOAT, Kind.ALTERNATE)
    kinds = (TYPES[name].kind, meant.kind)
    return Kind.BITS in kinds or (kinds[0] in floats) == (kinds[1] in floats)


def _types(wanted: str, known: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The types among `known` of the kind that is wanted; and of its width, or else any, that are floats if
    that is one.
    """
    width = wanted[2:]
    scalar = [TYPES[name] for name in TYPES if name in known and _TYPE.fullmatch(name)]
    alike = [type.name for type in scalar if (type.kind is Kind.FLOAT) == (wanted[1] == "f")]
    of_kind = [name for name in alike if name[1] == wanted[1]]
    of_width = [name for name in alike if name[2:] == width]
    return tuple(of_kind), tuple(of_width or alike)


def _nearest(word: str, names: tuple[str, ...]) -> tuple[str, ...]:
    best = max((_order(word, name) for name in names), default=None)
    return tuple(name for name in names if _order(word, name) == best)


def _order(word: str, name: str) -> tuple[float, int]:
    pairs = enumerate(zip(word, name, strict=False))
    alike = next((index for index, (one, other) in pairs if one != other), min(len(word), len(name)))
    return closeness(word, name), alike
