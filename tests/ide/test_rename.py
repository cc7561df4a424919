"""New names, and why not."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.editing.rename import RenameError, prepare_rename, rename
from tests.ide.cursor import HEADER, at_cursor, body, edited


def check_rename(text: str, new: str, expected: str) -> None:
    module, offset = at_cursor(text)
    assert prepare_rename(module, offset).start <= offset
    after = edited(module, rename(module, offset, new))
    assert (after.removeprefix(HEADER) if ".entry" in text else body(after)) == expected


def check_refusal(text: str, new: str, message: str) -> None:
    module, offset = at_cursor(text)
    with pytest.raises(RenameError) as error:
        rename(module, offset, new)
    assert message in str(error.value)


def test_a_register() -> None:
    check_rename(
        ".reg .b32 x;\nadd.s32 x, x<CURSOR>, 1; // x", "%sum",
        ".reg .b32 %sum;\nadd.s32 %sum, %sum, 1; // x",
    )


def test_a_label() -> None:
    check_rename("L<CURSOR>:\n@%p1 bra L;", "LOOP", "LOOP:\n@%p1 bra LOOP;")


def test_a_register_of_a_range_gets_a_declaration_of_its_own() -> None:
    check_rename(
        "  .reg .b32 %x<4>;\n  mov.b32 %x1, %x2;\n  mov.b32 %x2, %x1<CURSOR>;", "%count",
        "  .reg .b32 %x<4>;\n  .reg .b32 %count;\n  mov.b32 %count, %x2;\n  mov.b32 %x2, %count;",
    )


def test_comments_behind_a_range_stay_there() -> None:
    for behind in (" // x /* y", "/* x */ /***/ // y", "  "):
        check_rename(
            f".reg .b32 %x<4>;{behind}\nmov.b32 %x1<CURSOR>, 1;", "%count",
            f".reg .b32 %x<4>;{behind}\n.reg .b32 %count;\nmov.b32 %count, 1;",
        )
    for behind in (" /* x */ .reg .b32 y; /* z */", " /* x\n */"):
        check_rename(
            f".reg .b32 %x<4>;{behind}\nmov.b32 %x1<CURSOR>, 1;", "%count",
            f".reg .b32 %x<4>;\n.reg .b32 %count;{behind}\nmov.b32 %count, 1;",
        )


def test_a_declaration_of_its_own_ends_as_the_lines_around_it() -> None:
    check_rename(
        ".entry k()\r\n{\r\n  .reg .b32 %x<4>;\r\n  mov.b32 %x1<CURSOR>, 1;\r\n}", "%count",
        ".entry k()\r\n{\r\n  .reg .b32 %x<4>;\r\n  .reg .b32 %count;\r\n  mov.b32 %count, 1;\r\n}",
    )


def test_a_range_keeps_its_numbers() -> None:
    check_rename(
        ".reg .f32 %x<CURSOR><4>;\nadd.f32 %x1, %x2, %x03;", "%acc",
        ".reg .f32 %acc<4>;\nadd.f32 %acc1, %acc2, %acc03;",
    )


def test_a_range_of_the_file_keeps_its_numbers() -> None:
    check_rename(
        ".shared .b32 s<CURSOR><3>;\n.global .u64 t = s1;\n.entry k() { mov.u32 %r1, s2; }", "a",
        ".shared .b32 a<3>;\n.global .u64 t = a1;\n.entry k() { mov.u32 %r1, a2; }",
    )


def test_a_function_with_its_declarations_and_debugging_data() -> None:
    check_rename(
        ".func f(.param .b32 a);\n.func f(.param .b32 a) { ret; }\n.entry k() { call f<CURSOR>, (1); }\n"
        ".section .debug_info {\n.b64 f\n}\n", "g",
        ".func g(.param .b32 a);\n.func g(.param .b32 a) { ret; }\n.entry k() { call g, (1); }\n"
        ".section .debug_info {\n.b64 g\n}\n",
    )


def test_a_parameter_with_its_declarations() -> None:
    check_rename(
        ".func f(.param .b32 a, .param .b32 b);\n.func f(.param .b32 a, .param .b32 b) {\n.reg .b32 a2;\n"
        "ld.param.b32 a2, [a<CURSOR>]; }\n.entry k() { ret; }", "size",
        ".func f(.param .b32 size, .param .b32 b);\n.func f(.param .b32 size, .param .b32 b) {\n"
        ".reg .b32 a2;\nld.param.b32 a2, [size]; }\n.entry k() { ret; }",
    )


def test_a_call_prototype() -> None:
    check_rename(
        "P: .callprototype _ (.param .b32 _);\ncall %rd1, (1), P<CURSOR>;", "Q",
        "Q: .callprototype _ (.param .b32 _);\ncall %rd1, (1), Q;",
    )


def test_refusals() -> None:
    text = ".reg .b32 x, y;\nadd.s32 x<CURSOR>, y, 1;"
    check_refusal(text, "1x", "is not a valid PTX name")
    check_refusal(text, "a b", "is not a valid PTX name")
    check_refusal(text, "$", "is not a valid PTX name")
    check_refusal(text, "_", "is a name of PTX itself")
    check_refusal(text, "y", "`y` is already declared in this function, in line 12")
    check_refusal(text, "%r3", "`%r3` is already declared in this function, in line 7")
    check_refusal(text, "n", "`n` is already declared")
    check_refusal(text, "%laneid", "is a name of PTX itself")
    check_refusal(text, "WARP_SZ", "is a name of PTX itself")
    check_refusal("mov.u32 %r1, %ti<CURSOR>d.x;", "x", "`%tid` is a name of PTX itself")
    check_refusal(".reg .b32 %x<CURSOR><4>;", "%x1", "cannot end in a digit")
    check_refusal(".reg .b32 %x<CURSOR><4>;\n.reg .b32 %y3;", "%y", "`%y3` is already declared or used")
    check_refusal(".extern .func f();\n.entry k() { call f<CURSOR>; }", "g", "another file defines `f`")
    check_refusal(
        ".global .b32 g;\n.func f() { ret; }\n.entry k() { call f<CURSOR>; }", "g", "`g` is already declared"
    )
    check_refusal(
        ".func f() { ret; }\n.entry k() { .reg .b32 g; call f<CURSOR>; }", "g",
        "`g` is already declared in this function",
    )
    check_refusal(
        ".global .b32 g;\n.entry k() { .reg .b32 x<CURSOR>; st.b32 [g], x; }", "g", "uses a `g` of the file"
    )
    check_refusal(
        ".reg .b32 x<4>;\n.entry k() { mov.b32 x<CURSOR>1, 2; }", "y",
        "`x1` is part of a register range declared for the whole file",
    )
    check_refusal(
        ".shared .b32 s<4>;\n.entry k() { mov.b32 %r1, s<CURSOR>1; }", "t1",
        "`s1` is part of the range `s<...>`, which is contiguous in memory",
    )
    check_refusal(
        ".shared .b32 t1;\n.shared .b32 s<CURSOR><4>;\n.entry k() { ret; }", "t", "`t1` is already declared"
    )
    check_refusal("add<CURSOR>.s32 %r1, %r2, 1;", "x", "no name declared in this file")


def test_a_label_that_debugging_data_may_mean_or_not() -> None:
    text = ".entry k() { L: bra L<CURSOR>; }\n.entry l() { L: bra L; }\n.section .debug_x {\n.b64 L\n}"
    check_refusal(text, "M", "is a label in several functions")
