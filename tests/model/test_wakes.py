"""Wakes: which instructions a pass looks at, and that it misses none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import GUARDED, NUMBER
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.instructions.wakes import (
    WAKES,
    InstructionWake,
    function_wakes,
    is_awake,
    wakes_of,
    wakes_of_spelling,
    waking,
)
from ptx_lsp.model.instructions.woken_facts import (
    collect_over_instructions,
    sparse_instruction_fact,
)
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit
from tests.lint.markdown import cases

ROOT = Path(__file__).parents[2]
TEXT = """.version 8.5
.target sm_90
.address_size 64
.entry kernel()
{
    .reg .b32 %r<4>;
    .reg .pred %p;
    mov.b32 %r0, 1;
    add.s32 %r1, %r0, %r0;
    @%p add.s32 %r1, %r0, 2;
    @%p mov.b32 %r2, 3;
    ret;
}
.func idle() { ret; }
"""
ADDING = InstructionWake(opcodes=("add", "sub"))
GUARDED_ADD = InstructionWake(opcodes=("add",), features=GUARDED)
NUMBERS = InstructionWake(features=NUMBER)
OF_S32 = InstructionWake(spelled=lambda spelling: spelling.endswith(".s32"))
TWO_OPERANDS = InstructionWake(features=NUMBER, where=lambda shape: len(shape.arguments) == 2)


def _texts() -> list[str]:
    found = [path.read_text() for path in sorted((ROOT / "examples").glob("*.ptx"))]
    for path in sorted((ROOT / "tests" / "lint").glob("*.md")):
        found += [case.source for case in cases(path)]
    corpus = sorted((ROOT / "tests" / "oracle" / "corpus").rglob("*.ptx"))
    return [*found, *(path.read_text() for path in corpus[::10])]


@pytest.mark.parametrize(
    ("wake", "expected"),
    [
        (ADDING, [1, 2]),
        (GUARDED_ADD, [2]),
        (NUMBERS, [0, 2, 3]),
        (OF_S32, [1, 2]),
        (TWO_OPERANDS, [0, 3]),
    ],
)
def test_waking(wake: InstructionWake, expected: list[int]) -> None:
    function, idle = Module.parse(TEXT).functions
    assert waking(function, wake) == expected
    assert is_awake(function, wake)
    assert not is_awake(idle, wake) and waking(idle, wake) == []


def test_a_later_wake() -> None:
    """A wake counts for functions whose mask is known already."""
    function, _ = Module.parse(TEXT).functions
    before = function_wakes(function)
    wake = InstructionWake(opcodes=("ret",))
    assert not before & wake.bit
    assert waking(function, wake) == [4]


def test_only_woken_instructions_are_visited() -> None:
    seen: list[str] = []

    @collect_over_instructions(NUMBERS)
    def opcodes(_: Function, node: nodes.Instruction) -> Iterator[str]:
        seen.append(node.opcode.text)
        yield node.opcode.text

    @sparse_instruction_fact(ADDING)
    def indices(_: Function, number: int) -> Iterable[int]:
        return (number,) if number == 2 else ()

    module = Module.parse(TEXT)
    function, idle = module.functions
    assert opcodes(function) == ("mov.b32", "add.s32", "mov.b32") == tuple(seen)
    assert opcodes(idle) == () == indices(idle).indices
    assert indices(function).indices == (2,)
    seen.clear()
    start = TEXT.index("add.s32 %r1, %r0, %r0")
    edited = Module(module.document.edited(Edit(start, start + 3, b"sub")), module)
    function, _ = edited.functions
    assert opcodes(function) == ("mov.b32", "add.s32", "mov.b32") and seen == []
    assert indices(function).indices == (2,)


def test_no_wake_is_too_narrow() -> None:
    """Awake at all instructions of their opcodes, the rules find the same. A condition that is only on the
    whole shape says what is found, not where it may be.
    """
    rules = all_rules()
    exact = sum(one.bit for one in WAKES if one.where is not None and not one.features)
    for text in _texts():
        expected = _found(text, rules)
        known: list[Shape] = []
        for function in Module.parse(text).functions:
            known += shapes(function)
        for shape in known:
            shape.wakes = wakes_of(shape) & exact | wakes_of_spelling(shape.spelling) & ~exact
        found = _found(text, rules)
        for shape in known:
            shape.wakes_known = 0
        assert found == expected


def _found(text: str, rules: tuple[Rule, ...]) -> list[Diagnostic]:
    return LintSession(Module.parse(text), rules).diagnostics
