"""The *Syntax* of a row for people."""

from __future__ import annotations

from ptx_lsp.isa.description.syntax_text import syntax_text
from ptx_lsp.isa.schema import notation
from ptx_lsp.isa.schema.table import all_entries

TEXT = """
    op.a.type  d,
        x; .a = { .l, .r };   .type = { .u32 };
    ---
    op.b.collector{.opt}  d;
    .b = .c = { .s };
    .collector = { .collector::a::how };
    ::how = { ::fill };
"""


def test_each_statement_has_a_line() -> None:
    assert syntax_text(TEXT) == """\
op.a.type  d, x;
.a = { .l, .r };
.type = { .u32 };
-----
op.b.collector{.opt}  d;
.b = .c = { .s };
.collector = { .collector::a::how };
::how = { ::fill };"""


def test_forms_come_with_their_definitions() -> None:
    first, second = notation.read(TEXT)
    assert syntax_text(TEXT, [first]) == "op.a.type  d, x;\n.a = { .l, .r };\n.type = { .u32 };"
    assert syntax_text(TEXT, [second]).splitlines()[1:] == [
        ".b = .c = { .s };", ".collector = { .collector::a::how };", "::how = { ::fill };",
    ]


def test_definitions_of_the_own_block_count() -> None:
    text = "op.a d; .a = { .x };\n---\nop.a.c d, e; .a = { .y };\n---\nop.a.c.f d; .c = { .z };"
    _, second, third = notation.read(text)
    assert syntax_text(text, [second]) == "op.a.c d, e;\n.a = { .y };\n.c = { .z };"
    assert syntax_text(text, [third]) == "op.a.c.f d;\n.a = { .x };\n.c = { .z };"


def test_equal_lines_of_two_blocks_are_told_apart() -> None:
    text = "op.a d; .a = { .x };\n---\nop.a d; .a = { .y };"
    for form, letter in zip(notation.read(text), "xy", strict=True):
        assert syntax_text(text, [form]) == f"op.a d;\n.a = {{ .{letter} }};"


def test_what_is_shown_of_a_row_reads_as_the_row_does() -> None:
    for entry in all_entries():
        assert notation.read(syntax_text(entry.syntax)) == entry.forms, entry.name
        for form in entry.forms:
            assert set(notation.read(syntax_text(entry.syntax, [form]))) == {form}
