"""Rows of a form: which choice each of its slots has. "" leaves a slot out."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.notation import Form, Slot

Row = tuple[str, ...]


def rows(form: Form) -> tuple[list[Row], list[Row]]:
    """The rows with one choice changed, and rows that cover every pair of choices."""
    axes = [("", *slot.choices) if slot.groups else slot.choices for slot in form.slots]
    plain = tuple(axis[0] for axis in axes)
    bases = [plain, *_valid_bases(form, axes)]
    single = [
        _grouped(form.slots, (*base[:at], choice, *base[at + 1 :]))
        for base in bases
        for at, axis in enumerate(axes)
        for choice in axis
    ]
    paired = [_grouped(form.slots, row) for row in _pairs(form, axes)]
    return _unique([plain, *single]), _unique(paired)


def _valid_bases(form: Form, axes: Sequence[Row]) -> list[Row]:
    """Up to two rows that the table accepts, when the first choices do not go together."""
    chance = random.Random(form.text)
    found: list[Row] = []
    for _ in range(60):
        row = _grouped(form.slots, tuple(chance.choice(axis) for axis in axes))
        if resolve(form.opcode + "".join(row)).ok:
            found.append(row)
            if len(found) == 2:
                break
    return found


def _grouped(slots: Sequence[Slot], row: Row) -> Row:
    """Fills the empty slots that a filled one brings with it."""
    filled = [slot.groups for slot, choice in zip(slots, row, strict=True) if choice]
    return tuple(
        choice
        or (
            slot.choices[0]
            if any(groups[: len(slot.groups)] == slot.groups for groups in filled)
            else ""
        )
        for slot, choice in zip(slots, row, strict=True)
    )


def _pairs(form: Form, axes: Sequence[Row]) -> Iterator[Row]:
    """Rows that hold every pair of choices; where it can be, in a row that the table accepts."""
    chance = random.Random(form.text)
    left = {
        (i, one, j, other)
        for (i, first), (j, second) in combinations(enumerate(axes), 2)
        for one in first
        for other in second
    }
    tried = 0
    while left and tried < 4000:
        tried += 1
        i, one, j, other = min(left)
        best: Row | None = None
        for _ in range(12):
            row = [chance.choice(axis) for axis in axes]
            row[i], row[j] = one, other
            whole = _grouped(form.slots, tuple(row))
            if whole[i] == one and whole[j] == other:
                best = whole
                if resolve(form.opcode + "".join(whole)).ok:
                    break
        left.discard((i, one, j, other))
        if best is not None:
            for (a, left_), (b, right) in combinations(enumerate(best), 2):
                left.discard((a, left_, b, right))
            yield best


def _unique(rows: Iterable[Row]) -> list[Row]:
    return list(dict.fromkeys(rows))
