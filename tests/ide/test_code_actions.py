"""What can be done, and what becomes of the text then."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.editing.code_actions import Action, code_actions, fix_all
from ptx_lsp.lint.configuration.suppression import suppressed
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit, Span
from tests.ide.cursor import HEADER, at_cursor, body, edited


def actions(text: str) -> tuple[Module, tuple[Action, ...]]:
    module, offset = at_cursor(text)
    return module, code_actions(module, LintSession(module).diagnostics, Span(offset, offset))


def check_action(text: str, title: str, expected: str) -> None:
    module, found = actions(text)
    action = next((one for one in found if one.title == title), None)
    assert action is not None, [one.title for one in found]
    after = edited(module, action.edits)
    if "\n.entry" not in text and ".version" not in text:
        after = body(after)
    assert after.removeprefix(HEADER) == expected


def titles(text: str) -> list[str]:
    return [one.title for one in actions(text)[1]]


def test_the_fix_of_a_finding() -> None:
    check_action("mov.u32 %r1, %laneid.<CURSOR>x;", "Delete `.x`", "mov.u32 %r1, %laneid;")


def test_fixes_are_for_what_the_cursor_touches() -> None:
    assert "Delete `.x`" not in titles("mov.u32 %r1, %laneid.x;\nre<CURSOR>t;")


def test_fixes_are_offered_anywhere_on_the_line() -> None:
    for text in (
        "<CURSOR>    mov.u32 %r1, %laneid.x;", "    mo<CURSOR>v.u32 %r1, %laneid.x;",
        "    mov.u32 %r1, <CURSOR>%laneid.x;", "    mov.u32 %r1, %laneid.x; // a comment<CURSOR>",
    ):
        check_action(text, "Delete `.x`", text.replace("<CURSOR>", "").replace(".x;", ";").strip("\n"))
    text = "mov.u32 %r1, %laneid.x; mov.u32 %r2, %warp<CURSOR>id.y;"
    assert [title for title in titles(text) if title.startswith("Delete")] == ["Delete `.y`", "Delete `.x`"]


def test_all_fixes_of_a_rule() -> None:
    check_action(
        "mov.u32 %r1, %laneid.<CURSOR>x;\nmov.u32 %r2, %warpid.y;",
        "Fix all 2 findings of `unknown-component`",
        "mov.u32 %r1, %laneid;\nmov.u32 %r2, %warpid;",
    )


def test_equal_fixes_to_choose_from() -> None:
    text = "min.b<CURSOR>32 %r1, %r2, %r3;"
    check_action(text, "Replace with `.u32`", "min.u32 %r1, %r2, %r3;")
    check_action(text, "Replace with `.s32`", "min.s32 %r1, %r2, %r3;")
    check_action("a<CURSOR>d.s32 %r1, %r2, %r3;", "Replace with `addc`", "addc.s32 %r1, %r2, %r3;")
    assert not [one for one in actions(text)[1] if one.is_preferred]


def test_alternatives_are_not_applied_unasked() -> None:
    module, _ = at_cursor("<CURSOR>min.b32 %r1, %r2, %r3;")
    diagnostics = LintSession(module).diagnostics
    assert fix_all(diagnostics) == fix_all(diagnostics, "wrong-modifier") == ()


def test_all_safe_fixes() -> None:
    module, _ = at_cursor("<CURSOR>mov.u32 %r1, %laneid.x;\nmov.u32 %r2, %warpid.y;\nadd.s32 %r1, %r1 2;")
    edits = fix_all(LintSession(module).diagnostics)
    assert body(edited(module, edits)).startswith("mov.u32 %r1, %laneid;\nmov.u32 %r2, %warpid;\n")


def test_a_comment_that_silences() -> None:
    for title in ("Ignore `unused-register` on this line", "Ignore `unused-register` in this file"):
        module, found = actions(".reg .b32 unus<CURSOR>ed;")
        (action,) = (one for one in found if one.title == title)
        after = Module.parse(edited(module, action.edits))
        linting = LintSession(after)
        ran = [rule.name for rule in linting.rules]
        rules = [one.rule for one in suppressed(linting.diagnostics, after.document.source, ran)]
        was = [one.rule for one in LintSession(module).diagnostics]
        assert "unused-register" in was
        assert "unused-suppression" not in rules
        shown = {one.span for one in suppressed(linting.diagnostics, after.document.source, ran)
                 if one.rule == "unused-register"}
        assert not any(after.document.source.decoded(*span) == "unused" for span in shown)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (
            "ret<CURSOR>\n;\n.version 8.5\n.target sm_90", "Move `.version 8.5` to where it belongs",
            ".version 8.5\nret\n;\n.target sm_90",
        ),
        (
            ".version 8.4\n.target sm_90\n.global .b32 x;\n.addr<CURSOR>ess_size 64\n",
            "Move `.address_size 64` to where it belongs",
            ".version 8.4\n.target sm_90\n.address_size 64\n.global .b32 x;\n",
        ),
        (".version 8.5\n.glo<CURSOR>bal .b32 x;\n", "Insert `.target sm_75`",
         ".version 8.5\n.target sm_75\n.global .b32 x;\n"),
        (".version 8.5 .glo<CURSOR>bal .b32 x;\n", "Insert `.target sm_75`",
         ".version 8.5 \n.target sm_75\n.global .b32 x;\n"),
        (".version 8.5\n.target sm<CURSOR>_9\n.global .b32 x;\n", "Ignore `unknown-target` in this file",
         "// ptx-lint: ignore-file[unknown-target]\n.version 8.5\n.target sm_9\n.global .b32 x;\n"),
    ],
)
def test_lines_that_are_added_end_as_the_others(text: str, title: str, expected: str, line_end: str) -> None:
    check_action(text.replace("\n", line_end), title, expected.replace("\n", line_end))


def test_another_target() -> None:
    check_action(
        ".version 7.0\n.target sm_80\n.entry k() { .reg .b32 %r; add.u16x<CURSOR>2 %r, %r, %r; }",
        "Change `.target` to sm_90 and `.version` to 8.0",
        ".version 8.0\n.target sm_90\n.entry k() { .reg .b32 %r; add.u16x2 %r, %r, %r; }",
    )
    check_action(
        ".version 8.0\n.target sm_80\n.entry k() .maxcluster<CURSOR>rank 4 { ret; }",
        "Change `.target` to sm_90",
        ".version 8.0\n.target sm_90\n.entry k() .maxclusterrank 4 { ret; }",
    )


def test_a_higher_version() -> None:
    check_action(
        ".version 7.0\n.target sm_80\n.func f() {\n.reg .b32 r;\n"
        "mov.u32 r, %reserved_<CURSOR>smem_offset_end; }",
        "Raise `.version` to 7.6",
        ".version 7.6\n.target sm_80\n.func f() {\n.reg .b32 r;\n"
        "mov.u32 r, %reserved_smem_offset_end; }",
    )


def test_integers_in_other_bases() -> None:
    check_action("add.s32 %r1, %r2, 25<CURSOR>5;", "Write 0xFF", "add.s32 %r1, %r2, 0xFF;")
    check_action("add.s32 %r1, %r2, 0x<CURSOR>1f;", "Write 31", "add.s32 %r1, %r2, 31;")
    check_action("add.s32 %r1, %r2, 5U<CURSOR>;", "Write 0b101U", "add.s32 %r1, %r2, 0b101U;")
    check_action(".reg .b32 x;\n.entry k() .maxntid 25<CURSOR>6 { ret; }", "Write 0x100",
                 ".reg .b32 x;\n.entry k() .maxntid 0x100 { ret; }")


def test_floats() -> None:
    check_action("add.f32 %f1, %f2, 0f3FC0<CURSOR>0000;", "Write 1.5", "add.f32 %f1, %f2, 1.5;")
    check_action("add.f32 %f1, %f2, 0.<CURSOR>1;", "Write 0f3DCCCCCD", "add.f32 %f1, %f2, 0f3DCCCCCD;")
    check_action("add.f64 %fd1, %fd2, 1<CURSOR>.0;", "Write 0d3FF0000000000000",
                 "add.f64 %fd1, %fd2, 0d3FF0000000000000;")


def test_negative_floats() -> None:
    check_action("add.f32 %f1, %f2, -1<CURSOR>.5;", "Write 0fBFC00000", "add.f32 %f1, %f2, 0fBFC00000;")
    check_action("add.f32 %f1, %f2, - <CURSOR>0.0;", "Write 0f80000000", "add.f32 %f1, %f2, 0f80000000;")
    check_action("add.f32 %f1, %f2, (-1<CURSOR>.5);", "Write 0fBFC00000", "add.f32 %f1, %f2, (0fBFC00000);")
    check_action("add.f32 %f1, %f2, 0fBF8<CURSOR>00000;", "Write -1.0", "add.f32 %f1, %f2, -1.0;")
    check_action("add.f64 %fd1, %fd2, 0d8<CURSOR>000000000000000;", "Write -0.0", "add.f64 %fd1, %fd2, -0.0;")
    check_action("add.s32 %r1, %r2, -<CURSOR>16;", "Write 0x10", "add.s32 %r1, %r2, -0x10;")


def test_no_other_spelling_where_it_would_mean_something_else() -> None:
    def rewrites(text: str) -> list[str]:
        return [one.title for one in actions(text)[1] if one.sort == "rewrite"]

    assert rewrites("mov.b32 %r1, 0f3F80<CURSOR>0000;") == []  # a decimal float is no .b32
    for given in ("- -1<CURSOR>.5", "-(1<CURSOR>.5)", "2.0-1<CURSOR>.5", "2.0*-1<CURSOR>.5", "+1<CURSOR>.5"):
        assert rewrites(f"add.f32 %f1, %f2, {given};") == []  # arithmetic takes no exact floats
    assert rewrites("mov.b32 %r1, 0x<CURSOR>1p;") == []
    assert rewrites("add.f32 %f1, %f2, 0f7FC0<CURSOR>0000;") == []
    assert rewrites(".reg .b32 x<1<CURSOR>0>;") == []
    assert rewrites(".version 8.<CURSOR>5\n.target sm_90") == []


def test_what_is_unused_is_taken_away() -> None:
    check_action("bar.sync 0;\nd<CURSOR>one: // end\nret;", "Remove `done:`", "bar.sync 0;\n// end\nret;")
    check_action("bar.sync 0;\n  d<CURSOR>one:\nret;", "Remove `done:`", "bar.sync 0;\nret;")
    check_action("bar.sync 0;\nd<CURSOR>one: ret;", "Remove `done:`", "bar.sync 0;\nret;")
    check_action("  .reg .b32 x<CURSOR>;\nret;", "Remove `x`", "ret;")
    check_action(
        ".reg .b32 x<CURSOR><3>, y;\nmov.u32 y, 1;\nst.local.u32 [0], y;", "Remove `x<3>`",
        ".reg .b32 y;\nmov.u32 y, 1;\nst.local.u32 [0], y;",
    )
    check_action(
        ".reg .b32 y, x<CURSOR>;\nmov.u32 y, 1;\nst.local.u32 [0], y;", "Remove `x`",
        ".reg .b32 y;\nmov.u32 y, 1;\nst.local.u32 [0], y;",
    )
    check_action(".shared .u32 t<CURSOR>[4];\nret;", "Remove `t`", "ret;")
    check_action("mov.u32 %r<CURSOR>1, 5;\nret;", "Remove this `mov`", "ret;")


def test_what_is_unused_outside_of_functions_is_taken_away() -> None:
    check_action(".shared .u32 t<CURSOR>[4], u;\n.entry k() { ret; }", "Remove `t`",
                 ".shared .u32 u;\n.entry k() { ret; }")
    check_action(".func f<CURSOR>()\n{\n    ret;\n}\n.entry k() { ret; }", "Remove `f`",
                 ".entry k() { ret; }")
    assert "Remove `f`" not in titles(".func f<CURSOR>();\n.func f() { ret; }\n.entry k() { ret; }")


def test_what_is_unused_is_not_taken_away_unasked() -> None:
    module, _ = at_cursor("<CURSOR>.reg .b32 x;\n.shared .u32 t;\nmov.u32 %r1, 5;\nL: ret;")
    diagnostics = LintSession(module, all_rules()).diagnostics
    assert fix_all(diagnostics) == ()
    assert body(edited(module, fix_all(diagnostics, "unused-label"))).endswith("\nret;")


def test_where_it_is_taken_away_follows_the_text_around_it() -> None:
    """A comment does not make a function be judged anew."""
    before, _ = at_cursor("<CURSOR>.reg .b32 x;\nbar.sync 0;\nL:\nret;")
    linting = LintSession(before)
    for old, new in ((b"x;", b"x; // a comment"), (b"L:", b"L: // another")):
        at = before.document.source.data.index(old)
        document = before.document.edited(Edit(at, at + len(old), new))
        before = Module(document, before)
        linting = LintSession(before, previous=linting)
    edits = fix_all(linting.diagnostics, "unused-register") + fix_all(linting.diagnostics, "unused-label")
    left = edited(before, edits).splitlines()
    assert left[-6:] == ["{", "// a comment", "bar.sync 0;", "// another", "ret;", "}"]


def test_a_second_semicolon_is_taken_away() -> None:
    check_action("bar.sync 0;<CURSOR>;\nret;", "Remove `;`", "bar.sync 0;\nret;")
    module, _ = at_cursor("<CURSOR>bar.sync 0; ;\n;\nret;")
    assert body(edited(module, fix_all(LintSession(module).diagnostics))) == "bar.sync 0;\nret;"


def test_a_missing_semicolon_is_inserted_before_an_opcode() -> None:
    check_action("ret\nr<CURSOR>et;", "Insert `;`", "ret;\nret;")
    check_action("membar.gl // all\nexi<CURSOR>t;", "Insert `;`", "membar.gl; // all\nexit;")


def test_a_range_is_made_longer() -> None:
    check_action(
        ".reg .b32 %x<20>;\nmov.u32 %x2<CURSOR>1, 1;", "Declare `%x<22>`",
        ".reg .b32 %x<22>;\nmov.u32 %x21, 1;",
    )
    assert not [one for one in titles("mov.u32 %r9999<CURSOR>999, 1;") if one.startswith("Declare")]


def test_a_function_is_taken_away_as_it_is_now() -> None:
    module, _ = at_cursor(".func f()\n{\n    <CURSOR>bar.sync 0;\n    ret;\n}\n.entry k() { ret; }")
    linting = LintSession(module)
    for new in (b"bar.sync 0;\n    bar.sync 1;", b"bar.sync 0; // first"):
        at = module.document.source.data.index(b"bar.sync 0;")
        module = Module(module.document.edited(Edit(at, at + len(b"bar.sync 0;"), new)), module)
        linting = LintSession(module, previous=linting)
    (one,) = (one for one in linting.diagnostics if one.rule == "unused-function")
    assert edited(module, one.alternatives[0].edits) == f"{HEADER}.entry k() {{ ret; }}"
