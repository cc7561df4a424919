"""Parts of a row in words: what each operand must be, and which spellings a statement is about."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptx_lsp.isa.description.operand_summary import summarize
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.selector import Selector, Term
from ptx_lsp.isa.target import OLDEST, Version


def describe_operands(candidate: Candidate) -> Iterator[tuple[str, str]]:
    """The operands of a form, those inside brackets and braces too: the name, and what it must be."""
    return _wanted(candidate, candidate.form.places)


def since(entry: Entry) -> Version:
    """The version that every spelling of a row needs: people want the oldest rows first."""
    ways = [way.version for need in entry.needs if not need.because.text for way in need.ways]
    return min(ways, default=OLDEST)


def describe_selector(selector: Selector) -> str:
    """A selector in words: `.sat with .u32 or .s32`, `operand c`, `a as a register`, `not .v2`."""
    return " with ".join(map(_term, selector.terms))


def _term(term: Term) -> str:
    alternatives = sorted(term.values)
    if term.given:
        parts = [one.partition(":") for one in alternatives]
        alternatives = [f"{name} as {kind}" if kind else f"operand {name}" for name, _, kind in parts]
    text = " or ".join(value or "nothing" for value in alternatives)
    where = f" as .{term.slot}" if term.slot is not None else ""
    return f"{'not ' if term.negated else ''}{text}{where}"


def concerns(selector: Selector, fitting: Collection[Candidate]) -> bool:
    """Whether a statement may be about the spelling, by what does not depend on operands."""
    terms = [term for term in selector.terms if not term.given]
    return not fitting or any(
        all(term.holds(candidate.choices, ()) for term in terms) for candidate in fitting
    )


def _wanted(
    candidate: Candidate, places: tuple[Place, ...], within: str = ""
) -> Iterator[tuple[str, str]]:
    for place in places:
        optional = within or ("optional: " if place.groups else "")
        if place.parts:
            inner = list(_wanted(candidate, place.parts, optional))
            yield inner[0][0], inner[0][1] + _suffixes(place)
            yield from inner[1:]
        else:
            text = optional + summarize(candidate.operand(place))
            yield place.name, text + _suffixes(place)
        if place.pair:
            optional = "optional: " if place.paired == "{" else within
            yield place.pair, optional + summarize(candidate.operand(Place(place.pair)))


def _suffixes(place: Place) -> str:
    if not place.suffixes:
        return ""
    few = len(place.suffixes) <= _FEW
    listed = ", ".join(place.suffixes) if few else f"{place.suffixes[0]} to {place.suffixes[-1]}"
    return f" ({listed} may follow)"


_FEW = 8
