"""Looks names up that a user gives demangled: `foo<float>(float*)`, `foo<float>` or `foo` for the function
`_Z3fooIfEvPT_`.

1. A name in the file is meant before any demangled name.
2. Otherwise a text stands for each function whose demangled name it is, without blanks; it can omit the
   return type and the parameters, the template arguments too, and namespaces from the left.
3. If it is the whole of some of these names, except for the return type, only those are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ptx_lsp.demangler import demangled, short_name

_OPEN, _CLOSE = "<([{", ">)]}"
_MOST_LISTED = 8
_BLANKS = re.compile(r"\s+")


def names_for(text: str, names: Iterable[str]) -> list[str]:
    """The names in the file that a text stands for, in their order; empty if it stands for none."""
    known = list(dict.fromkeys(names))
    if text in known:
        return [text]
    wanted = _BLANKS.sub("", text)
    if not wanted:
        return []
    plain = demangled(known)
    found = [name for name in known if name in plain and wanted in _forms(plain[name])]
    whole = [name for name in found if wanted in _whole(plain[name])]
    return whole or found


def shown_names(names: Sequence[str]) -> str:
    """Names for a message: demangled, with the names in the file."""
    listed = names[:_MOST_LISTED]
    plain = demangled(listed)
    shown = [
        f"`{without_return_type(plain[one])}` (`{one}`)" if one in plain else f"`{one}`"
        for one in listed
    ]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def spellings(names: Iterable[str]) -> list[str]:
    """Names, and the shortest demangled form of each, to suggest one for an unknown name."""
    known = list(names)
    return [*known, *(short_name(one) for one in demangled(known).values())]


def without_return_type(plain: str) -> str:
    """A demangled name without its return type, as in `foo<float>(float*)`."""
    starts, ends = _cuts(plain)
    end = max((end for end in ends if plain[end:].startswith("(")), default=len(plain))
    return plain[max(start for start in starts if not start or (plain[start - 1] == " " and start < end)) :]


def _forms(plain: str) -> set[str]:
    """The texts without blanks that stand for a demangled name."""
    starts, ends = _cuts(plain)
    return {_BLANKS.sub("", plain[start:end]) for start in starts for end in ends if start < end} - {""}


def _whole(plain: str) -> set[str]:
    """Of these the name with its namespaces and parameters."""
    return {_BLANKS.sub("", one) for one in (plain, without_return_type(plain))}


def _cuts(plain: str) -> tuple[list[int], list[int]]:
    """The places outside brackets at which a name can begin, and those at which it can end."""
    starts, ends = [0], [len(plain)]
    depth = 0
    for at, letter in _outside_operators(plain):
        if letter in _OPEN:
            if depth == 0 and letter in "<(":
                ends.append(at)
            depth += 1
        elif letter in _CLOSE:
            depth = max(0, depth - 1)
        elif depth == 0 and (letter == " " or plain.startswith("::", at)):
            starts.append(at + len("::" if letter == ":" else " "))
    return starts, ends


def _outside_operators(plain: str) -> Iterator[tuple[int, str]]:
    """The letters of a demangled name with their places, without those of the names of operators."""
    symbols = [found.span() for found in re.finditer(r"\boperator\s*(?:\(\)|[^\w\s(]+)", plain)]
    for at, letter in enumerate(plain):
        if not any(start <= at < end for start, end in symbols):
            yield at, letter
