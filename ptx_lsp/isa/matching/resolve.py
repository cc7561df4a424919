"""Resolves a spelling (`mul.lo.s32`) against the table, and its operands against the row.

`resolve` looks at the opcode and its modifiers; `Resolution.match` at the operands;
`Match.unmet` at `.version` and `.target`. Each is computed once for each distinct input, because
a spelling repeats thousands of times in one file.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from ptx_lsp.isa.matching.fit import (
    Candidate,
    Fit,
    Problem,
    excluded,
    fit,
    fits_without_faults,
    is_right,
    nearest_fits,
    outlines,
)
from ptx_lsp.isa.matching.match import Match, best_match
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Resolution:
    """The table's entry for a spelling: the forms that it matches, or its errors."""

    __slots__ = ("candidates", "problems", "spelling")

    def __init__(
        self,
        spelling: str,
        candidates: tuple[Candidate, ...],
        problems: tuple[Problem, ...],
    ) -> None:
        self.spelling: Final = spelling
        self.candidates: Final = candidates
        self.problems: Final = problems

    @property
    def ok(self) -> bool:
        return bool(self.candidates)

    def match(self, arguments: tuple[Argument, ...]) -> Match | None:
        """The form that these operands fit, or the nearest with its problems.

        None when the spelling fits no form. Among equals the first form of the table wins.
        """
        return _match(self, arguments) if self.candidates else None

    def __hash__(self) -> int:
        return hash(self.spelling)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resolution) and other.spelling == self.spelling


@lru_cache(maxsize=65536)
def _match(resolution: Resolution, arguments: tuple[Argument, ...]) -> Match:
    return best_match(resolution.candidates, arguments)


@lru_cache(maxsize=16384)
def resolve(spelling: str) -> Resolution:
    """Resolves an opcode with its modifiers, such as "ld.global.v4.f32"."""
    opcode, *modifiers = spelling.split(".")
    if len(modifiers) > _MOST_MODIFIERS:
        return _shortened(spelling, opcode, modifiers)
    words = tuple("." + modifier for modifier in modifiers)
    entries = table.entries(opcode)
    if not entries:
        return Resolution(spelling, (), (_unknown(opcode, words),))
    exact = [one for entry in entries for one in fits_without_faults(entry, words)]
    candidates = [one.candidate for one in exact if not excluded(one)]
    if candidates:
        in_order = [one for one in candidates if not one.problems]
        return Resolution(spelling, tuple(in_order or candidates), ())
    if exact:
        return Resolution(spelling, (), tuple(excluded(exact[0])))
    return Resolution(spelling, (), _misfit(nearest_fits(entries, words), words))


# What explains mistakes is imported when there is one.


def _misfit(nearest: list[Fit], words: tuple[str, ...]) -> tuple[Problem, ...]:
    from ptx_lsp.isa.matching.misfit import explain

    return explain(min(nearest, key=lambda one: one.distance), nearest, words)


def _unknown(opcode: str, words: tuple[str, ...]) -> Problem:
    from ptx_lsp.isa.matching.spelling_suggestions import similar_names
    from ptx_lsp.isa.removed_opcodes import REMOVED

    if opcode in REMOVED:
        message = f"`{opcode}` was removed from PTX; {REMOVED[opcode]}"
        return Problem("unknown-opcode", 0, message)
    found = similar_names(opcode, table.opcodes())
    taking = tuple(one for one in found if is_right(one, words))
    return Problem("unknown-opcode", 0, f"`{opcode}` is not a PTX instruction", taking or found)


_MOST_MODIFIERS, _MOST_ALIKE = 100, 8
"""No form has so many modifiers, nor so many times the same; but ptxas takes `.sat` as often as you like."""


def _shortened(spelling: str, opcode: str, modifiers: list[str]) -> Resolution:
    """Of a spelling with very many modifiers: what the table knows of it without repetitions, and without the
    last ones of more than `_MOST_MODIFIERS`, which make it wrong.
    """
    seen = Counter[str]()
    kept = [0]
    for number, modifier in enumerate(modifiers, 1):
        seen[modifier] += 1
        if seen[modifier] <= _MOST_ALIKE:
            kept.append(number)
    behind = kept[_MOST_MODIFIERS + 1 :]
    kept = kept[: _MOST_MODIFIERS + 1]
    known = resolve(".".join((opcode, *(modifiers[number - 1] for number in kept[1:]))))

    def placed(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return tuple([problem.at(kept[problem.index]) for problem in problems])

    if behind:
        message = f"`{opcode}` cannot have so many modifiers"
        extra = Problem("modifier-not-allowed", behind[0], message)
        return Resolution(spelling, (), (*placed(known.problems), extra))
    candidates = tuple([
        Candidate(one.entry, one.form, one.choices, placed(one.problems)) for one in known.candidates
    ])
    return Resolution(spelling, candidates, placed(known.problems))


@lru_cache(maxsize=4096)
def unfinished(spelling: str) -> tuple[Candidate, ...]:
    """The forms that a spelling may become by more modifiers, or is already."""
    opcode, *modifiers = spelling.split(".")
    words = tuple("." + modifier for modifier in modifiers)
    fits = [
        fit(entry, outline, words)
        for entry in table.entries(opcode)
        for outline in outlines(entry)
        if outline.known.issuperset(words)
    ]
    return tuple(one.candidate for one in fits if not (one.extra or one.misplaced))


def possible_next(spelling: str) -> tuple[str, ...]:
    """The modifiers that may follow an unfinished spelling, in the order of the table."""
    found: dict[str, None] = {}
    for candidate in unfinished(spelling):
        slots = candidate.form.slots
        filled = [i for i, slot in enumerate(slots) if slot.name in candidate.choices]
        for slot in slots[max(filled, default=-1) + 1 :]:
            found.update(dict.fromkeys(slot.choices))
            if not slot.groups:
                break
    return tuple(found)
