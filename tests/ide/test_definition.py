"""Where names lead."""

from __future__ import annotations

from ptx_lsp.ide.navigation.definition import declarations_at, definitions, type_definitions
from tests.ide.cursor import at_cursor, inner

FUNCTIONS = """.extern .func f(.param .b32 a);
.func f(.param .b32 a) { ret; }
.func g(.param .b32 a);
.alias g, f;
.entry k() { call %s, (1); call g, (1); }
"""


def check_definition(text: str, *lines: int) -> None:
    module, offset = at_cursor(text)
    found = definitions(module, offset)
    assert [module.document.source.line_of(span.start) + 1 for span in found] == list(lines)


def test_a_register_of_a_range() -> None:
    check_definition("add.s32 %r1, %r<CURSOR>2, 3;", 7)


def test_a_register_of_an_inner_block() -> None:
    check_definition(".reg .b32 x;\n{ .reg .b32 x;\nmov.b32 x<CURSOR>, 1; }", 13)


def test_a_label() -> None:
    check_definition("bra L<CURSOR>;\nL: ret;", 13)


def test_a_parameter() -> None:
    check_definition("ld.param.u32 %r1, [n<CURSOR>];", 4)


def test_a_function_has_its_body_as_definition_and_all_declarations() -> None:
    text = FUNCTIONS.replace("%s", "f<CURSOR>")
    check_definition(text, 5)
    module, offset = at_cursor(text)
    assert len(declarations_at(module, offset)) == 2


def test_an_alias_leads_to_the_function() -> None:
    check_definition(FUNCTIONS.replace("%s", "f").replace("call g", "call g<CURSOR>"), 5)


def test_a_variable_that_is_declared_and_defined() -> None:
    text = ".extern .global .b32 v;\n.global .b32 v = 1;\n.entry k() { .reg .b64 a; mov.b64 a, v<CURSOR>; }"
    check_definition(text, 5)


def test_a_label_of_debugging_data() -> None:
    text = '.file 1 "a"\n.entry k() {\n.loc 1 2 3, function_name N<CURSOR>AME, inlined_at 1 2 3\nret; }\n'
    check_definition(text + ".section .debug_str {\nNAME:\n.b8 0\n}", 9)


def test_the_type_of_a_register() -> None:
    module, offset = at_cursor("add.f32 %f1, %f<CURSOR>2, %f3;")
    (span,) = type_definitions(module, offset)
    assert inner(module, *span) == ".f32"


def test_nothing_leads_from_special_registers() -> None:
    check_definition("mov.u32 %r1, %ti<CURSOR>d.x;")
    check_definition("mov.u32 %r1, nothing<CURSOR>;")
