"""The reader of the manual's Syntax notation."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.schema.notation import Place, read


def _slots(text: str) -> list[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    return [(slot.name, slot.choices, slot.groups) for slot in read(text)[0].slots]


def _operands(text: str) -> tuple[Place, ...]:
    return read(f"op {text};")[0].places


def test_slots_and_literals() -> None:
    text = "mul.mode.s32 d, a; .mode = { .hi, .lo };"
    assert _slots(text) == [("mode", (".hi", ".lo"), ()), ("s32", (".s32",), ())]


def test_groups_nest() -> None:
    slots = _slots("x{.a{.b}.c}.d;")
    assert [(name, groups) for name, _, groups in slots] == [
        ("a", (1,)), ("b", (1, 2)), ("c", (1,)), ("d", ()),
    ]


def test_a_choice_written_in_place() -> None:
    assert _slots("mad{.hi, .lo}.cc d;")[0] == ("hi", (".hi", ".lo"), (1,))


def test_tails_spread_and_substitute() -> None:
    text = "x.ss.c; .ss = { .const, .shared{::cta, ::cluster} };"
    text += " .c = { .buffer::which::op }; ::which = { ::a, ::b }; ::op = { ::use };"
    assert _slots(text)[0][1] == (".const", ".shared", ".shared::cta", ".shared::cluster")
    assert _slots(text)[1][1] == (".buffer::a::use", ".buffer::b::use")


def test_digits_count() -> None:
    (place,) = read("x d{.sel}; .sel = { .b[0-1][6-7], .h0 };")[0].places
    assert place.suffixes == (".b06", ".b07", ".b16", ".b17", ".h0")


def test_one_definition_for_two_slots_and_blocks_of_their_own() -> None:
    first, second = read(
        """
        x.k.d.a  d;
        .d = .a = { .u32 };
        .k = { .one };
        -----
        x.k.d  d;
        .k = { .two };
        """
    )
    assert [slot.choices for slot in first.slots] == [(".one",), (".u32",), (".u32",)]
    assert [slot.choices for slot in second.slots] == [(".two",), (".u32",)]


def test_a_repeated_literal_has_slots_of_its_own() -> None:
    assert [name for name, _, _ in _slots("mma.f16.f16 d;")] == ["f16", "f16#2"]


def test_operands() -> None:
    destination, source, optional = _operands("d{|p}, {!}c{, e}")
    assert (destination.pair, destination.paired) == ("p", "{")
    assert source.negatable == "!"
    assert optional.groups == (1,)
    assert [place.shape for place in _operands("(r), f, (p)")] == ["list", "plain", "list"]


def test_what_may_follow_an_operand() -> None:
    form = read("vadd.s32 d, {-}a{.asel}; .asel = { .b0, .h1 };")[0]
    assert (form.places[1].suffixes, form.places[1].negatable) == ((".b0", ".h1"), "-")


def test_addresses_and_vectors() -> None:
    tensor, tail = _operands("[t, {c0, c1}], [a]{.unified}")
    assert tensor.parts[1].shape == "vector"
    assert [part.name for part in tensor.parts[1].parts] == ["c0", "c1"]
    assert tail.suffixes == (".unified",)
    texture = _operands("[a, {b,} c]")[0]
    assert [(part.name, part.groups) for part in texture.parts] == [
        ("a", ()), ("b", (1,)), ("c", ()),
    ]


@pytest.mark.parametrize("text", [".mode { .hi };", "=;", "x. d;"])
def test_what_is_not_understood_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="not"):
        read(text)
