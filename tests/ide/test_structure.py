"""Outline, folds, growing selections, calls, links, hints and lenses."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.annotations.code_lenses import code_lenses, title
from ptx_lsp.ide.annotations.inlay_hints import Shown, inlay_hints
from ptx_lsp.ide.hover.links import Link, links, source_at
from ptx_lsp.ide.navigation.call_hierarchy import incoming, outgoing, prepare_calls
from ptx_lsp.ide.navigation.folding import folding
from ptx_lsp.ide.navigation.selection import selection
from ptx_lsp.ide.navigation.symbols import Outlined, document_symbols, workspace_symbols
from ptx_lsp.model.module import Module
from ptx_lsp.text import Span
from tests.ide.cursor import HEADER, at_cursor, completed, inner

FILE = """.global .b32 v, w;
.func (.reg .b32 r) f(.param .b32 a)
{
    ret;
}
.visible .entry k(.param .u64 p)
{
    .shared .b32 s[4];
    .reg .b32 %x;
    call (%x), f, (1);
LOOP:
    bra LOOP;
}
.section .debug_info {
    .b8 1
}
"""


def outline(symbols: tuple[Outlined, ...]) -> list[object]:
    return [
        f"{one.sort} {one.name}: {one.detail}" if not one.inner
        else (f"{one.sort} {one.name}: {one.detail}", outline(one.inner))
        for one in symbols
    ]


def test_the_outline() -> None:
    module = Module.parse(HEADER + FILE)
    assert outline(document_symbols(module)) == [
        "variable v: .global .b32",
        "variable w: .global .b32",
        ("function f: .func", ["parameter r: .reg .b32", "parameter a: .param .b32"]),
        ("kernel k: .visible .entry",
         ["parameter p: .param .u64", "variable s: .shared .b32", "label LOOP: "]),
        "section .section .debug_info: ",
    ]


DEBUG_LABELS = """.entry k()
{
$L__func_begin0:
$L__tmp0:
    bra $L__tmp1;
<CURSOR>
$L__tmp1:
DONE:
    ret;
$L__func_end0:
}
"""


def test_debug_labels_are_not_listed() -> None:
    module, _ = at_cursor(DEBUG_LABELS)
    assert outline(document_symbols(module)) == [
        ("kernel k: .entry", ["label $L__tmp1: ", "label DONE: "])
    ]
    assert [one.name for one in workspace_symbols(module, "")] == ["k", "DONE", "$L__tmp1"]


def test_names_of_the_outline_lie_in_what_they_name() -> None:
    def check(symbols: tuple[Outlined, ...]) -> None:
        for one in symbols:
            assert one.span.start <= one.name_span.start <= one.name_span.end <= one.span.end
            check(one.inner)

    check(document_symbols(Module.parse(HEADER + FILE)))


def test_searching_names() -> None:
    module = Module.parse(HEADER + FILE)
    assert [one.name for one in workspace_symbols(module, "lo")] == ["LOOP"]
    assert [one.name for one in workspace_symbols(module, "lp")] == ["LOOP"]
    assert {one.name for one in workspace_symbols(module, "")} == {"v", "w", "f", "k", "LOOP"}
    assert workspace_symbols(module, "nothing") == ()


def check_folds(text: str, *expected: str) -> None:
    """`first-last sort`, lines counted in the text from 1."""
    module = Module.parse(HEADER + text)
    line_of = module.document.source.line_of
    found = [
        f"{line_of(one.span.start) - 2}-{line_of(one.span.end - 1) - 2} {one.sort}"
        for one in folding(module)
    ]
    assert found == list(expected)


def test_folds() -> None:
    check_folds(FILE, "3-5 block", "7-13 block", "14-16 section")
    check_folds("// a\n// b\n\n/* c\n d */\n// e\n.entry k() { ret; }", "1-2 comment", "4-5 comment")
    check_folds(
        ".entry k(\n.param .b32 a,\n.param .b32 b)\n{\n.reg .b32 x;\n.reg .b32 y;\n.reg .b32 z;\n{\n"
        "ret;\n}\n}",
        "2-3 declarations", "4-11 block", "5-7 declarations", "8-10 block",
    )


def test_a_selection_grows() -> None:
    module, offset = at_cursor("{ add.s32 %r1, %r<CURSOR>2, 3; ret; }")
    found = [inner(module, *span).strip() for span in selection(module, offset)]
    assert found[:4] == ["%r2", "add.s32 %r1, %r2, 3;", "add.s32 %r1, %r2, 3; ret;",
                         "{ add.s32 %r1, %r2, 3; ret; }"]
    assert found[-2].startswith(".visible .entry")
    assert found[-1] == module.document.source.data.decode().strip()


def test_calls() -> None:
    module, offset = at_cursor(HEADER + FILE.replace("call (%x), f", "call (%x), f<CURSOR>"))
    found = prepare_calls(module, offset)
    assert found is not None
    assert (found.name, found.is_kernel, found.is_defined) == ("f", False, True)
    (call,) = incoming(module, "f")
    assert call.other.name == "k"
    assert [inner(module, *place) for place in call.places] == ["f"]
    (call,) = outgoing(module, "k")
    assert call.other.name == "f"
    assert outgoing(module, "f") == ()
    module, offset = at_cursor(HEADER + FILE.replace("bra LOOP", "bra LO<CURSOR>OP"))
    around = prepare_calls(module, offset)
    assert around is not None
    assert around.name == "k"


def test_calls_by_an_alias_are_those_of_its_function() -> None:
    text = ".func f() { ret; } .func other(); .alias other, f; .entry k() { call other; call f; ret; }"
    module, offset = at_cursor(f"{HEADER}{text.replace('call other', 'call oth<CURSOR>er')}")
    found = prepare_calls(module, offset)
    assert found is not None
    assert (found.name, found.is_defined) == ("f", True)
    (call,) = incoming(module, "f")
    assert [inner(module, *place) for place in call.places] == ["other", "f"]
    (call,) = outgoing(module, "k")
    assert (call.other.name, len(call.places)) == ("f", 2)


def test_links() -> None:
    module = Module.parse(completed(
        '.file 1 "a/b.cu"\n.file 2 "c.cu"\n.entry k() {\n.loc 2 7 3\nret;\n.loc 3 1 1\nret; }'
    ))
    found = [(inner(module, *one.span), one.path, one.line, one.column) for one in links(module)]
    assert found == [('"a/b.cu"', "a/b.cu", 0, 0), ('"c.cu"', "c.cu", 0, 0)]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (".l<CURSOR>oc 2 7 3", ("c.cu", 7, 3)),
        (".loc 2 7 <CURSOR>3", ("c.cu", 7, 3)),
        (".loc 1 9 0<CURSOR>", ("a/b.cu", 9, 0)),
        (".loc 1 9 4, function_name $s, inlined_at <CURSOR>2 5 6", ("c.cu", 5, 6)),
        (".loc 1 9 4, function_name $s, inlined<CURSOR>_at 2 5 6", ("c.cu", 5, 6)),
        (".loc 1 9<CURSOR> 4, function_name $s, inlined_at 2 5 6", ("a/b.cu", 9, 4)),
        (".loc 3 1<CURSOR> 1", "no `.file` has the number 3"),
        (".loc 1 0<CURSOR> 1", "line 0: the compiler gives no source line of `a/b.cu` for this code"),
        ("r<CURSOR>et", None),
    ],
)
def test_source_lines(statement: str, expected: tuple[str, int, int] | str | None) -> None:
    files = '.file 1 "a/b.cu"\n.file 2 "c.cu"\n'
    module, offset = at_cursor(f"{files}.entry k() {{\n{statement}\nret; }}")
    found = source_at(module, offset)
    assert (found[1:] if isinstance(found, Link) else found) == expected


def check_hints(text: str, expected: str, shown: Shown) -> None:
    """The text with its hints in it, between `«` and `»`."""
    module = Module.parse(completed(text))
    data = module.document.source.data
    for hint in sorted(inlay_hints(module, shown=shown), reverse=True):
        data = data[: hint.offset] + f"«{hint.text}»".encode() + data[hint.offset :]
    assert expected in data.decode()


def test_hints_of_pressure() -> None:
    check_hints(
        "mov.b32 %r1, 1;\nmov.b32 %r2, %r1; // two\nadd.s32 %r3, %r1, %r2;\nst.global.b32 [%rd1], %r3;\n",
        "mov.b32 %r1, 1;«3 live»\nmov.b32 %r2, %r1; // two«▲ 4 live (peak)»\nadd.s32 %r3, %r1, %r2;"
        "«▲ 4 live (peak)»\nst.global.b32 [%rd1], %r3;«3 live»",
        Shown(types="off"),
    )


def test_hints_of_types() -> None:
    text = "mov.b32 %f1, 1;\nadd.s32 %r1, %r2, 3;"
    check_hints(text, "mov.b32 %f1«: .f32», 1;\nadd.s32 %r1«: .b32», %r2«: .b32», 3;", Shown(False, "all"))
    check_hints("cvt.rn.f32.u64 %f1, %rd1;", "cvt.rn.f32.u64 %f1, %rd1«: .b64»;", Shown(False))


def test_hints_of_literals() -> None:
    check_hints("mov.f32 %f1, 0f40490FDB;", "mov.f32 %f1, 0f40490FDB«= 3.1415927»;", Shown(False, "off"))
    check_hints("add.f64 %fd1, %fd1, 0dC004000000000000;", "0dC004000000000000«= -2.5»;", Shown(False, "off"))


def test_equal_literals_have_few_hints() -> None:
    """One where it is first seen, and one where it has not been for a while; whatever part is asked for."""
    times, other = "mul.f32 %f1, %f1, 0f3FB8AA3B;\n", "mul.f32 %f1, %f1, 0f40000000;\n"
    text = times * 150 + other + "add.f32 %f1, %f1, %f2;\n" * 120 + times
    module, _ = at_cursor(f"<CURSOR>{text}")
    shown = Shown(pressure=False, types="off")
    hints = inlay_hints(module, None, shown)
    assert [one.text for one in hints] == ["= 1.442695", "= 2.0", "= 1.442695"]
    source = module.document.source
    first = source.line_of(hints[0].offset)
    starts = range(first, first + 272, 16)
    parts = [Span(source.line_span(one).start, source.line_span(one + 15).end) for one in starts]
    assert [one for part in parts for one in inlay_hints(module, part, shown)] == list(hints)


def test_the_lens_of_a_launch() -> None:
    module = Module.parse(HEADER + "// ptx-run: grid=2 block=32,4\n.entry k() { ret; }\n.entry l() { ret; }")
    assert [(lens.name, title(module, lens)) for lens in code_lenses(module) if lens.sort == "preview"] == [
        ("k", "Run: grid 2, block 32, 4")
    ]


def test_each_launch_comment_can_be_debugged() -> None:
    first, second, third = "grid=1 block=1", "grid=2 block=4", "block="
    kernels = f"// ptx-run: {first}\n  // ptx-run: {second}\n.entry k() {{ ret; }}\n// ptx-run: {third}\n"
    module = Module.parse(HEADER + kernels + ".entry l() { ret; }")
    source, line = module.document.source, HEADER.count("\n") + 1
    assert {
        (lens.name, lens.line, source.line_of(lens.span.start) + 1, title(module, lens))
        for lens in code_lenses(module) if lens.sort == "debug"
    } == {
        ("k", 0, line + 2, "Debug"), ("k", line + 1, line + 1, "Debug"), ("l", 0, line + 4, "Debug"),
    }


@pytest.mark.parametrize("target", ["sm_90", "sm_20", "sm_999"])
def test_lenses(target: str) -> None:
    module = Module.parse(HEADER.replace("sm_90", target) + FILE)
    found = {lens.name: title(module, lens) for lens in code_lenses(module)}
    assert found["f"] == "1 reference"
    if target == "sm_90":
        assert "registers (" in found["k"]
        assert "% occupancy at best, limited by" in found["k"]
