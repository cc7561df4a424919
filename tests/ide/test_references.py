"""Where names are used, and how."""

from __future__ import annotations

from ptx_lsp.ide.editing.linked_editing import linked_editing
from ptx_lsp.ide.navigation.references import references
from tests.ide.cursor import at_cursor


def check_references(text: str, *expected: str) -> None:
    """`expected` has a line (from 1, in the text given) and how it is used there."""
    module, offset = at_cursor(text)
    first = module.document.source.line_of(module.document.source.text.find(text.split("<", 1)[0]))
    found = [
        f"{module.document.source.line_of(one.span.start) + 1 - first} {one.use}"
        for one in references(module, offset)
    ]
    assert found == list(expected)


def test_a_register() -> None:
    check_references(
        ".reg .b32 x;\nmov.b32 x, 1;\nadd.s32 x, x<CURSOR>, 1;\nst.global.u32 [%rd1], x; // x",
        "1 declaration", "2 write", "3 write", "3 read", "4 read",
    )


def test_a_register_that_is_read_and_written_at_once() -> None:
    check_references(
        ".reg .b64 d<4>;\n.reg .f32 a<CURSOR>;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
        "{a, %f1, %f2, %f3}, d1, d2, 1, 1, 1, 0, 0;",
        "2 declaration", "3 both",
    )


def test_a_guard_and_a_pair() -> None:
    check_references(
        ".reg .pred q;\nsetp.eq.s32 %p1|q, %r1, 2;\n@!q<CURSOR> bra L;\nL: selp.b32 %r1, 1, 2, q;",
        "1 declaration", "2 write", "3 read", "4 read",
    )


def test_addresses_and_vectors() -> None:
    check_references(
        ".reg .b64 a;\nld.global.v2.b32 {%r1, %r2}, [a<CURSOR>+4];\nst.global.b64 [a], a;",
        "1 declaration", "2 read", "3 read", "3 read",
    )
    check_references(
        ".reg .b32 a;\nld.global.v2.b32 {a<CURSOR>, %r2}, [%rd1];\nst.global.v2.b32 [%rd1], {a, a};",
        "1 declaration", "2 write", "3 read", "3 read",
    )


def test_one_register_of_a_range() -> None:
    check_references(
        ".reg .b32 x<20>;\nmov.b32 x1, x10;\nmov.b32 x10, x1<CURSOR>;\nmov.b32 x01, 1;",
        "1 declaration", "2 write", "3 read", "4 write",
    )


def test_all_registers_of_a_range() -> None:
    check_references(".reg .b32 x<CURSOR><4>;\nmov.b32 x1, x2;\n{ .reg .b32 x1; mov.b32 x1, 1; }",
                     "1 declaration", "2 write", "2 read")


def test_names_of_inner_blocks_are_others() -> None:
    check_references(
        ".reg .b32 x;\nmov.b32 x<CURSOR>, 1;\n{ .reg .b32 x; mov.b32 x, 2; }", "1 declaration", "2 write"
    )


def test_memory() -> None:
    check_references(
        ".shared .b32 s;\nst.shared.b32 [s], 1;\nld.shared.b32 %r1, [s<CURSOR>];\nmov.b32 %r1, s;\n"
        "atom.shared.add.u32 %r1, [s], 1;",
        "1 declaration", "2 write", "3 read", "4 other", "5 both",
    )


def test_a_label() -> None:
    check_references(
        "L: bra L<CURSOR>;\nT: .branchtargets L, L;", "1 declaration", "1 other", "2 other", "2 other"
    )


def test_a_function_over_the_file() -> None:
    check_references(
        ".func f();\n.func f() { ret; }\n.global .u64 t = f;\n.entry k() { call f<CURSOR>; call f; }\n"
        ".entry l() { .reg .b32 f; mov.b32 f, 1; }",
        "1 declaration", "2 declaration", "3 other", "4 other", "4 other",
    )


def test_a_variable_of_the_file() -> None:
    check_references(
        ".global .b32 v;\n.entry k() { st.global.b32 [v<CURSOR>], 1; }\n.func g() { prefetch.L1 [v]; }",
        "1 declaration", "2 write", "3 other",
    )


def test_a_range_of_the_file() -> None:
    text = (
        ".shared .b32 s<3>;\n.reg .b32 x<4>;\n.global .u64 t = s1;\n"
        ".func f() {\nmov.b32 x1, 2;\nadd.s32 x2, x01, x2;\nmov.b32 x1, s1;\n}\n.func g() { mov.b32 x1, s2; }"
    )
    one = ("2 declaration", "5 write", "6 read", "7 write", "9 write")
    check_references(text.replace("mov.b32 x1,", "mov.b32 x<CURSOR>1,", 1), *one)
    every = ("2 declaration", "5 write", "6 write", "6 read", "6 read", "7 write", "9 write")
    check_references(text.replace("x<", "x<CURSOR><", 1), *every)
    check_references(text.replace("= s1", "= s<CURSOR>1"), "1 declaration", "3 other", "7 other")
    check_references(text.replace("s<", "s<CURSOR><", 1), "1 declaration", "3 other", "7 other", "9 other")


def test_linked_editing_is_for_single_local_names() -> None:
    module, offset = at_cursor(".reg .b32 x;\nmov.b32 x<CURSOR>, 1;")
    assert len(linked_editing(module, offset)) == 2
    module, offset = at_cursor("mov.b32 %r1<CURSOR>, 1;")
    assert linked_editing(module, offset) == ()
