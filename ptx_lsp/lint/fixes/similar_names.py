"""`Did you mean`: the existing name closest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

_CLOSE, _CLOSE_WHEN_SHORT, _SHORT = 0.75, 0.6, 5
_MOST, _MOST_SEEN, _LONGEST = 1_000, 20_000, 300


def similar_name(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `name`, None if none is close.

    It compares at most 1 000 of the first 20 000 candidates, so that many unknown names in a file with many
    names do not take long, and never a very long one.
    """
    if len(name) > _LONGEST:
        return None
    seen = islice(candidates, _MOST_SEEN)
    alike = dict.fromkeys(c for c in seen if abs(len(c) - len(name)) <= 2)
    others = list(islice(alike, _MOST))
    cutoff = _CLOSE_WHEN_SHORT if len(name) <= _SHORT else _CLOSE
    from difflib import get_close_matches  # most runs need none

    found = get_close_matches(name, others, n=1, cutoff=cutoff)
    return found[0] if found else None
