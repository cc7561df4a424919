"""Selectors: one line that says which spellings of an instruction a statement is about.

    ".u16x2|.s16x2"      one of these modifiers is there
    ".wide .u64|.s64"    both terms hold
    ".v8 !.b32|.f32"     `.v8`, and neither of these
    "dtype=.f16"         the slot `dtype` holds `.f16`; "dtype=" that it is empty
    "+c"                 the optional operand `c` is given; "+a:register" that it is a register
    ""                   every spelling

Terms are separated by spaces and must all hold; `|` separates alternatives; `!` negates a term.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import final


@final
class Choices(dict[str, str]):
    """The modifier in each slot of a form in one spelling: slot name -> modifier, with its dot.

    `choices[slot]` is "" for a slot that is left out. `modifiers` are all of them.
    """

    __slots__ = ("modifiers",)

    def __init__(self, slots: Mapping[str, str]) -> None:
        super().__init__(slots)
        self.modifiers = frozenset(self.values())

    def __missing__(self, slot: str) -> str:
        return ""


class Term(NamedTuple):
    """One term: which of `values`, in `slot` (None: anywhere), or which operands (`given`)."""

    negated: bool
    slot: str | None
    values: frozenset[str]
    given: bool

    def holds(self, choices: Choices, given: Collection[str]) -> bool:
        if self.given:
            found = not self.values.isdisjoint(given)
        elif self.slot is not None:
            found = choices[self.slot] in self.values
        else:
            found = not self.values.isdisjoint(choices.modifiers)
        return found is not self.negated


class Selector(NamedTuple):
    """A parsed selector. `about_operands` when it cannot be decided from the spelling alone."""

    text: str
    terms: tuple[Term, ...]
    about_operands: bool

    def matches(self, choices: Choices, given: Collection[str] = ()) -> bool:
        for term in self.terms:  # noqa: SIM110 (a generator takes twice as long)
            if not term.holds(choices, given):
                return False
        return True


@lru_cache(maxsize=4096)
def parse(text: str) -> Selector:
    """Reads a selector; ValueError for a term that is none of the shapes above."""
    terms = tuple(_term(word) for word in text.split())
    return Selector(text, terms, any(term.given for term in terms))


def _term(word: str) -> Term:
    negated = word.startswith("!")
    body = word.removeprefix("!")
    if body.startswith("+"):
        return Term(negated, None, frozenset(part.lstrip("+") for part in body.split("|")), True)
    if body.startswith("."):
        return Term(negated, None, frozenset(body.split("|")), False)
    slot, equals, values = body.partition("=")
    if not equals:
        raise ValueError(f"not a selector term: {word!r}")
    return Term(negated, slot, frozenset(values.split("|")), False)
