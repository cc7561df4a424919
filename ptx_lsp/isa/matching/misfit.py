"""Why the modifiers of a spelling fit no form, and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ptx_lsp.isa.matching.fit import Fit, Problem, is_right, kept_in_order, outlines
from ptx_lsp.isa.matching.spelling_suggestions import is_of_class, similar_modifiers
from ptx_lsp.isa.schema.table import entries
from ptx_lsp.isa.types import TYPES


def explain(best: Fit, nearest: Sequence[Fit], words: tuple[str, ...]) -> tuple[Problem, ...]:
    """Why no form matches, relative to the best of the nearest ones."""
    name, form = best.candidate.entry.opcode, best.candidate.form
    known = frozenset[str]().union(*[form.words for row in entries(name) for form in outlines(row)])
    problems: list[Problem] = []
    is_hopeless = sum(words[number] not in known for number in best.extra) > 1  # one of them stays wrong
    for number in best.extra:
        word = words[number]
        is_twice = word in words[:number]
        if is_twice and (word not in TYPES or is_right(name, (*words[:number], *words[number + 1 :]))):
            message = f"duplicate modifier `{word}`"
            problems.append(Problem("repeated-modifier", number + 1, message))
        elif word in known:
            message = f"`{word}` is not allowed with the other modifiers of this `{name}`"
            instead = _alike(word, _instead(best, nearest))
            problems.append(Problem("modifier-not-allowed", number + 1, message, instead))
        else:
            suits = _never if is_hopeless else partial(_is_right_with, name, words, number)
            meant = similar_modifiers(word, sorted(known), suits) or _alike(word, _instead(best, nearest))
            message = f"`{name}` has no modifier `{word}`"
            problems.append(Problem("unknown-modifier", number + 1, message, meant))
    for number in best.misplaced if best.extra or not best.missing else ():
        where = (
            "is not allowed at this position"
            if kept_in_order(words[number]) == "type"
            else "must come earlier"
        )
        message = f"`{words[number]}` {where}: `{form.text.split(' ')[0]}`"
        problems.append(Problem("modifier-not-allowed", number + 1, message))
    if not best.extra:
        for slot in best.missing:
            choices = slot.choices if len(best.missing) > 1 else _instead(best, nearest)
            message = f"`{name}` requires {_listed(choices)}"
            problems.append(Problem("missing-modifier", 0, message, choices))
    return tuple(problems)


def _is_right_with(opcode: str, words: tuple[str, ...], number: int, modifier: str) -> bool:
    """The same with another modifier in place of the one at `number`."""
    return is_right(opcode, (*words[:number], modifier, *words[number + 1 :]))


def _never(_: str) -> bool:
    return False


def _alike(word: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if is_of_class(name, word))


def _instead(best: Fit, nearest: Sequence[Fit]) -> tuple[str, ...]:
    """What may stand in place of the modifiers that do not fit, by any form that is as near as the best."""
    found: dict[str, None] = {}
    for fit in nearest:
        if fit.distance == best.distance and fit.extra == best.extra and len(fit.missing) == 1:
            found.update(dict.fromkeys(fit.missing[0].choices))
    return tuple(found)


def _listed(choices: Sequence[str]) -> str:
    """Choices for people: all of a few, else the first ones."""
    shown = [f"`{choice}`" for choice in choices[:_SHOWN]]
    return (
        " or ".join(shown)
        if len(choices) <= _SHOWN
        else f"{', '.join(shown)} or another of the same kind"
    )


_SHOWN = 6
