"""`@asmcall` and `llvmcall` in Julia."""

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

CALL = """f(x) = @asmcall("fence.sc.gl; mov.u32 \\$0, q;\\n", "=r,l,~{memory}", true, UInt32,
    Tuple{Int}, convert(Int, x))"""


def test_the_arguments_of_asmcall() -> None:
    block = block_in(CALL, ".jl")
    assert block.text.data == b"fence.sc.gl; mov.u32 $0, q;\n"
    assert operands_of(block) == [
        ("$0", ".b32", "write", ""),
        ("$1", ".b64", "read", "convert(Int, x)"),
    ]
    assert block.is_volatile
    assert block.clobbers_memory
    check_places(read(CALL, ".jl"))
    assert wrong(CALL, ".jl") == {".gl", "q"}


@pytest.mark.parametrize(
    ("arguments", "is_volatile", "names"),
    [
        ("", False, []),
        (', "r", UInt32, Tuple{Int}, x', False, ["$0"]),
        (', "r", false, UInt32, Tuple{Int}, x...', False, ["$0"]),
        (", true, UInt32", True, []),
    ],
)
def test_what_may_be_left_out(arguments: str, is_volatile: bool, names: list[str]) -> None:
    block = block_in(f'@asmcall("membar.gl;"{arguments})', ".jl")
    assert (block.is_volatile, [one.name for one in block.operands]) == (is_volatile, names)


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (r'"a\tb\x41\u00e9\$0 \"\\ \101"', 'a\tbAé$0 "\\ A'),
        ('"a\\\n   b"', "ab"),
        (r'raw"\n$0 \" \\\" x\\"', r"\n$0 " + '" \\" x\\'),
        ('"""\n    a\n      b\n\n    c\n    """', "a\n  b\n\nc\n"),
        ('"""\n    a\n      b\n  """', "  a\n    b\n"),
        ('"""a\n  b\\n  c"""', "a\nb\n  c"),
        ('raw"""\n\ta\n\t  b"""', "a\n  b"),
        ('"a $(f("x")) $y;"', "a _hole0 _hole1;"),
    ],
)
def test_literals(literal: str, text: str) -> None:
    call = f'@asmcall({literal}, "")'
    assert block_in(call, ".jl").text.data.decode() == text.replace("$$", "$")
    check_places(read(call, ".jl"))


def test_a_template_without_a_literal_is_no_block() -> None:
    assert not read('@asmcall($intr, "=r", true, T)\n# @asmcall("x")\n', ".jl").blocks


def test_unknown_constraints_leave_the_operands_unknown() -> None:
    text = '@asmcall("add.u32 \\$0, \\$1, \\$2;", $letters, true, T)'
    assert not block_in(text, ".jl").operands_known
    assert findings(text, ".jl") == []


IR = '''Base.llvmcall("""
    %1 = call i32 asm sideeffect "mov.u32 \\$0, q; fence.sc.gl;\\\\0A", "=r,l"(i64 %0) ; asm
    ret i32 %1""", UInt32, Tuple{})'''


def test_the_ir_of_llvmcall() -> None:
    block = block_in(IR, ".jl")
    assert block.text.data == b"mov.u32 $0, q; fence.sc.gl;\n"
    assert operands_of(block) == [("$0", ".b32", "write", ""), ("$1", ".b64", "read", "i64 %0")]
    check_places(read(IR, ".jl"))
    assert wrong(IR, ".jl") == {"q", ".gl"}


@pytest.mark.parametrize(
    "text",
    [
        '@asmcall("ret;\\n\\$0 \\$\\$ \\" é", "=r")',
        '@asmcall(raw"ret; $0 ", "=r")',
        '@asmcall("""\n  ret;\n  exit;\n  """, "")',
        '@asmcall(raw"""\n  ret;\n  exit;\n  """, "")',
        'Base.llvmcall("""\n  call void asm "ret;\\\\0A \\$0", "r"(i32 %1)\n  """, Cvoid)',
    ],
)
def test_edits_are_written_with_escapes(text: str) -> None:
    assert check_edits(text, ".jl") > 60
