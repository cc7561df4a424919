"""What is suggested in directives that are being typed."""

from __future__ import annotations

from ptx_lsp.ide.completion.completion import completion
from tests.ide.cursor import at_cursor
from tests.ide.suggested import check_completion, one, suggestions


def test_directives_by_place() -> None:
    check_completion(".<CURSOR>", has=(".reg", ".shared", ".loc", ".pragma"), lacks=(".entry", ".maxntid"))
    check_completion(".version 8.0\n.target sm_90\n.<CURSOR>", has=(".entry", ".global"), lacks=(".maxntid",))
    check_completion(".version 8.0\n.<CURSOR>", has=(".target",), lacks=(".version",))
    check_completion(".entry k()\n.<CURSOR>\n{ ret; }", has=(".maxntid", ".reqntid"), lacks=(".reg",))
    check_completion(".func f()\n.<CURSOR>\n{ ret; }", has=(".noreturn",), lacks=(".maxntid",))
    check_completion(".entry k(<CURSOR>", ".param", lacks=(".reg",))
    check_completion(".entry k(.param .u64 .ptr .<CURSOR>)", has=(".global", ".align"))
    check_completion(".visible .<CURSOR>\n.entry k() { ret; }", ".entry", ".func")


def test_declarations_where_a_body_may_not_follow() -> None:
    assert one(".extern .<CURSOR>\n.entry k() { ret; }", ".func").text == ".func ${1:function}($2);"
    assert one(".extern .<CURSOR>\n.entry k() { ret; }", ".entry").text.endswith(");")
    assert one(".<CURSOR>", ".func").text == ".extern .func ${1:function}($2);"
    assert "{" in one(".visible .<CURSOR>\n.entry k() { ret; }", ".func").text
    check_completion(".common .<CURSOR>\n.entry k() { ret; }", ".global", lacks=(".func", ".entry", ".const"))


def test_directives_leave_alone_what_stands_behind_them() -> None:
    assert one(".extern .fu<CURSOR>nc f();\n.entry k() { ret; }", ".func").text == ".func"
    assert one('.prag<CURSOR>ma "nounroll";', ".pragma").text == ".pragma"
    assert one(".entry k() .max<CURSOR>ntid 256 { ret; }", ".maxntid").text == ".maxntid"
    assert one(".entry k() .max<CURSOR> { ret; }", ".maxntid").text == ".maxntid ${1:256}"
    assert one(".pra<CURSOR> // none", ".pragma").is_snippet


def test_directives_of_most_bodies_come_first() -> None:
    check_completion(".<CURSOR>", ".reg", ".shared", ".local", ".pragma", ".loc")
    assert [found.label for found in suggestions(".<CURSOR>")][-3:] == [".target", ".func", ".alias"]


def test_directives_that_require_a_label() -> None:
    labelled = (".callprototype", ".calltargets", ".branchtargets")
    check_completion(".<CURSOR>", lacks=labelled)
    for label in ("name: ", "name:\n"):
        check_completion(f"{label}.<CURSOR>", has=labelled)


def test_types() -> None:
    check_completion(".reg .<CURSOR>", has=(".b32", ".pred", ".f64", ".v2"), lacks=(".bf16",))
    check_completion(".reg .<CURSOR>", lacks=(".texref", ".samplerref"))
    check_completion(".global .<CURSOR>\n.entry k() { ret; }", has=(".texref",))
    check_completion(".entry k(.param .<CURSOR>)", has=(".texref",))
    check_completion(".shared .<CURSOR>", has=(".b32", ".align"), lacks=(".pred",))
    check_completion(".entry k(.param .<CURSOR>)", has=(".u64",))
    check_completion(".shared .align <CURSOR>", "1", "2", "4", "8", lacks=(".b32",))


def test_versions_and_targets() -> None:
    check_completion(".version <CURSOR>\n.target sm_90\n", "9.5", has=("7.8",))
    check_completion(".version 7<CURSOR>\n.target sm_90\n", "7.8", lacks=("7.0",))
    check_completion(".version 8.<CURSOR>\n", "8.8", has=("8.0",), lacks=("9.0", "7.8"))
    check_completion(".version 8.7<CURSOR>\n.target sm_90\n", "8.7", lacks=("8.6",))
    check_completion(".version 8.<CURSOR>5\n.target sm_90\n", "8.8")
    check_completion("tex.2d.<CURSOR>", has=(".v4",))
    text = ".version 8.0\n.target <CURSOR>"
    check_completion(text, "sm_90a", "sm_90", has=("sm_80",), lacks=("sm_100a", "debug"))
    text = ".version 8.0\n.target sm_90, <CURSOR>"
    check_completion(text, "texmode_unified", "texmode_independent", "debug", lacks=("sm_90",))
    check_completion(text, lacks=("map_f64_to_f32",))
    text = ".version 8.0\n.target sm_90, texmode_unified, <CURSOR>"
    check_completion(text, "debug", lacks=("texmode_unified", "texmode_independent", "sm_90"))
    check_completion(".version 8.0\n.target sm_90\n.address_size <CURSOR>", "64", "32")


def test_pragmas() -> None:
    check_completion('.pragma "<CURSOR>', "nounroll")
    check_completion('.pragma "no<CURSOR>";', "nounroll")
    check_completion(".pragma <CURSOR>", '"nounroll"')
    check_completion('.pragma "nounroll", <CURSOR>', '"nounroll"')
    check_completion(".entry k() .language <CURSOR> { ret; }", '"CUDA C++"')


def test_sections() -> None:
    kernel = "\n.entry k() { ret; }"
    for typed in (".section ", ".section .", ".section .deb"):
        check_completion(f"{typed}<CURSOR>{kernel}", ".debug_info", lacks=(".entry",))
        check_completion(f"{kernel}\n{typed}<CURSOR>", ".debug_info", lacks=(".entry",))
    assert not suggestions(f".section .debug_info <CURSOR>{kernel}")
    for data in ("", ".b8 1\n"):
        check_completion(f".section .debug_info {{ {data}.<CURSOR> }}{kernel}", ".b8", lacks=(".entry",))
    check_completion(f".section .debug_info {{ .b8 1\n }}\n.<CURSOR>{kernel}", ".entry", lacks=(".b8",))


def test_pointers() -> None:
    check_completion(".entry k(.param .u64 .<CURSOR>)", ".align", ".ptr")
    check_completion(".entry k(.param .u64 .ptr .<CURSOR>)", ".align", ".global", ".shared")
    check_completion(".entry k(.param .u64 .ptr .global .<CURSOR>)", ".align", lacks=(".global", ".shared"))
    for text in (".entry k(.param .u64 .ptr .align 4 .<CURSOR>)", ".entry k(.param .u64 x .<CURSOR>)"):
        assert not suggestions(text)
    assert not suggestions(".func f(.param .u64 .<CURSOR>)")


def test_initial_values() -> None:
    """ptxas takes the addresses of what is declared before, in `.u32` and `.u64`."""
    text = (
        ".global .b32 g;\n.const .b32 c;\n.shared .b32 s;\n.func f() { ret; }\n.entry k() { ret; }\n"
        "VALUE\n.global .b32 later;\n"
    )
    for value in (
        ".global .u64 x = ", ".visible .global .u64 x = ", ".global .u64 x[2] = {", ".const .u32 x[2] = {g, ",
    ):
        labels = [found.label for found in suggestions(text.replace("VALUE", f"{value}<CURSOR>"))]
        assert labels == ["g", "c", "f", "k", "generic"], value
    check_completion(text.replace("VALUE", ".global .u64 x = generic(<CURSOR>"), "g", "c", lacks=("f",))
    check_completion(text.replace("VALUE", ".global .u64 x = k<CURSOR>;"), "k", lacks=("g",))
    check_completion(text.replace("VALUE", ".global .u64 x = ge<CURSOR>;"), "generic")
    assert not suggestions(".global .u64 x = <CURSOR>\n.entry k() { ret; }")
    for value in (
        ".global .u64 x = g+", ".global .b64 x = ", ".shared .u64 x = ", ".global .u64 x[2] = ",
        ".global .u64 x = g, ", ".global .u64 x = {g}",
    ):
        assert not suggestions(text.replace("VALUE", f"{value}<CURSOR>")), value
    text = ".global .b32 g;\n.entry k() { .const .b32 c;\n.global .u64 x = <CURSOR> }"
    check_completion(text, "c", "g", "k", "generic")


def test_after_a_blank() -> None:
    """A blank asks for completion by itself only where few arguments are possible."""
    for text, is_offered in {
        ".version 8.0\n.target <CURSOR>": True,
        ".version <CURSOR>": True,
        ".version 8.0\n.target sm_90\n.address_size <CURSOR>": True,
        ".pragma <CURSOR>": True,
        "add.s32 <CURSOR>": False,
        "<CURSOR>": False,
        ".reg <CURSOR>": False,
    }.items():
        assert (completion(*at_cursor(text), after_blank=True) is not None) == is_offered, text
        assert completion(*at_cursor(text)) is not None, text
