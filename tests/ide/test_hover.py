"""What a hover tells: the lines given must stand in it, in this order."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.hover.hover import hover
from ptx_lsp.model.module import Module
from tests.ide.cursor import at_cursor


def check_hover(text: str, *expected: str) -> None:
    module, offset = at_cursor(text)
    found = hover(module, offset)
    assert found is not None
    assert found.span.start <= offset <= found.span.end
    rest = found.markdown
    for line in expected:
        assert line in rest, f"{line!r} is not in, or not behind the others in:\n{found.markdown}"
        rest = rest[rest.index(line) + len(line) :]


def check_no_hover(text: str) -> None:
    module, offset = at_cursor(text)
    assert hover(module, offset) is None


# -- instructions ---------------------------------------------------------------------------------


def test_an_instruction() -> None:
    check_hover(
        "add<CURSOR>.sat.s32 %r1, %r2, 300;",
        "**add.sat.s32**: Adds two integers.", "add{.sat}.stype d, a, b;", "- `.sat` Limits the result",
        "- `d` = `%r1`: .s32 register, written", "- `b` = `300`: .s32 register or constant",
        "- any PTX ISA version and target", "#integer-arithmetic-instructions-add",
    )


def test_what_an_instruction_computes() -> None:
    check_hover(
        "add<CURSOR>.sat.s32 %r1, %r2, 300;", "| `a .s32` | `b .s32` | `d .s32` |", "| --- | --- | --- |",
        "| `1` | `300` | **`301`** |", "**`2147483647`** |",
    )
    check_hover("add<CURSOR>.sat.s32 %r1, %r2, %r3;", "| `1` | `1` | **`2`** |", "**`2147483647`** |")
    check_hover("rcp<CURSOR>.approx.f32 %f1, %f2;", "**`inf`**", "within the bound that the manual states")


def test_the_table_has_the_constants_at_hand() -> None:
    check_hover("shl<CURSOR>.b32 %r1, %r2, 5;", "| `0x00000001` | `5` | **`0x00000020`** |")
    check_hover("mad<CURSOR>.lo.s32 %r1, %r2, -3, 10;", "| `1` | `-3` | `10` | **`7`** |")
    check_hover("lop3<CURSOR>.b32 %r1, %r2, %r3, %r4, 0xe8;", "| `232` |", "**`0x00000001`** |")
    check_hover("mul<CURSOR>.f32 %f1, %f2, 0f40000000;", "| `1.0` | `2.0` | **`2.0`** |")
    check_hover("add<CURSOR>.u32 %r1, 2, 3;", "| `2` | `3` | **`5`** |")


def test_long_lists_of_choices_are_short() -> None:
    for spelling in ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "wgmma"):
        opcode, dot, rest = spelling.partition(".")
        operands = "{%f1, %f2, %f3, %f4}, %rd1, %rd2, 1, 1, 1, 0, 0"
        module, offset = at_cursor(f"{opcode}<CURSOR>{dot}{rest} {operands};")
        found = hover(module, offset)
        assert found is not None
        assert "{ .m64n8k16, .m64n16k16, ..., .m64n256k16 }" in found.markdown
        assert ".m64n24k16" not in found.markdown


def test_no_table_where_there_is_no_single_value() -> None:
    module, offset = at_cursor("ld<CURSOR>.global.b32 %r1, [%rd1];")
    found = hover(module, offset)
    assert found is not None
    assert "| --- |" not in found.markdown


def test_a_requirement_that_is_met() -> None:
    check_hover("elect<CURSOR>.sync %r1|%p1, -1;", "requires PTX ISA 8.0 and sm_90 or higher ✓")


def test_a_requirement_that_is_not_met() -> None:
    check_hover(
        "add<CURSOR>.sat.u32 %r1, %r2, %r3;",
        ".sat with .u32: requires PTX ISA 9.2 and",
        "✗ (this file: PTX ISA 8.5, sm_90)",
    )


def test_operands_that_do_not_fit() -> None:
    check_hover("<CURSOR>add.s32 %r1, %r2, %rd1;", "found a register of type `.b64`")


def test_a_modifier_by_itself() -> None:
    check_hover("mul.<CURSOR>wide.u32 %rd1, %r1, 4;", "**.wide** (modifier of `mul`): Takes all")


def test_a_modifier_that_needs_something() -> None:
    check_hover("add<CURSOR>.sat.s32 %r1, %r2, 3;", "any PTX ISA version")
    check_hover("add.<CURSOR>s16x2 %r1, %r2, %r3;", "Two .s16", "requires PTX ISA 8.0 and sm_90 or higher ✓")


def test_an_unknown_opcode() -> None:
    check_hover("ad<CURSOR>dd.s32 %r1, %r2, 3;", "`addd` is not a PTX instruction", "`add`")


def test_an_unfinished_spelling() -> None:
    check_hover("mul<CURSOR> %r1, %r2, 3;", "**mul**: Multiplies two floats", "Multiplies two integers")


def test_a_divergent_branch() -> None:
    check_hover(
        "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 0;\nL: @%p1 br<CURSOR>a L;",
        "**bra**", "threads of a warp take different paths", "line 13: `%p1` depends on `%r1`",
        "line 12: reads `%tid.x`",
    )


# -- names ----------------------------------------------------------------------------------------


def test_a_register() -> None:
    check_hover(
        "mov.u32 %r1, %tid.x;\nadd.s32 %r2, %<CURSOR>r1, 1;\nadd.s32 %r3, %r2, %r1;",
        ".reg .b32 %r1", "32 untyped bits.", "written once (line 12), read twice",
        "live on lines 12-14", "differs within a warp", "line 12: reads `%tid.x`",
    )


def test_a_register_that_is_written_here() -> None:
    check_hover("mov.u32 %r<CURSOR>1, %ctaid.x;\nst.b32 [%rd1], %r1;", "same for all threads of a block")


def test_one_register_of_a_range_of_the_file() -> None:
    check_hover(
        ".reg .b32 x<4>;\n.func f() {\nmov.b32 x<CURSOR>1, 2;\nmov.b32 x2, x3;\n}",
        ".reg .b32 x1\n", "written once (line 6), never read",
    )


def test_a_range_of_registers() -> None:
    check_hover(
        ".reg .b32 %x<CURSOR><4>;\nmov.u32 %x1, 1;\nmov.u32 %x2, %x1;",
        ".reg .b32 %x<4>", "written twice (lines 13, 14), read once",
    )


def test_a_register_without_uses() -> None:
    check_hover(".reg .f32 %<CURSOR>x;", ".reg .f32 %x", "never used")


def test_a_label() -> None:
    check_hover(
        "L<CURSOR>: add.s32 %r1, %r1, 1;\n@%p1 bra L;\nbra L;",
        "label `L`", "used twice", "from line 13: `@%p1 bra L;`", "from line 14: `bra L;`",
    )


def test_a_parameter() -> None:
    check_hover(
        "ld.param.u32 %r1, [<CURSOR>n];",
        ".param .u32 n", "offset 8 (0x8) among the parameters", "size 4 bytes", "used once",
    )


def test_a_variable() -> None:
    check_hover(
        ".global .align 16 .f32 t<CURSOR>able[8] = {1.0, 2.0};\n.entry k() { ret; }",
        ".global .align 16 .f32 table[8] = {1.0, 2.0}", "size 32 bytes", "aligned to 16 bytes", "never used",
    )


def test_a_special_register() -> None:
    check_hover("mov.u32 %r1, %la<CURSOR>neid;", "**%laneid** (special register, `.u32`): The thread's lane")


def test_a_special_register_that_is_too_new() -> None:
    check_hover(
        ".version 7.0\n.target sm_80\n.entry k() { .reg .b32 %r; mov.u32 %r, %cluster_ctara<CURSOR>nk; }",
        "**%cluster_ctarank**", "requires PTX ISA 7.8 and sm_90 or higher ✗ (this file: PTX ISA 7.0, sm_80)",
    )


def test_a_component() -> None:
    check_hover("mov.u32 %r1, %tid.<CURSOR>y;", "`.y`: element 1 of `%tid`")


def test_a_kernel() -> None:
    check_hover(
        ".visible .entry k<CURSOR>(.param .u64 p)\n.maxntid 256\n{ .shared .b32 s[64]; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; st.global.u64 [%d1+8], %d2; ret; }",
        ".visible .entry k(.param .u64 p) .maxntid 256", "estimated: about", "registers (",
        "100 % occupancy with 256 threads per block", "256 bytes of static shared memory",
        "8 bytes of parameters", "launch bounds: at most 256 threads per block",
    )


def test_a_kernel_that_is_launched() -> None:
    text = (
        "// ptx-run: grid=1 block=4 p=u32[]:zeros:4\n.visible .entry k<CURSOR>(.param .u64 p) {\n"
        ".reg .b32 %r<3>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\n"
        "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d3, %d1, %d2;\nst.global.u32 [%d3], %r1;\nret;\n}"
    )
    check_hover(
        text, "Launched as specified in line 4: grid 1, block 4",
        "`p` (u32, 3 of 4 changed): `0, 0, 0, 0` → `0, 1, 2, 3`",
    )
    check_hover(text.replace("block=4 ", ""), "Launch specified in line 4: `block=` is missing")
    check_hover(text.replace("[%d3], %r1", "[0], %r1"), "Launch specified in line 4: line 12")


def test_a_function_from_its_call() -> None:
    check_hover(
        ".func (.reg .b32 r) f(.reg .b32 a) { mov.b32 r, a; ret; }\n"
        ".entry k() { .reg .b32 %x; call (%x), f<CURSOR>, (1); ret; }",
        ".func (.reg .b32 r) f(.reg .b32 a)", "2 instructions", "used once",
    )
    check_hover(".func f() { ret; } .entry k() { call f<CURSOR>; ret; }", "1 instruction\n")


def test_a_call_tells_how_its_function_is_declared() -> None:
    check_hover(
        ".func (.param .b64 r) f(.param .f32 a) { ret; }\n"
        ".entry k() { .param .b64 x; .param .f32 p; ca<CURSOR>ll (x), f, (p); ret; }",
        "**call**", ".func (.param .b64 r) f(.param .f32 a)",
    )


def test_a_function_that_is_declared_in_a_body() -> None:
    check_hover(
        ".entry k() { .func f(.param .b32 a); call f<CURSOR>, (1); }",
        ".func f(.param .b32 a)\n", "declaration only", "used once",
    )


def test_a_call_prototype() -> None:
    check_hover(
        ".entry k() { .reg .b64 %d; P: .callprototype _ (.param .b32 _); call %d, (1), P<CURSOR>; }",
        "call prototype `P`", ".callprototype _ (.param .b32 _);", "used once",
    )


# -- words and literals ---------------------------------------------------------------------------


def test_directives() -> None:
    check_hover(".entry k() .max<CURSOR>ntid 256 { ret; }", "**.maxntid** (performance)", "where: kernel")
    check_hover(".<CURSOR>entry k() { ret; }", "**.entry** (definition): Defines a kernel")
    check_hover(".reg .align<CURSOR> 4 .b32 %x;", "**.align** (attribute)")


def test_types_and_state_spaces_of_declarations() -> None:
    check_hover(".re<CURSOR>g .f32 %x;", "**.reg** (state space)", "lifetime: the thread")
    check_hover(".reg .b3<CURSOR>2 %x;", "**.b32** (type): 32 untyped bits.")


def test_the_header() -> None:
    check_hover(".version 8<CURSOR>.0\n.target sm_90a", "PTX ISA 8.0", "added the targets sm_90a")
    check_hover(".version 8.0\n.target sm_<CURSOR>90a", "**sm_90a**", "PTX ISA 8.0 ✓", "2048 threads")
    check_hover(".version 7.0\n.target sm_<CURSOR>90", "requires PTX ISA 7.8 ✗")
    check_hover(".version 8.0\n.target sm_90, de<CURSOR>bug", "**debug** (option of `.target`)")


def test_a_pragma() -> None:
    check_hover('.pragma "no<CURSOR>unroll";', "**nounroll** (pragma): Loops are not unrolled.")


@pytest.mark.parametrize(
    ("literal", "line"),
    [
        ("0f3FC0<CURSOR>0000", "32-bit float `1.5`"),
        ("0fBDCC<CURSOR>CCCD", "32-bit float `-0.1`"),
        ("0d3FF<CURSOR>0000000000000", "64-bit float `1.0`"),
        ("0f7F80<CURSOR>0000", "infinity"),
        ("0fFFFF<CURSOR>FFFF", "NaN"),
        ("0f0000<CURSOR>0001", "subnormal"),
        ("2<CURSOR>.5", "float, as `.f32`: `0f40200000`, as `.f64`: `0d4004000000000000`"),
        ("2<CURSOR>55", "decimal `255`, hexadecimal `0xFF`"),
        ("0xFFFF<CURSOR>FFFE", "as signed 32-bit integer `-2`"),
        ("-<CURSOR>4", "`-4`\n\n- decimal `-4`, as 32 bits `0xFFFFFFFC`, as 64 bits `0xFFFFFFFFFFFFFFFC`"),
        ("~<CURSOR>7U", "`~7U`\n\n- decimal `-8`, as 32 bits `0xFFFFFFF8`"),
        ("-<CURSOR>0x100000000", "decimal `-4294967296`, as 64 bits `0xFFFFFFFF00000000`"),
        ("-<CURSOR>0xFFFFFFFFFFFFFFFF", "`0xFFFFFFFFFFFFFFFF`\n\n- decimal `18446744073709551615`"),
        ("-<CURSOR>1.5", "`-1.5`\n\n- float, as `.f32`: `0fBFC00000`"),
        ("~<CURSOR>1.5", "`1.5`\n\n- float, as `.f32`: `0f3FC00000`"),
        ("0b1<CURSOR>01", "decimal `5`, hexadecimal `0x5`"),
        ("01<CURSOR>7U", "decimal `15`"),
    ],
)
def test_literals(literal: str, line: str) -> None:
    check_hover(f"mov.b32 %r1, {literal};", line)


def test_a_line_of_the_source() -> None:
    check_hover('.file 1 "a.cu"\n.entry k() {\n.loc 1 <CURSOR>5 3\nret; }', "`a.cu:5:3`")


def test_nothing_to_tell() -> None:
    check_no_hover("// a <CURSOR>comment")
    check_no_hover("add.s32 %r1, %r2, 3;   <CURSOR>   // behind")
    check_no_hover("add.s32 %r1, undec<CURSOR>lared, 3;")


def test_a_number_of_thousands_of_digits() -> None:
    digits = "0x" + "1" * 5000
    text = f".version 8.5\n.target sm_90\n.entry k() {{ .reg .b32 %r; mov.b32 %r, {digits}; ret; }}"
    assert hover(Module.parse(text), text.index(digits) + 1) is None


# -- marks, and words of old PTX --------------------------------------------------------------------


def test_a_guard() -> None:
    for text in ("<CURSOR>@!%p1 add.s32 %r1, %r2, 3;", "@<CURSOR>!%p1 add.s32 %r1, %r2, 3;"):
        check_hover(text, "**@!%p1** (guard): Only the threads whose predicate is true")


def test_braces() -> None:
    check_hover("mov.b64 %rd1, <CURSOR>{%r1, %r2};", "**{%r1, %r2}** (vector): Elements in braces,")
    check_hover("<CURSOR>{ ret; }", "**{ }** (block): Statements in braces.")
    check_hover("{ ret; <CURSOR>}", "**{ }** (block)")


def test_param_in_a_body_of_old_ptx() -> None:
    head = ".version 1.1\n.target sm_11\n"
    module, offset = at_cursor(head + ".entry k { .par<CURSOR>am .u32 a; exit; }")
    found = hover(module, offset)
    assert found is not None
    assert "PTX ISA 1.4" not in found.markdown
    check_hover(head + ".entry k(.par<CURSOR>am .u32 a) { exit; }", "requires PTX ISA 1.4")


def test_options_of_target_and_v3() -> None:
    text = ".version 1.1\n.target sm_11, map_f64<CURSOR>_to_f32\n.entry k { exit; }"
    check_hover(text, "**map_f64_to_f32** (option of `.target`): Instructions of `.f64` compute in `.f32`")
    text = ".version 1.1\n.target sm_11\n.global .v<CURSOR>3 .f32 a;"
    check_hover(text, "**.v3** (vector length)", "Use `.v4`")


# -- descriptors ----------------------------------------------------------------------------------

_TENSOR = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry kernel()
{
	.shared .align 1024 .b8 tile[4096];
	.reg .pred %p;
	.reg .b32 %r<8>;
	.reg .b64 %rd<8>;
	mov.u32 %r1, tile;
	bfe.u32 %r1, %r1, 4, 14;
	mov.b32 %r2, 0x40004040;
	mov.b64 %rd1, {%r1, %r2};
	mov.b64 %rd2, 0x2000404000010000;
	mov.b32 %r3, 0x8220110;
	tcgen05.mma.cta_group::1.kind::f16 [%r4], %rd1, %rd2, %r3, %p;
	ret;
}
"""


def test_a_descriptor_of_shared_memory_as_far_as_it_is_known() -> None:
    check_hover(
        _TENSOR.replace("], %rd1", "], %rd<CURSOR>1"), "**descriptor of A in shared memory**\n",
        "| 0-13 | start address | (not known) |", "| 16-29 | leading dimension | 0 bytes |",
        "| 32-45 | stride dimension offset | 1024 bytes |", "| 46-48 | constant | 0b001 |",
        "| 61-63 | swizzling | 128-byte swizzling |",
    )
    check_hover(
        _TENSOR.replace("%rd2, %r3", "%rd<CURSOR>2, %r3"),
        "**descriptor of B in shared memory** `0x2000404000010000`", "| 0-13 | start address | 0x0 |",
        "| 61-63 | swizzling | 128-byte swizzling with atoms of 32 bytes |",
    )


def test_an_instruction_descriptor_and_its_problems() -> None:
    check_hover(
        _TENSOR.replace("%rd2, %r3", "%rd2, %r<CURSOR>3"), "**instruction descriptor** `0x8220110`",
        "| 4-5 | type of D | .f32 |", "| 7-9 | type of A | 2, not valid |", "| 17-22 | N | 136 |",
        "| 24-28 | M | 128 |", "- **`.kind::f16` has no type for A",
    )


def test_a_descriptor_of_wgmma() -> None:
    registers = ", ".join(f"%f{at}" for at in range(4))
    check_hover(
        f"""mov.b64 %rd1, 0x4000008000010008;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{registers}}}, %rd<CURSOR>1, %rd2, 1, 1, 1, 0, 0;""",
        "**descriptor of A in shared memory** `0x4000008000010008`", "| 0-13 | start address | 0x80 |",
        "| 16-29 | leading dimension | 16 bytes |", "| 32-45 | stride dimension offset | 2048 bytes |",
        "| 62-63 | swizzling | 128-byte swizzling |",
    )


def test_a_register_that_is_no_descriptor() -> None:
    module, offset = at_cursor(_TENSOR.replace("[%r4]", "[%r<CURSOR>4]"))
    found = hover(module, offset)
    assert found is not None
    assert "descriptor" not in found.markdown
