"""What a misspelt opcode or modifier may have meant, as fixes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.matching.verdict import judge
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.diagnostic import Remedy, Replacement
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes

MOST_OFFERED = 6
"""Where there are more ways than this, offering them helps nobody."""


class Offer(NamedTuple):
    """A fix where there is one way only, else one for each way."""

    remedy: Remedy | None = None
    alternatives: tuple[Remedy, ...] = ()


class Guess(NamedTuple):
    """What may have been meant. Where it does not make the instruction right by itself, other things are
    wrong as well: it is named, but no fix writes it.
    """

    names: tuple[str, ...]
    is_right: bool


def suiting(function: Function, instruction: nodes.Instruction, problem: Problem) -> Guess:
    """Of the choices of a problem those that make the whole instruction right. Where none does: all, unless a
    type is in question, which the operands decide.
    """
    problems = resolve(instruction.opcode.text).problems
    if any(one.kind == "unknown-modifier" and one.index != problem.index for one in problems):
        return Guess(problem.choices, is_right=False)  # whatever stands here, that one stays wrong
    module, given = function.module, arguments(function, instruction)
    words = instruction.opcode.text.split(".")

    def is_right(choice: str) -> bool:
        spelling = ".".join((*words[: problem.index], choice.removeprefix("."), *words[problem.index + 1 :]))
        facts = module.version, module.target, module.address_size, module.has_samplers
        return judge(spelling, given, *facts) is None

    found = tuple(filter(is_right, problem.choices))
    is_type = problem.index > 0 and f".{words[problem.index]}" in TYPES
    return Guess(found, is_right=True) if found or is_type else Guess(problem.choices, is_right=False)


def replace(place: Place, names: Sequence[str]) -> Offer:
    """Writes one of the names in place of what is there."""
    return offer(
        [
            Remedy(f"Replace with `{name}`", (Replacement(place, name),), safe=False)
            for name in names
        ]
    )


def offer(remedies: Sequence[Remedy]) -> Offer:
    """The only remedy, or all of a few to choose from, each of which is a guess."""
    if len(remedies) == 1:
        return Offer(remedies[0])
    few = remedies if len(remedies) <= MOST_OFFERED else ()
    return Offer(None, tuple(one._replace(safe=False) for one in few))


def either(names: Sequence[str]) -> str:
    """The names in back-ticks: `a`, `b` or `c`."""
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} or {last}" if others else last
