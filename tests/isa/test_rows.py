"""Every row of the table is complete."""

from __future__ import annotations

import inspect

import pytest

from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema import selector
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.isa.schema.table import all_entries
from ptx_lsp.isa.types import TYPES

ROWS = all_entries()


@pytest.mark.parametrize("entry", ROWS, ids=repr)
def test_row_is_complete(entry: Entry) -> None:
    assert entry.summary.endswith("."), "the summary is a sentence"
    assert entry.example.endswith(";") or entry.example.endswith(":")
    assert entry.example.partition(" ")[0].startswith((entry.opcode, "@", "{", "."))
    assert entry.forms
    assert entry.needs, "a row says since when it exists"
    assert entry.needs[0].because.text == "", "the first requirement is of every spelling"
    assert all(sentence for _, sentence in entry.exceptions)


@pytest.mark.parametrize("entry", ROWS, ids=repr)
def test_row_names_only_what_its_forms_have(entry: Entry) -> None:
    words = {word for form in entry.forms for word in form.words}
    slots = {slot.name for form in entry.forms for slot in form.slots}
    places = {name for form in entry.forms for place in form.places for name in _names(place)}
    assert set(entry.operands) <= places
    rules = [need.because for need in entry.needs]
    rules += [when for when, _ in entry.exceptions] + [end.when for end in entry.ends]
    rules += [selector.parse(text) for one in entry.operands.values() for text in _selectors(one)]
    for rule in rules:
        for term in rule.terms:
            if term.given:
                assert {value.partition(":")[0] for value in term.values} <= places, rule.text
            else:
                assert not term.values.isdisjoint(words | {""}), rule.text
                assert term.slot is None or term.slot in slots, rule.text


@pytest.mark.parametrize("entry", ROWS, ids=repr)
def test_slots_are_modifiers_that_exist(entry: Entry) -> None:
    for form in entry.forms:
        assert form.opcode == entry.opcode
        for slot in form.slots:
            undefined = slot.choices == (f".{slot.name}",) and slot.name in _SLOT_NAMES
            assert not undefined, f"{form.text}: .{slot.name} has no definition"


@pytest.mark.parametrize("entry", [row for row in ROWS if row.meaning], ids=repr)
def test_meaning_takes_the_operation_and_the_sources(entry: Entry) -> None:
    assert entry.meaning is not None
    signature = inspect.signature(entry.meaning)
    parameters = list(signature.parameters)
    assert parameters[0] == "op"
    if any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values()):
        return  # all forms at once: what moves vectors
    places = entry.forms[0].places[1:]
    sources = [one.name for place in places for one in (place.parts or (place,))]
    assert parameters[1 : 1 + len(sources)] == sources


_SLOT_NAMES = {"type", "dtype", "atype", "btype", "ctype", "mode", "op", "scope", "sem", "ss",
               "space", "shape", "vec", "num", "kind", "dst", "src", "level::cache_hint"}


def _names(place: object) -> set[str]:
    from ptx_lsp.isa.schema.notation import Place

    assert isinstance(place, Place)
    inner = {name for part in place.parts for name in _names(part)}
    return {place.name, place.pair, *inner} - {""}


def _selectors(operand: Operand) -> list[str]:
    rules = (operand.type, operand.elements, operand.space)
    return [text for rule in rules if not isinstance(rule, (str, int, tuple)) for text in rule]


def test_types_are_named_as_written() -> None:
    assert all(name == type.name and name.startswith(".") for name, type in TYPES.items())


def test_resolve_answers_for_anything() -> None:
    for spelling in ("", ".", "..", "add..s32", "add.", "mul.lo.s32.", "@", "add.s32" * 50):
        assert resolve(spelling).ok is False
