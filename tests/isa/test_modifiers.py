"""Every modifier, type and state space has its sentence."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.modifiers import lookup as modifiers
from ptx_lsp.isa.modifiers.lookup import describe, meanings
from ptx_lsp.isa.schema.table import all_entries
from ptx_lsp.isa.spaces import SPACES
from ptx_lsp.isa.types import TYPES

USES = [
    (opcode, modifier)
    for modifier in modifiers.modifiers()
    for meaning in meanings(modifier)
    for opcode in meaning.opcodes
]


def test_every_modifier_of_the_table_is_described() -> None:
    words = {(row.opcode, word) for row in all_entries() for form in row.forms for word in form.words}
    assert len({word for _, word in words}) > 500
    assert [use for use in sorted(words) if describe(*use) is None] == []
    assert words <= set(USES)


def test_suffixes_of_operands_are_described() -> None:
    assert {("vadd", ".h1"), ("vadd4", ".b7654"), ("ld", ".unified")} <= set(USES)


def test_sentences_say_something() -> None:
    for opcode, modifier in USES:
        found = describe(opcode, modifier)
        assert found is not None
        _is_sentence(found.summary, modifier)
    for name, type in TYPES.items():
        _is_sentence(type.summary, name)
    for name, space in SPACES.items():
        _is_sentence(space.summary, name)
        assert space.access and space.lifetime


def _is_sentence(text: str, name: str) -> None:
    assert text.endswith("."), text
    assert text[0].isupper() or text[0] in ".0123456789" or text.startswith("mbarrier"), text
    assert "<" not in text and "  " not in text, text
    assert text.rstrip(".").casefold() not in (name.casefold(), name[1:].casefold()), text
    assert len(text.split()) >= 2, text


@pytest.mark.parametrize(
    ("opcode", "modifier", "part"),
    [
        ("mul", ".hi", "upper half of the product"),
        ("mul.hi.s32", ".hi", "upper half of the product"),
        ("setp", ".hi", "as unsigned numbers"),
        ("mul24", ".hi", "47 to 16"),
        ("mma", ".m16n8k32", "A is 16 by 32, B is 32 by 8, and the sum is 16 by 8"),
        ("tcgen05", ".x16", "16 pieces"),
        ("tcgen05", ".x1", "One piece"),
        ("ld", ".L2::128B", "the 128 bytes"),
        ("cvt", ".e4m3x2", "Two .e4m3 in 16 bits"),
        ("ld", ".shared", "one part for each CTA"),
        ("isspacep", ".shared", "Asks whether"),
        ("atom", ".and", "bit by bit"),
        ("setp", ".and", "predicate c"),
        ("shf", ".clamp", "Limits the shift"),
        ("suld", ".clamp", "nearest place"),
    ],
)
def test_meaning_depends_on_the_opcode(opcode: str, modifier: str, part: str) -> None:
    found = describe(opcode, modifier)
    assert found is not None
    assert part in found.summary


def test_what_does_not_exist_is_not_described() -> None:
    assert describe("add", ".wider") is None
    assert describe("mul", ".trans") is None
    assert meanings(".wider") == ()


def test_meanings_have_their_opcodes() -> None:
    users = {opcode for meaning in meanings(".hi") for opcode in meaning.opcodes}
    assert {"mul", "mad", "dp2a", "setp"} <= users
    assert len(meanings(".hi")) == 4
    assert [meaning.kind for meaning in meanings(".e4m3")] == ["type"]


def test_every_line_is_about_the_table() -> None:
    """No line names an opcode that has no such modifier, and none is hidden by another."""
    said: dict[str, set[tuple[str, str]]] = {}
    for opcode, modifier in USES:
        found = describe(opcode, modifier)
        assert found is not None
        for user in (opcode, ""):
            said.setdefault(user, set()).add((modifier, found.summary))
    for row in modifiers.descriptions():
        for opcode in row.opcodes or ("",):
            assert any(row.of(name) == text for name, text in said[opcode]), (opcode, row.sentence)
        for name in row.names:
            assert any(name == one for user in row.opcodes or ("",) for one, _ in said[user]), name


@pytest.mark.parametrize(
    ("name", "initialisable"), [(".global", True), (".const", True), (".shared", False), (".reg", False)]
)
def test_state_spaces(name: str, initialisable: bool) -> None:
    assert SPACES[name].initialisable is initialisable
    assert SPACES[name].name == name
