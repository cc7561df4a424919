"""The operand at the cursor, and the table's requirements for it."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.ide.cursor.partial_statement import PartialStatement
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.match import arrangements
from ptx_lsp.isa.matching.resolve import resolve, unfinished
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.named_tuple import NamedTuple

_OPEN = {"(": ")", "[": "]", "{": "}"}
_SHAPES = {"[": "address", "{": "vector", "(": "list"}


class Depth(NamedTuple):
    """An open bracket before the cursor, and the number of commas in it."""

    bracket: str
    commas: int


class Wanted(NamedTuple):
    """The operands allowed at the cursor in one form of the instruction."""

    candidate: Candidate
    place: Place
    operand: Operand
    is_element: bool
    """Whether the cursor is in braces or parentheses: one element of the operand is typed."""


def depths(typing: PartialStatement) -> tuple[int, tuple[Depth, ...]]:
    """The index of the operand at the cursor, and its open brackets."""
    commas = 0
    found: list[Depth] = []
    for word in typing.operand_tokens:
        if word in _OPEN:
            found.append(Depth(word, 0))
        elif word in _OPEN.values():
            if found:
                found.pop()
        elif word == ",":
            if found:
                found[-1] = Depth(found[-1].bracket, found[-1].commas + 1)
            else:
                commas += 1
    return commas, tuple(found)


def is_paired(typing: PartialStatement) -> bool:
    """Whether the cursor follows a `|`: the second destination is being typed."""
    return typing.operand_tokens[-1:] == ("|",)


def is_beyond(typing: PartialStatement) -> bool:
    """Whether all operands of every form precede the cursor."""
    index, _ = depths(typing)
    forms = [
        places
        for candidate in _candidates(typing.spelling)
        for places in arrangements(candidate.form.places)
    ]
    return bool(forms) and all(index >= len(places) for places in forms)


def wanted(typing: PartialStatement) -> tuple[Wanted, ...]:
    """The requirements at the cursor of each form that the spelling matches or may still match. Forms with
    other brackets before, or with more operands if the statement ends here, are left out if there are others.
    """
    index, inner = depths(typing)
    is_element = any(depth.bracket != "[" for depth in inner)
    before = _brackets(typing)
    near: list[Wanted] = []
    found: list[Wanted] = []
    for candidate in _candidates(typing.spelling):
        for places in arrangements(candidate.form.places):
            if index < len(places):
                place = _inner(candidate, places[index], inner, is_paired(typing))
                if place is not None:
                    one = Wanted(candidate, place, candidate.operand(place), is_element)
                    is_last = typing.next_token != ";" or bool(inner) or len(places) == index + 1
                    is_near = is_last and all(map(_is_shaped, places[:index], before))
                    (near if is_near else found).append(one)
    return tuple(dict.fromkeys(near or found))


def _brackets(typing: PartialStatement) -> list[str]:
    """The bracket with which each operand before the cursor begins; empty for one without."""
    found: list[str] = []
    depth, begins = 0, True
    for word in typing.operand_tokens:
        if begins:
            found.append(word if word in _OPEN else "")
        depth += (word in _OPEN) - (word in _OPEN.values())
        begins = word == "," and not depth
    return found


def _is_shaped(place: Place, bracket: str) -> bool:
    """Whether an operand that begins with a bracket may be at a place."""
    return place.shape == _SHAPES.get(bracket, "plain") or (bracket == "{" and place.shape == "plain")


def is_known(spelling: str) -> bool:
    """Whether the table has the opcode with these modifiers."""
    return bool(_candidates(spelling))


def _candidates(spelling: str) -> Sequence[Candidate]:
    return resolve(spelling).candidates or unfinished(spelling)


def _inner(
    candidate: Candidate, place: Place, inner: tuple[Depth, ...], paired: bool
) -> Place | None:
    """The place within the brackets that are open; None where the form has none of these."""
    if not inner:
        if place.shape != "plain":
            return None  # the bracket comes first
        return Place(place.pair) if paired and place.pair else place
    bracket, commas = inner[0]
    shape = _SHAPES[bracket]
    if place.shape == shape:
        if bracket == "[" and not commas and len(inner) == 1:
            return place
        parts = place.parts or (place,)
        part = parts[min(commas, len(parts) - 1)]
        return _inner(candidate, part, inner[1:], paired) if len(inner) > 1 else part
    if bracket == "{" and place.shape == "plain":  # a vector where the row has one name for all of it
        return place if len(inner) == 1 else None
    return None
