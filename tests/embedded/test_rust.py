"""`asm!` in Rust. What it means was compared with rustc for nvptx64."""

from __future__ import annotations

import pytest

from tests.embedded.reading import (
    block_in,
    check_edits,
    check_places,
    findings,
    operands_of,
    read,
    wrong,
)

TWO = """fn f(a: u32) -> u32 { let b: u32; unsafe { core::arch::asm!(
    "mov.u32 {}, {x}; // {{}} %0",
    r#"add.u32 {0}, {0}, {n};"#, "add.u32\\t{0}, \\x31, \\
        {0}\\u{3b}",
    out(reg32) b, x = in(reg32) a + v[0], n = const 5, options(nomem)); } b }"""


def test_templates_are_lines_and_operands_have_their_names() -> None:
    block = block_in(TWO, ".rs")
    assert block.text.data.decode().splitlines() == [
        "mov.u32 $0, $x; // {} %0",
        "add.u32 $0, $0, 5;",
        "add.u32\t$0, 1, $0;",
    ]
    assert operands_of(block) == [
        ("$0", ".b32", "write", "b"),
        ("$x", ".b32", "read", "a + v[0]"),
        ("$n", None, "read", "5"),
    ]
    assert block.operands[0].early_clobber
    check_places(read(TWO, ".rs"))


@pytest.mark.parametrize(
    ("operand", "access", "is_early"),
    [
        ("in(reg64) p", "read", False),
        ("out(reg64) _", "write", True),
        ("lateout(reg64) p", "write", False),
        ("inout(reg64) p => q", "both", True),
        ("inlateout(reg64) p", "both", False),
    ],
)
def test_the_direction_of_an_operand(operand: str, access: str, is_early: bool) -> None:
    one = block_in(f'asm!("use {{}};", {operand});', ".rs").operands[0]
    assert (one.type, one.access, one.early_clobber) == (".b64", access, is_early)
    assert one.expression == operand.partition(" ")[2]


@pytest.mark.parametrize(
    ("options", "is_volatile", "clobbers"),
    [
        ("", True, True),
        (", options(nomem)", True, False),
        (", options(pure, readonly)", False, False),
    ],
)
def test_options(options: str, is_volatile: bool, clobbers: bool) -> None:
    block = block_in(f'asm!("membar.gl;"{options});', ".rs")
    assert (block.is_volatile, block.clobbers_memory) == (is_volatile, clobbers)


def test_a_raw_template_keeps_its_braces() -> None:
    assert block_in('asm!("{ ret; }", options(raw));', ".rs").text.data == b"{ ret; }"


def test_what_a_macro_makes_is_unknown() -> None:
    text = (
        'macro_rules! m { ($t:ident) => { asm!(concat!("ld.", stringify!($t), " {}, [{}];"), '
        + ("out([<reg $w>]) x, in(reg64) p) } }")
    )
    block = block_in(text, ".rs")
    assert block.text.data.startswith(b"ld._hole")
    assert operands_of(block)[0][:2] == ("$0", None)
    assert findings(text, ".rs") == []
    check_places(read(text, ".rs"))


@pytest.mark.parametrize(
    "text",
    [
        'asm!("mov {}, 5", out(reg) x);',
        'asm!("cpuid", inout("eax") a);',
        'asm!("sdot {a:v}.4s, {b:v}.16b", a = inout(vreg) a, b = in(vreg) b);',
        'asm!("fence.i");',
        'asm!("add.s $f0, $f1, $f2");',
        'asm!("nop", "mfence", "ret");',
    ],
)
def test_other_machines_have_no_findings(text: str) -> None:
    assert findings(text, ".rs") == []


def test_findings_stand_in_the_literal() -> None:
    text = 'asm!("{{",\n"fence.sc.gl;", "mov.u32 {}, q;", "}}", out(reg32) x);'
    assert wrong(text, ".rs") == {".gl", "q"}


@pytest.mark.parametrize(
    "text", ['// asm!("x")', '"asm!(\\"x\\")"', "asm!()", "asm!", "asm!(", 'asm!("']
)
def test_no_block(text: str) -> None:
    assert not read(text, ".rs").blocks


def test_edits_are_written_with_escapes_and_braces() -> None:
    text = """asm!("mov.u32 {}, {x};", r#"not.b32 {0}, {0};"#, "\\tret; \\
        {{ }}", out(reg32) b, x = in(reg32) a);"""
    assert check_edits(text, ".rs") > 400


OXIDE = """ptx_asm!("mul%1.u32 %0, %2, %%tid.x;\nfence.sc.gl; // $", out("=l") product, in("C") MODE,
    inout("+r") x[0], clobber("memory"), options(register_only));"""


def test_the_macro_of_cuda_oxide() -> None:
    block = block_in(OXIDE, ".rs")
    assert block.text.data == b"mul_hole0.u32 %0, %2, %tid.x;\nfence.sc.gl; // $"
    assert operands_of(block) == [
        ("%0", ".b64", "write", "product"),
        ("%1", None, "read", "MODE"),
        ("%2", ".b32", "both", "x[0]"),
    ]
    assert block.operands[0].constraint_at(0) is None, "no edit makes it `+r` or `=&r`"
    assert not block.is_volatile
    assert block.clobbers_memory
    assert wrong(OXIDE, ".rs") == {".gl"}
    check_places(read(OXIDE, ".rs"))
    assert check_edits(OXIDE.replace("%1", "").replace('in("C") MODE,', ""), ".rs") > 300


CUBECL = 'gpu_asm!("mma.m16n8k{k}.row{kind} {d}, {{0, 0}};", "fence.sc.gl;", d = out(_) x, options(nomem));'


def test_the_macro_of_cubecl() -> None:
    block = block_in(CUBECL, ".rs")
    assert block.text.data == b"mma.m16n8k_hole0.row_hole1 _hole2, {0, 0};\nfence.sc.gl;"
    assert wrong(CUBECL, ".rs") == {".gl"}
    check_places(read(CUBECL, ".rs"))
    assert check_edits('gpu_asm!("{{ fence.sc.gl; }}", "ret;");', ".rs") > 200


def test_functions_of_optix_need_no_declaration() -> None:
    assert findings('asm!("call ({}), _optix_get_ray_flags, ();", out(reg32) x);', ".rs") == []
    assert findings('asm!("call ({}), other, ();", out(reg32) x);', ".rs") != []
