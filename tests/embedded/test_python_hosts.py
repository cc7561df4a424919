"""Inline assembly in Python by Triton, MLIR's LLVM dialect and Numba."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.embedded.block import Block
from ptx_lsp.text import Edit, Source
from tests.embedded.reading import (
    block_in,
    check_edits,
    check_places,
    findings,
    operands_of,
    read,
)
from tests.strength import seeds

TRITON = '''import triton.language as tl
def f(x, y):
    return tl.inline_asm_elementwise(
        asm=f"""{{
            .reg .b32 t;
            add.u32 t, $1, $2;  // {x}
            mov.b32 $0, t; }}""",
        constraints=("=&r,"
                     "r,r"), args=[x, (y + 1)], dtype=tl.int32, is_pure=False, pack=1)
'''
CUTE = r"""
def f(a, b):
    llvm.inline_asm(
        None, [a.ir_value(), b],
        "{\n\t"
        ".reg .pred p|q;\n\t"
        'mov.b64 $0, $1; }',
        "=l,l,r,~{memory}", has_side_effects=True, is_align_stack=False)
"""


def errors(text: str) -> list[tuple[str, str]]:
    """The rule of each error, and the text where it stands."""
    return [(rule, where) for severity, rule, where in findings(text, ".py") if severity == "error"]


NUMBA = """
asm = ir.InlineAsm(fnty, f"{op}.f16 $0,$1,$2;", '=h,h,h')
builder.call(ir.InlineAsm(fnty, "activemask.b32 $0;", "=r", side_effect=True), [])
"""


def test_triton() -> None:
    block = block_in(TRITON, ".py")
    assert block.host == "triton"
    assert b"add.u32 t, $1, $2;  // _hole0\n" in block.text.data
    assert operands_of(block) == [
        ("$0", ".b32", "write", ""),
        ("$1", ".b32", "read", "x"),
        ("$2", ".b32", "read", "(y + 1)"),
    ]
    assert block.operands[0].early_clobber
    assert block.is_volatile
    check_places(read(TRITON, ".py"))


def test_a_block_that_is_pure_is_not_volatile() -> None:
    assert not block_in(TRITON.replace("False", "True"), ".py").is_volatile


def test_packed_arguments_are_not_told_apart() -> None:
    block = block_in(TRITON.replace("[x, (y + 1)]", "[x]"), ".py")
    assert [one.expression for one in block.operands] == ["", "", ""]


def test_the_dialect_of_llvm() -> None:
    block = block_in(CUTE, ".py")
    assert block.host == "cute-dsl"
    assert block.text.data == b"{\n\t.reg .pred p|q;\n\tmov.b64 $0, $1; }"
    assert operands_of(block) == [
        ("$0", ".b64", "write", ""),
        ("$1", ".b64", "read", "a.ir_value()"),
        ("$2", ".b32", "read", "b"),
    ]
    assert block.clobbers_memory
    assert block.is_volatile
    check_places(read(CUTE, ".py"))


def test_numba() -> None:
    first, second = read(NUMBA, ".py").blocks
    assert first.text.data == b".f16 $0,$1,$2;"
    assert not first.is_volatile
    assert operands_of(second) == [("$0", ".b32", "write", "")]
    assert second.is_volatile
    check_places(read(NUMBA, ".py"))


@pytest.mark.parametrize(
    "text",
    [
        CUTE,
        'llvm.inline_asm(None, [], r"mov.b32 $0, %laneid; // \\d e", "=r")\n',
        "llvm.inline_asm(None, [], '''add.u32 $0,\n $0, \"\"\"1''', '=r')\n",
        'llvm.inline_asm(None, [], f"a{{b}}$$c;" fr"{{$0}}", "=r")\n',
        'llvm.inline_asm(None, [], b"a\\x41\\n" b"\\\nc", "=r")\n',
    ],
)
def test_what_is_edited_is_read_again(text: str) -> None:
    assert check_edits(text, ".py") > 20


def test_the_branches_of_a_name_are_blocks_with_their_constraints() -> None:
    text = """
def f(x):
    if x:
        asm = "clz.b32 $0, $1;"
        constraints = "=r,r"
    else:
        asm = "clz.b64 $0, $1;"
        constraints = "=r,l"
    llvm.inline_asm(None, [x], asm, constraints)
"""
    document = read(text, ".py")
    assert [[one.type for one in block.operands] for block in document.blocks] == [
        [".b32", ".b32"],
        [".b32", ".b64"],
    ]
    assert findings(text, ".py") == []
    check_places(document)


def test_the_values_of_a_dictionary_are_blocks() -> None:
    text = """
TEXTS = {"a": "mov.b32 $0, 1;", "b": "movs.b32 $0, 2;"}
llvm.inline_asm(None, [], TEXTS[kind], "=r")
"""
    assert [block.text.data for block in read(text, ".py").blocks] == [
        b"mov.b32 $0, 1;",
        b"movs.b32 $0, 2;",
    ]
    assert errors(text) == [("unknown-opcode", "movs")]


def test_a_text_that_two_calls_use_is_one_block() -> None:
    text = 'A = "movs.b32 $0, 1;"\n' + 2 * 'llvm.inline_asm(None, [], A, "=r")\n'
    assert len(read(text, ".py").blocks) == 1


def test_a_parameter_is_no_block() -> None:
    text = 'def f(asm):\n    llvm.inline_asm(None, [], asm, "=r")\n'
    assert read(text, ".py").blocks == ()


def test_operands_of_unknown_constraints_may_have_any_name() -> None:
    text = 'llvm.inline_asm(None, [], "mov.b32 $0, $7;", constraints_of(x))\n'
    assert not block_in(text, ".py").operands_known
    assert findings(text, ".py") == []


def test_other_machines_are_left_out() -> None:
    text = 'tl.inline_asm_elementwise("v_mov_b32 $0, $1", "=v,v", [x], dtype=t, is_pure=True, pack=1)\n'
    assert read(text, ".py").blocks == ()
    assert findings(text.replace("=v,v", "=r,r"), ".py") == []


def test_findings_stand_in_the_literal() -> None:
    text = 'llvm.inline_asm(None, [a], "\\n\\tmovs.b32 " "$0, $9;", "=r,r")\n'
    assert errors(text) == [("unknown-opcode", "movs"), ("unknown-operand", "$9")]


def test_an_input_tied_to_an_output_initialises_it() -> None:
    text = 'llvm.inline_asm(T.f32(), [a], "add.f32 $0, $0, $1;", "=f,0")\n'
    assert findings(text, ".py") == []


def test_predicates() -> None:
    text = 'llvm.inline_asm(T.i32(), [a], "@$1 mov.b32 $0, 1;", "=r,b")\n'
    assert findings(text, ".py") == [("hint", "uninitialised-output", "=r")]


NVVM = """
w, x = cute.arch.inline_ptx(
    "{ .reg .b32 t; add.u32 t, {$r0}, {$rw0}; mov.b32 {$w0}, t;\\n"
    f"mov.b64 {{$rw0}}, {x}; }}",
    write_only_types=[Float32], read_only_args=[Int32(a).ir_value(loc=loc), b], read_write_args=[c])
"""


def test_operands_of_nvvm_have_the_types_that_are_written() -> None:
    block = block_in(NVVM, ".py")
    assert block.host == "nvvm"
    assert block.text.data == (
        b"{ .reg .b32 t; add.u32 t, $r0, $rw0; mov.b32 $w0, t;\nmov.b64 $rw0, _hole0; }"
    )
    assert operands_of(block) == [
        ("$rw0", None, "both", "c"),
        ("$w0", ".f32", "write", ""),
        ("$r0", ".b32", "read", "Int32(a).ir_value(loc=loc)"),
        ("$r1", None, "read", "b"),
    ]
    check_places(read(NVVM, ".py"))


def test_the_operation_of_nvvm_has_its_template_last() -> None:
    text = 'nvvm.inline_ptx([T.i32()], [a], [], "mov.b32 {$w0}, {$r0};", loc=loc)\n'
    assert operands_of(block_in(text, ".py")) == [
        ("$w0", ".b32", "write", ""),
        ("$r0", None, "read", "a"),
    ]
    assert findings(text, ".py") == []


def test_operands_of_nvvm_are_written_in_braces() -> None:
    text = 'inline_ptx(f"mov.b32 {{$w0}}, 1;" "x$$y", write_only_types=[Int32])\n'
    block = block_in(text, ".py")
    assert block.text.encode_at(0)("$w0 $x") == "{{$w0}} $$x"
    assert check_edits(text, ".py") > 20


def test_unknown_statements_may_declare_names_and_open_blocks() -> None:
    text = 'llvm.inline_asm(None, [], start + " mov.b32 $0, t; " f"{op} _lo, $0; }", "=r")\n'
    assert findings(text, ".py") == []
    known = text.replace("start + ", "").replace('f"{op} _lo', '"mov.b32 _lo')
    assert findings(known, ".py") == [
        ("error", "undeclared-name", "t"),
        ("error", "undeclared-name", "_lo"),
        ("error", "outside-function", ""),
    ]


def test_an_unknown_number_of_registers_is_enough() -> None:
    text = 'llvm.inline_asm(None, [], f".reg .b32 t<{n}>; mov.b32 t7, 1; mov.b32 $0, t7;", "=r")\n'
    assert findings(text, ".py") == []


WRAPPED = """
def _asm(result, ptx: str, constraints, args, *, loc=None):
    return llvm.inline_asm(result, args, ptx, constraints, has_side_effects=False, loc=loc)

def _unary(asm, x):
    return llvm.inline_asm(T.f32(), [x.ir_value()], asm, "=f,f,~{memory}", has_side_effects=True)

a = _asm(T.i32(), "adds.u32 $0, $1, 1;", "=r,r", [x + 1])
b = _unary(asm="rcp.approx.ftz.f32 $0, $1;", x=y)
"""


def test_functions_that_pass_their_arguments_on() -> None:
    first, second = read(WRAPPED, ".py").blocks
    assert operands_of(first) == [("$0", ".b32", "write", ""), ("$1", ".b32", "read", "x + 1")]
    assert operands_of(second) == [("$0", ".f32", "write", ""), ("$1", ".f32", "read", "")]
    assert (first.is_volatile, second.is_volatile) == (False, True)
    assert second.clobbers_memory
    assert WRAPPED[first.start :].startswith('_asm(T.i32(), "adds')
    assert errors(WRAPPED) == [("unknown-opcode", "adds")]
    check_places(read(WRAPPED, ".py"))


def test_a_block_that_depends_on_a_name_is_not_kept_after_an_edit() -> None:
    text = 'OP = "add"\nllvm.inline_asm(None, [], f"{OP}.u32 $0, 1, 1;", "=r")\n'
    assert not block_in(text, ".py").is_context_free
    assert block_in(text.replace("{OP}", "add"), ".py").is_context_free


def test_a_literal_that_only_interpolates_a_name() -> None:
    text = 'P = "mov.b32 $0, 1;"\nllvm.inline_asm(None, [], f"{P}", f"=r")\n'
    block = block_in(text, ".py")
    assert block.start + block.text.host_offset(0) == text.index("mov")


def test_pytorch() -> None:
    text = 'y = inline_asm_elementwise(a, asm_str="mov.b32 $0, $1;", constraints="=r,r", dtype=t)\n'
    assert block_in(text, ".py").text.data == b"mov.b32 $0, $1;"


def test_partial_functions() -> None:
    text = """
def base(p, *, ptx: str = ""):
    return llvm.inline_asm(T.i32(), [p], ptx, "=r,l", has_side_effects=True)

first = partial(base, ptx="ld.global.u32 $0, [$1];")
second = functools.partial(base, p, ptx="ld.globl.u32 $0, [$1];")
"""
    assert len(read(text, ".py").blocks) == 2
    assert errors(text) == [("wrong-modifier", ".globl")]


EVERYTHING = (
    TRITON
    + CUTE
    + NUMBA
    + NVVM
    + WRAPPED
    + "OP = \"add\"\nuse('''asm(\"mov.u32 a, 1;\" : \"=r\"(x));''')\n"
)


@pytest.mark.parametrize("seed", seeds(8, 30))
def test_blocks_after_random_edits_are_those_of_a_fresh_start(seed: int) -> None:
    rng = random.Random(seed)
    text = EVERYTHING.encode()
    document = read(text, ".py")
    for _ in range(25):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 3, 20)))
        new = rng.choice(
            (
                b"",
                b'"',
                b"'",
                b"{",
                b"}",
                b"\\",
                b"\n",
                b"$1",
                b"#",
                b"f",
                b"'''",
                b"(",
                b")",
                b"x",
                b"\xc3",
            )
        )
        text = text[:start] + new + text[end:]
        document = document.edited(Edit(start, end, new), Source(text))
        fresh = read(text, ".py")
        assert [_shape(one) for one in document.blocks] == [_shape(one) for one in fresh.blocks]


def _shape(block: Block) -> tuple[object, ...]:
    pieces = [(piece.start, piece.host, piece.kind) for piece in block.text.pieces]
    places = block.keyword, block.template, block.start, block.length, block.is_volatile
    return block.host, places, block.operands, block.clobbers, block.text.data, pieces
