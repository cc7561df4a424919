"""The constraints and templates of LLVM."""

from __future__ import annotations

from ptx_lsp.embedded.llvm_constraints import Passed, constraints, llvm_template
from ptx_lsp.embedded.mapped_text import Builder, MappedText
from ptx_lsp.text import Span


def _plain(text: str) -> MappedText:
    builder = Builder()
    builder.add(text.encode(), Span(0, len(text)), "same", lambda written: written)
    return builder.text()


def _with_hole(before: str, after: str) -> MappedText:
    builder = Builder()
    builder.add(before.encode(), Span(0, len(before)), "same", lambda written: written)
    builder.hole(b"x", Span(len(before), len(before) + 3), lambda written: None)
    start = len(before) + 3
    builder.add(after.encode(), Span(start, start + len(after)), "same", lambda written: written)
    return builder.text()


def _types(text: str) -> list[tuple[str, str | None, str]]:
    return [(one.name, one.type, one.access) for one in constraints(_plain(text)).operands]


def test_operands_are_numbered_in_the_order_of_the_constraints() -> None:
    assert _types("=r,=d,l,h") == [
        ("$0", ".b32", "write"),
        ("$1", ".f64", "write"),
        ("$2", ".b64", "read"),
        ("$3", ".b16", "read"),
    ]


def test_each_letter_of_nvptx_has_its_register() -> None:
    found = [type for _, type, _ in _types("b,c,h,r,l,N,q,f,d,n,m")]
    assert found == [
        ".pred", ".b16", ".b16", ".b32", ".b64", ".b64", ".b128", ".f32", ".f64", None, None,
    ]  # fmt: skip


def test_a_tied_input_has_the_type_of_its_output() -> None:
    last = constraints(_plain("=r,=&l,1")).operands[2]
    assert (last.type, last.tied_to, last.access) == (".b64", "$1", "read")


def test_the_early_clobber_is_seen() -> None:
    assert [one.early_clobber for one in constraints(_plain("=&r,=r")).operands] == [True, False]


def test_clobbers_are_no_operands() -> None:
    found = constraints(_plain("=r, r ,~{memory}"))
    assert len(found.operands) == 2
    assert [(one.name, one.span) for one in found.clobbers] == [("memory", Span(7, 16))]


def test_constraints_stand_where_they_are_written() -> None:
    spans = [one.constraint_span for one in constraints(_plain("=r,=&l,f")).operands]
    assert spans == [Span(0, 2), Span(3, 6), Span(7, 8)]


def test_inputs_have_their_expressions_and_outputs_none() -> None:
    found = constraints(_plain("=r,r,l"), [Passed("a", Span(50, 51)), Passed("b+1", Span(53, 56))])
    assert [one.expression for one in found.operands] == ["", "a", "b+1"]
    assert found.operands[2].expression_span == Span(53, 56)


def test_no_constraints_are_no_operands() -> None:
    assert constraints(_plain("")) == ((), (), True)


def test_a_constraint_with_an_unknown_letter_is_an_operand_of_unknown_type() -> None:
    found = constraints(_with_hole("=", ",h"))
    assert [(one.type, one.access) for one in found.operands] == [(None, "write"), (".b16", "read")]
    assert not found.are_known


def test_numbers_behind_an_unknown_part_are_unknown_but_not_its_clobbers() -> None:
    found = constraints(_with_hole("=r,", ",l,~{memory}"))
    assert [one.type for one in found.operands] == [".b32", None]
    assert [one.name for one in found.clobbers] == ["memory"]


def _template(text: str) -> str:
    return llvm_template(_plain(text)).data.decode()


def test_operands_with_and_without_braces_and_modifiers() -> None:
    assert _template("add $0, ${1}, ${2:r};") == "add $0, $1, $2;"


def test_two_dollar_signs_are_one() -> None:
    assert _template("$$L1: bra $$L1; {p|q}") == "$L1: bra $L1; {p|q}"


def test_of_variants_the_first_is_taken() -> None:
    assert _template("a$(b$|c$|d$)e{f|g}") == "abe{f|g}"


def test_marks_of_variants_outside_of_them_are_a_brace_and_a_bar() -> None:
    assert _template("p$|q; $)") == "p|q; }"


def test_special_references() -> None:
    assert _template("L${:uid}: ${:comment} end") == "L0: // end"


def test_a_map_leads_through_replaced_references() -> None:
    text = llvm_template(_plain("mov ${0}, $1;"))
    assert text.host_span(Span(4, 6)) == Span(4, 8)
    assert text.host_span(Span(8, 10)) == Span(10, 12)


def test_dollar_signs_are_written_twice_except_those_of_operands() -> None:
    text = llvm_template(_plain("mov $0, $1;"))
    assert text.encode_at(0)("$L $1") == "$$L $1"
