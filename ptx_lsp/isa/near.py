"""Which names a misspelt opcode or modifier may have meant.

1. Names are as near as the share of their characters that they have in common, in order; of equally near ones
   those that begin alike come first.
2. A misspelt type (`.s33`, `.i32`) meant a type: one of its kind if the opcode has any, else one of its width;
   never a float for an integer, nor an integer for a float, where there is another.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from os.path import commonprefix
from typing import Final

from ptx_lsp.isa.types import TYPES, Kind

_LEAST = 0.6
_MOST = 5

_TYPE: Final = re.compile(r"\.(u|s|b|f|i|d|int|uint|float)([0-9]+)")
_MEANT: Final = {"i": "s", "int": "s", "uint": "u", "d": "f", "float": "f"}
"""What other languages call a kind."""


def near(word: str, names: Iterable[str]) -> tuple[str, ...]:
    """The nearest names, five at most, the best first; empty where none is near."""
    from difflib import get_close_matches  # only where something is wrong: it costs a start

    found = get_close_matches(word, list(names), 2 * _MOST, _LEAST)
    return tuple(sorted(found, key=lambda name: _order(word, name), reverse=True)[:_MOST])


def closeness(word: str, name: str) -> float:
    """From 0 to 1, for names that are the same."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word, name).ratio()


def near_modifiers(word: str, known: Collection[str]) -> tuple[str, ...]:
    """Of the modifiers of an opcode the nearest; several where they are equally near."""
    type = _TYPE.fullmatch(word)
    if type is not None:
        meant = _near_types(_MEANT.get(type[1], type[1]), int(type[2]), known)
        if meant:
            return meant
    found = near(word, known)
    return tuple(name for name in found if _order(word, name) == _order(word, found[0]))


def _near_types(letter: str, width: int, known: Collection[str]) -> tuple[str, ...]:
    wanted = f".{letter}{width}"
    scalar = [name for name, type in TYPES.items() if name in known and type.lanes == 1 and _TYPE.fullmatch(name)]
    alike = [name for name in scalar if (TYPES[name].kind is Kind.FLOAT) == (letter == "f")]
    of_kind = [name for name in alike if name[1] == letter]
    of_width = [name for name in alike if TYPES[name].width == width]
    if not of_kind:
        return tuple(of_width or alike)
    best = max(_order(wanted, name) for name in of_kind)
    return tuple(name for name in of_kind if _order(wanted, name) == best)


def _order(word: str, name: str) -> tuple[float, int]:
    return closeness(word, name), len(commonprefix((word, name)))
