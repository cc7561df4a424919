"""Suggested fixes for a misspelt opcode or modifier."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.matching.possible import is_possible
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.matching.verdict import judge
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.diagnostic import FixProposal, Replacement
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

MOST_OFFERED = 6
"""With more candidates than this, suggestions do not help."""


class Suggestion(NamedTuple):
    """A fix if there is only one possibility, else one alternative for each."""

    fix: FixProposal | None = None
    alternatives: tuple[FixProposal, ...] = ()


class Guess(NamedTuple):
    """A possible correction. If it does not make the instruction valid by itself, there are further errors:
    the message names it, but no fix applies it.
    """

    names: tuple[str, ...]
    is_right: bool


def fitting_names(function: Function, instruction: nodes.Instruction, problem: Problem) -> Guess:
    """The candidates for a problem that make the whole instruction valid. If none does: all candidates,
    unless the problem is a type, which the operands decide.
    """
    problems = resolve(instruction.opcode.text).problems
    if any(one.kind == "unknown-modifier" and one.index != problem.index for one in problems):
        return Guess(problem.choices, is_right=False)  # this one stays invalid with any candidate
    module, given = function.module, arguments(function, instruction)
    words = instruction.opcode.text.split(".")

    def spelling_with(choice: str) -> str:
        return ".".join((*words[: problem.index], choice.removeprefix("."), *words[problem.index + 1 :]))

    def is_right(choice: str) -> bool:
        spelling = spelling_with(choice)
        facts = module.version, module.target, module.address_size, module.has_samplers
        return judge(spelling, given, *facts) is None

    found = tuple(filter(is_right, problem.choices))
    is_type = problem.index > 0 and f".{words[problem.index]}" in TYPES
    if found or is_type:
        return Guess(found, is_right=True)
    spelt = [one for one in problem.choices if is_possible(spelling_with(one), module.version, module.target)]
    return Guess(_by_number(f".{words[problem.index]}", spelt or problem.choices), is_right=False)


def _by_number(word: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names in their order; if all differ from a word in a number alone, and are no types, the nearest
    number first.
    """
    stem, number = _stem(word)
    stems = [_stem(name) for name in names if name not in TYPES]
    if number is None or len(stems) < len(names) or any(one != stem or other is None for one, other in stems):
        return tuple(names)
    return tuple(sorted(names, key=lambda name: abs((_stem(name)[1] or 0) - number)))


def _stem(word: str) -> tuple[str, int | None]:
    """`.v4`: `.v` and 4."""
    stem = word.rstrip("0123456789")
    return stem, int(word[len(stem) :]) if len(stem) < len(word) <= _LONGEST else None


_LONGEST = 20


def replace(place: Place, names: Sequence[str]) -> Suggestion:
    """Replaces the text with one of the names."""
    return suggest(
        [
            FixProposal(f"Replace with `{name}`", (Replacement(place, name),), safe=False)
            for name in names
        ]
    )


def suggest(remedies: Sequence[FixProposal]) -> Suggestion:
    """The only fix, or all of a few uncertain ones to choose from."""
    if len(remedies) == 1:
        return Suggestion(remedies[0])
    few = remedies if len(remedies) <= MOST_OFFERED else ()
    return Suggestion(None, tuple(one._replace(safe=False) for one in few))


def either(names: Sequence[str]) -> str:
    """The names in back-ticks: `a`, `b` or `c`."""
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} or {last}" if others else last
