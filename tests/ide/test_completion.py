"""What is suggested in text that is being typed: mostly broken."""

from __future__ import annotations

from ptx_lsp.ide.completion.completion import completion, documentation
from tests.ide.cursor import at_cursor
from tests.ide.suggested import check_completion, one, suggestions

# -- opcodes and modifiers ------------------------------------------------------------------------


def test_opcodes_at_the_beginning_of_a_statement() -> None:
    check_completion("<CURSOR>", has=("add", "ld", "mapa", "bra"))
    check_completion("a<CURSOR>\nadd.s32 %r1, %r2, %r3;", has=("add", "abs"))
    check_completion("@%p1 <CURSOR>", has=("bra", "ret"))
    check_completion("L: <CURSOR>", has=("add",))
    check_completion("add.s32 %r1, %r2, %r3; su<CURSOR>", has=("sub",))


def test_nothing_within_a_comment() -> None:
    for begun in ("/*", "/*/", "/* a", "/* a /", "//", "// a;", "#line"):
        assert not suggestions(f"{begun} ad<CURSOR>\n*/"), begun
    for begun in ("/*", "/*/", "/* a", "/* a /"):
        assert not suggestions(f"{begun}<CURSOR>\n*/"), begun
    check_completion("/**/ su<CURSOR>", has=("sub",))
    check_completion("// a\nsu<CURSOR>", has=("sub",))


def test_opcodes_behind_a_statement_without_its_semicolon() -> None:
    check_completion("add.s32 %r1, %r2, %r3\nsu<CURSOR>", has=("sub",))


def test_opcodes_that_the_file_cannot_have_are_not_offered() -> None:
    text = ".entry k() { <CURSOR> }"
    check_completion(f".version 6.0\n.target sm_60\n{text}", has=("add",), lacks=("wgmma", "mapa"))
    check_completion(f".version 8.0\n.target sm_90a\n{text}", has=("wgmma", "mapa"), lacks=("tcgen05",))


def test_opcodes_before_modifiers_that_stand_there() -> None:
    check_completion("m<CURSOR>ul.wide.u32 %rd1, %r2, %r3;", has=("mul", "mad"), lacks=("mov", "max"))
    check_completion("a<CURSOR>bs.s32 %r1, %r2;", has=("add", "abs"), lacks=("and", "activemask"))


def test_modifiers_are_those_that_the_notation_admits() -> None:
    check_completion("mul.<CURSOR>", has=(".wide", ".lo", ".rn", ".f32"), lacks=(".cc", ".global"))
    check_completion("mul.wide.<CURSOR>", ".u16", ".u32", ".s16", ".s32", lacks=(".u64", ".lo", ".f32"))
    check_completion("ld.global.<CURSOR>", has=(".v4", ".L1::evict_last", ".u32"), lacks=(".shared", ".ss"))
    check_completion("add.s32.<CURSOR>", lacks=(".u32",))


def test_modifiers_before_operands_that_stand_there() -> None:
    check_completion("setp.<CURSOR> %p1, %r1, %r2;", has=(".eq", ".lt"))
    check_completion("setp.lt.u<CURSOR>32 %p1, %r1, %r2;", has=(".u32", ".s32"))


def test_modifiers_behind_blanks_and_comments() -> None:
    for between in (" ", " /* c */ "):
        check_completion(f"mul.wide{between}.<CURSOR>", ".u16", ".u32", lacks=(".reg",))
    check_completion("mul.wide // c\n.<CURSOR>", ".u16", ".u32", has=(".reg",))
    check_completion("ret\n.<CURSOR>", ".uni", ".reg")
    check_completion("add.s32 %r1 .<CURSOR>", lacks=(".sat", ".reg"))


def test_modifiers_that_are_half_typed() -> None:
    check_completion("ld.global.L1::ev<CURSOR>", has=(".L1::evict_last",))


def test_modifiers_that_need_more_are_not_offered() -> None:
    check_completion("add.<CURSOR>", has=(".s32",), lacks=(".u8x4",))


def test_types_come_before_the_carry() -> None:
    for begun in ("add.", "sub.", "mad.lo.", "mad.hi."):
        labels = [found.label for found in suggestions(f"{begun}<CURSOR>")]
        assert labels.index(".s32") < labels.index(".cc"), begun


def test_modifiers_agree_with_those_behind_the_cursor() -> None:
    check_completion("mad.<CURSOR>.u16 %r1, %r2, %r3, %r4;", has=(".lo", ".wide"), lacks=(".cc", ".rn"))
    check_completion("cvt.rn.<CURSOR>.f32 %h1, %f1;", has=(".f16", ".bf16"), lacks=(".u8",))
    check_completion("ld<CURSOR>.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];", has=("ld",), lacks=("add",))


def test_operands_that_the_instruction_refuses_are_not_offered() -> None:
    refused = ("n", "out", "%rd1", "%p1", "%clock64")
    check_completion("mad.lo.s32 %r1, %r2, <CURSOR>", has=("%r3",), lacks=refused)
    check_completion("ld.global.u32 %r1, <CURSOR>", lacks=("%rd1", "out"))
    check_completion("ld.global.v2.u32 <CURSOR>", lacks=("%r1",))
    check_completion("ld.global.v2.u32 {<CURSOR>", has=("%r1",), lacks=("%p1", "%h1"))
    check_completion("ld.global.u32 %r1, [<CURSOR>", has=("%rd1",), lacks=("%r1", "%f1"))
    check_completion("mov.u32 %r1, <CURSOR>", has=("%r2", "%tid.x"), lacks=("%clock64", "%rd1"))
    check_completion("mov.u64 %rd1, <CURSOR>", has=("%rd2", "%clock64"), lacks=("%r1",))
    check_completion("mov.b64 {%r1, %r2}, <CURSOR>", has=("%rd1",), lacks=("%tid.x", "%r1"))
    check_completion(".param .b32 given;\nmov.b32 %r1, <CURSOR>", lacks=("given",))


def test_the_rest_of_the_word() -> None:
    for text, rest in {
        "ld.gl<CURSOR>obal.u32 %r1, [%rd1];": "obal",
        "ld.global.L1::ev<CURSOR>ict_last.u32 %r1, [%rd1];": "ict_last",
        "ld.sh<CURSOR>ared::cta.u32 %r1, [%r2];": "ared::cta",
        "mov.u32 %r<CURSOR>1, 2;": "1",
        "mov.u32 <CURSOR>%r1, 2;": "",
        "LO: bra L<CURSOR>O;": "O",
        'a<CURSOR>: .pragma "nounroll";': "",
        '.pragma "no<CURSOR>unroll";': "unroll",
        '.pragma "no<CURSOR>': "",
        ".version 8.<CURSOR>5\n.target sm_90\n": "5",
    }.items():
        module, offset = at_cursor(text)
        found = completion(module, offset)
        assert found is not None, text
        assert found.whole.start == found.span.start
        assert module.document.source.part(offset, found.whole.end) == rest, text


# -- operands -------------------------------------------------------------------------------------


def test_registers_of_the_right_type_come_first() -> None:
    text = ".reg .f32 x1;\n.reg .b32 x2;\n.reg .b64 x3;\n"
    check_completion(f"{text}add.s32 x<CURSOR>", "x2")
    check_completion(f"{text}add.f32 x2, x<CURSOR>", "x1")
    check_completion(f"{text}ld.global.f32 x1, [x<CURSOR>", "x3")
    check_completion(f"{text}cvt.f32.s32 x1, x<CURSOR>;", "x2")
    check_completion(f"{text}ld.global.v2.f32 {{x<CURSOR>", "x1")
    check_completion(f"{text}mov.b32 x2, x2;\nst.global.v4.f32 [x3], {{x<CURSOR>", "x1", "x2", "x3")
    check_completion(f"{text}mov.b64 x3, x3;\nmov.b64 {{x2, x<CURSOR>", "x1", "x2")
    check_completion(f".reg .b16 x0;\n{text}mov.b32 x2, x2;\nld.global.u8 x<CURSOR>", "x0", "x2")


def test_registers_of_the_last_instructions_come_first() -> None:
    check_completion("mov.b32 %r1, 1;\nmov.b32 %r5, 2;\nadd.s32 %r6, <CURSOR>", "%r5", "%r1")


def test_registers_of_ranges() -> None:
    check_completion("mov.b32 %r1, 1;\nmov.b32 %r2, %<CURSOR>", has=("%r1", "%r3"), lacks=("%r7",))
    check_completion("mov.b32 %r7<CURSOR>", has=("%r7",), lacks=("%r71",))
    check_completion(".reg .b32 %z<100>;\nmov.b32 %z2<CURSOR>", has=("%z2", "%z20", "%z29"))


def test_names_are_those_that_are_known_here() -> None:
    text = "{ .reg .b32 inner; }\nadd.s32 <CURSOR>;\n.reg .b32 later;"
    check_completion(text, lacks=("inner", "later"))
    check_completion("{ .reg .b32 inner; mov.b32 inner, 1; add.s32 <CURSOR> }", "inner")


def test_a_guard() -> None:
    check_completion(".reg .pred q;\n@<CURSOR>", has=("q", "%p1"), lacks=("add", "%r1"))
    check_completion(".reg .pred q;\n@!<CURSOR> bra L;", has=("q",))


def test_variables_of_the_state_space_come_first() -> None:
    text = ".global .b32 g;\n.entry k(.param .b32 p) { .shared .b32 s;\n.reg .b32 %x;\n"
    assert suggestions(f"{text}ld.shared.b32 %x, [<CURSOR>")[0].label == "s"
    assert suggestions(f"{text}ld.param.b32 %x, [<CURSOR>];")[0].label == "p"
    assert suggestions(f"{text}ld.global.b32 %x, [<CURSOR>];")[0].label == "g"


def test_no_names_behind_operators() -> None:
    text = ".shared .b32 s;\n"
    load, move, add = "ld.shared.b32 %r1, [", "mov.b32 %r1, ", "add.s32 %r1, %r2, "
    for typed in (f"{load}s+", f"{load}%r1+4+", f"{move}s+", f"{add}-", f"{add}4*"):
        assert [found.label for found in suggestions(f"{text}{typed}<CURSOR>")] == ["WARP_SZ"], typed
    for typed in (f"{load}s-", f"{move}s+%", f"{add}%r3+", "bra L+", "add.f32 %f1, %f2, -"):
        assert not suggestions(f"{text}{typed}<CURSOR>"), typed
    check_completion("setp.lt.s32 %p1|<CURSOR>", "%p1")


def test_parameters_that_can_be_written_come_first() -> None:
    text = ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; .param .b32 b;\n"
    for typed, first in (("st.param.b32 [", ["r", "b"]), ("ld.param.b32 %x, [", ["a", "b"])):
        assert [found.label for found in suggestions(f"{text}{typed}<CURSOR>\n}}")][:2] == first


def test_no_operand_that_the_instruction_has_not() -> None:
    for typed in ("setp.lt.s32 %p1, %r1, %r2, ", "ret ", "add.s32 %r1, %r2, %r3, ", "exit "):
        assert not suggestions(f"{typed}<CURSOR>"), typed
    check_completion("setp.lt.and.s32 %p1, %r1, %r2, <CURSOR>", "%p1")
    check_completion("bar.sync 0, <CURSOR>", "%r1")
    check_completion("unknown.s32 %r1, %r2, %r3, <CURSOR>", has=("%r1",))


def test_labels_of_debug_information_are_not_for_branches() -> None:
    check_completion(
        "$L__tmp0: bra $L__tmp1;\nbra <CURSOR>\n$L__tmp1: ret;", has=("$L__tmp1",), lacks=("$L__tmp0",)
    )


def test_labels() -> None:
    check_completion("A: ret;\nbra <CURSOR>\nB: ret;", has=("A", "B"), lacks=("%r1",))
    check_completion("T: .branchtargets A, <CURSOR>;\nA: ret;", has=("A",))
    check_completion("T: .branchtargets A;\nA: brx.idx %r1, <CURSOR>", "T")


def test_functions_with_places_for_arguments() -> None:
    text = ".func (.param .b32 r) f(.param .b32 a, .param .b64 b) { ret; }\n.entry k() { call <CURSOR> }"
    assert one(text, "f").text == "(${1:r}), f, (${2:a}, ${3:b})"
    assert one(text.replace("call ", "call (x), "), "f").text == "f, (${1:a}, ${2:b})"
    assert one(text.replace("call <CURSOR>", "call (x), <CURSOR>, (y, z);"), "f").text == "f"
    assert one(text.replace("call <CURSOR>", "call (x), f<CURSOR>oo (y, z);"), "f").text == "f"
    assert one(text.replace("call <CURSOR>", "call <CURSOR>, (y, z);"), "f").text == "(${1:r}), f"


def test_special_registers() -> None:
    check_completion("mov.u32 %r1, %<CURSOR>", has=("%tid.x", "%laneid", "%clock"))
    check_completion("mov.u32 %r1, %ti<CURSOR>", has=("%tid.x",), lacks=("%laneid",))
    check_completion("mov.u32 %r1, %tid.<CURSOR>", ".x", ".y", ".z")
    check_completion("add.s32 %r1, %<CURSOR>", lacks=("%tid.x",))


# -- anywhere -------------------------------------------------------------------------------------


def test_nothing_in_comments() -> None:
    assert suggestions("// add<CURSOR>") == []
    assert suggestions("/* add<CURSOR> */") == []
    assert suggestions("/* add\n/ <CURSOR>") == []


def test_documentation() -> None:
    module, _ = at_cursor("<CURSOR>")
    module, _ = at_cursor(".func f(.param .b32 a) { ret; }<CURSOR>")
    assert ".func f(.param .b32 a)" in (documentation(module, "function f") or "")
    for text in ("add<CURSOR>", "mul.<CURSOR>", ".<CURSOR>", "mov.u32 %r1, %<CURSOR>", '.pragma "<CURSOR>'):
        found = [documentation(module, s.key) for s in suggestions(text) if s.key]
        assert found
        assert all(found)
