"""`Did you mean`: the name that a misspelt one is close to."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE, _CLOSE_WHEN_SHORT, _SHORT = 0.75, 0.6, 5
_MOST = 5_000


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `name`, None where none is close. Looks at 5 000 at most."""
    others = list(dict.fromkeys(c for c in candidates if abs(len(c) - len(name)) <= 2))[:_MOST]
    cutoff = _CLOSE_WHEN_SHORT if len(name) <= _SHORT else _CLOSE
    found = get_close_matches(name, others, n=1, cutoff=cutoff)
    return found[0] if found else None
