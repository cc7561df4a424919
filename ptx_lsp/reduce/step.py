"""Steps of a reduction: edits of one text that belong together, and are independent of other steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from ptx_lsp.text import Edit

Step: TypeAlias = tuple[Edit, ...]
"""Edits that are applied together, or not at all."""

_COMMAS: Final = (
    (re.compile(rb",(?:\s*,)+"), b","),
    (re.compile(rb"([({])\s*,\s*"), rb"\1"),
    (re.compile(rb"\s*,(\s*[)};])"), rb"\1"),
)
"""What remains where elements of lists were deleted."""


def apply(data: bytes, steps: Sequence[Step], *, in_lists: bool = False) -> bytes:
    """The text after these steps. A step that contradicts an earlier one is left out.

    `in_lists`: the steps delete elements of lists, whose commas are then removed.
    """
    edits = [(edit, number) for number, step in enumerate(steps) for edit in step]
    edits.sort(key=lambda one: (one[0].start, -one[0].end, one[1]))
    chosen, dropped = _compatible(edits)
    while dropped:
        edits = [one for one in edits if one[1] not in dropped]
        chosen, dropped = _compatible(edits)
    result = _edited(data, chosen)
    if in_lists:
        for pattern, replacement in _COMMAS:
            result = pattern.sub(replacement, result)
    return result


def _compatible(edits: Iterable[tuple[Edit, int]]) -> tuple[list[Edit], set[int]]:
    """Edits in order that do not overlap, and the steps that must be left out for that.

    Deletions that overlap are one deletion, and an edit of deleted text is not needed.
    """
    chosen: list[Edit] = []
    owner = -1
    dropped: set[int] = set()
    for edit, number in edits:
        last = chosen[-1] if chosen else None
        if last is None or edit.start >= last.end or number == owner:
            if last != edit:
                chosen.append(edit)
                owner = number
        elif not last.replacement and (edit.end <= last.end or not edit.replacement):
            chosen[-1] = Edit(last.start, max(last.end, edit.end), b"")
            owner = min(owner, number)
        elif edit != last:
            dropped.add(max(owner, number))
    return chosen, dropped


def _edited(data: bytes, edits: Iterable[Edit]) -> bytes:
    parts: list[bytes] = []
    done = 0
    for edit in edits:
        parts += (data[done : edit.start], edit.replacement)
        done = max(done, edit.end)
    parts.append(data[done:])
    return b"".join(parts)
