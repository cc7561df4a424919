"""`inlined_assembly` in Mojo."""

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

CALL = """var r = inlined_assembly[
    (
        "fence.sc.gl; mov.u32 $0, "  # a comment
        'q;\\n'
    ) + r"// \\$$",
    UInt32,
    constraints="=r,l,~{memory}",
    has_side_effect=False,
](self.ptr(1, 2))"""


def test_a_call() -> None:
    block = block_in(CALL, ".mojo")
    assert block.text.data == b"fence.sc.gl; mov.u32 $0, q;\n// \\$"
    assert operands_of(block) == [
        ("$0", ".b32", "write", ""),
        ("$1", ".b64", "read", "self.ptr(1, 2)"),
    ]
    assert not block.is_volatile
    assert block.clobbers_memory
    check_places(read(CALL, ".mojo"))
    assert wrong(CALL, ".mojo") == {".gl", "q"}


def test_names_have_the_text_above_them() -> None:
    text = 'comptime asm = """\n  ret;\n"""\ninlined_assembly[asm, NoneType, constraints="r"](x)'
    block = block_in(text, ".mojo")
    assert block.text.data == b"\n  ret;\n"
    assert block.is_volatile
    check_places(read(text, ".mojo"))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ('op + " $0;"', b" $0;"),
        ('"add." + op', b"add._hole0"),
        ('"ret;" if is_new() else "exit;"', b"ret;"),
        ('"add." + String(x, "y") + ";"', b"add._hole0;"),
    ],
)
def test_parts_that_are_not_literals(template: str, text: bytes) -> None:
    call = f"inlined_assembly[{template}, T, constraints=letters](x)"
    block = block_in(call, ".mojo")
    assert block.text.data == text
    assert not block.operands_known
    assert findings(call, ".mojo") == []


@pytest.mark.parametrize(
    "text",
    [
        "fn inlined_assembly[asm: StringLiteral]()",
        '# inlined_assembly["ret;", T, constraints=""]()',
        "'inlined_assembly[\"ret;\"]'",
        'inlined_assembly["ret;"',
        "inlined_assembly[asm, T]()",
        "inlined_assembly",
    ],
)
def test_no_block(text: str) -> None:
    assert not read(text, ".mojo").blocks


@pytest.mark.parametrize(
    "call", ['"s_sleep 0", T, constraints=""', '"cpuid", T, constraints="={eax},{ecx}"']
)
def test_other_machines_have_no_findings(call: str) -> None:
    assert findings(f"inlined_assembly[{call}](x)", ".mojo") == []


def test_edits_are_written_with_escapes() -> None:
    call = 'inlined_assembly["ret;\\n\\"" \'\\x41$$\' """\n$0""", T, constraints="r"](x)'
    assert check_edits(call, ".mojo") > 100
