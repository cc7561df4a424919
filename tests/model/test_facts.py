"""The parts of a fact that are computed again after an edit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ptx_lsp.facts import (
    InstructionResults,
    Previous,
    collect_over_results,
    directive_fact,
    fact,
    grouped_fact,
    incremental_fact,
    text_fact,
)
from ptx_lsp.model.directives.source_line import source_line
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import (
    collect_over_instructions,
    flattened,
    sparse_instruction_fact,
)
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit

TEXT = """.version 8.5
.target sm_90
.address_size 64
.file 1 "a.cu"
.entry kernel()
{
    .reg .b32 %r<9>;
    mov.b32 %r0, 0;
    mov.b32 %r1, 1;
    .pragma "nounroll";
    .loc 1 7 0
    add.s32 %r2, %r1, 2;
    .loc 1 8 0
    sub.s32 %r3, %r2, 3;
    ret;
}
"""


def edited(module: Module, old: str, new: str) -> Module:
    """`module` with the only `old` replaced; what `old` and `new` have in common is not touched."""
    data = module.document.source.data
    assert data.count(old.encode()) == 1
    at = data.index(old.encode())
    first = same(old, new)
    last = same(old[first:][::-1], new[first:][::-1])
    edit = Edit(at + first, at + len(old) - last, new[first : len(new) - last].encode())
    return Module(module.document.edited(edit), module)


def same(one: str, other: str) -> int:
    """How many characters are the same from the beginning on."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


EVERY = InstructionWake()
"""Every instruction."""
asked: list[str] = []
"""What has been computed."""


@collect_over_instructions(EVERY)
def opcodes(_: Function, instruction: nodes.Instruction) -> Iterator[str]:
    asked.append(instruction.opcode.text)
    if instruction.opcode.text != "ret":
        yield instruction.opcode.text


@sparse_instruction_fact(EVERY)
def operands(function: Function, number: int) -> tuple[nodes.Operand, ...]:
    return function.body.instructions[number].operands[:1]


all_operands = flattened(EVERY, operands)


@collect_over_results(operands)
def registers(_: Function, operand: nodes.Operand) -> Iterator[str]:
    if isinstance(operand, nodes.Name):
        asked.append(operand.text)
        yield operand.text


@grouped_fact
def by_length(function: Function, number: int) -> Iterator[tuple[int, str]]:
    opcode = function.body.instructions[number].opcode.text
    asked.append(opcode)
    yield len(opcode), opcode


@directive_fact
def pragmas(function: Function) -> tuple[str, ...]:
    asked.append("pragmas")
    found = (node for node, _ in function.body.directives if isinstance(node, nodes.Directive))
    return tuple(one.name.text for one in found)


@fact
def count(function: Function) -> int:
    asked.append("count")
    return len(function.body.instructions)


@text_fact
def size(function: Function) -> int:
    asked.append("size")
    return function.item.end - function.item.start


def all_of_them(function: Function) -> tuple[object, ...]:
    of = {length: sorted(found) for length, found in by_length(function).groups.items()}
    return (
        opcodes(function), all_operands(function), registers(function), of, pragmas(function),
        count(function), size(function),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "computed"),
    [
        ("%r2, 3", "%r2, 4", ["sub.s32", "sub.s32", "%r3", "count", "size"]),
        ("1, 2;\n", "1, 2;\n    xor.b32 %r5, %r1, 1;\n",
         ["xor.b32", "xor.b32", "%r5", "count", "size"]),
        ("    add.s32 %r2, %r1, 2;\n", "", ["count", "size"]),
        ("0;\n", "0;\nHERE:\n", ["count", "size"]),
        ("0;\n", "0; // a comment\n\n", ["size"]),
        ("\n    ret", "\n\n    ret", ["size"]),
        ('.pragma "nounroll";', "", ["pragmas", "count", "size"]),
        ("1;\n", "1;\nHERE:\n", ["pragmas", "count", "size"]),
        ("entry kernel", "entry other", None),
        (".reg .b32 %r<9>", ".reg .b32 %r<8>", None),
    ],
)  # fmt: skip
def test_only_what_an_edit_touches(old: str, new: str, computed: list[str] | None) -> None:
    module = Module.parse(TEXT)
    all_of_them(module.functions[0])
    asked.clear()
    after = edited(module, old, new)
    known = all_of_them(after.functions[0])
    if computed is not None:
        assert asked == computed
    else:
        assert len(asked) == 2 * 5 + 4 + 3
    fresh = all_of_them(Module.parse(after.document.source.text).functions[0])
    assert known[0] == fresh[0]
    assert known[2:] == fresh[2:]


def test_several_edits_before_anybody_asks() -> None:
    module = Module.parse(TEXT)
    all_of_them(module.functions[0])
    asked.clear()
    after = edited(edited(module, "%r2, 3", "%r2, 4"), "mov.b32 %r0, 0;", "")
    assert opcodes(after.functions[0]) == ("mov.b32", "add.s32", "sub.s32")
    assert asked == ["mov.b32", "add.s32", "sub.s32"]


def test_found_knows_what_is_between() -> None:
    found = InstructionResults((1, 4, 9), (("a",), ("b",), ("c",)))
    assert found.within(2, 9) == InstructionResults((4,), (("b",),))
    assert found.replaced({4: (), 5: ("d",)}) == InstructionResults((1, 5, 9), (("a",), ("d",), ("c",)))
    assert found.replaced({}) is found


def lines(module: Module) -> list[str]:
    function = module.functions[0]
    return [str(source_line(function, one)) for one in function.body.instructions]


@pytest.mark.parametrize(
    "change", [("%r1, 2", "%r1, 17"), (".loc 1 7 0", ".loc 1 9 0"), ("mov.b32 %r0, 0;", ""), ("a.cu", "b.cu")]
)
def test_source_lines_after_an_edit(change: tuple[str, str]) -> None:
    module = Module.parse(TEXT)
    lines(module)
    after = edited(module, *change)
    assert lines(after) == lines(Module.parse(after.document.source.text))


@pytest.mark.parametrize("number", ["1", "01", "0x1"])
def test_source_lines_in_any_notation(number: str) -> None:
    text = TEXT.replace(".file 1", f".file {number}").replace(".loc 1 7", f".loc {number} 07")
    assert lines(Module.parse(text)) == lines(Module.parse(TEXT))


@incremental_fact
def numbers(function: Function, earlier: Previous[tuple[int, ...]] | None) -> tuple[int, ...]:
    """Any numbers for the instructions, those of before for what was there before."""
    count = len(function.body.instructions)
    if earlier is None:
        return tuple(range(count))
    value, (first, old_end, end) = earlier
    new = range(100 * count, 100 * count + end - first)
    return (*value[:first], *new, *value[old_end:])


def _nothing() -> None:
    pass


meanwhile: list[Callable[[], object]] = [_nothing]


@incremental_fact
def spelling_of(
    function: Function, earlier: Previous[dict[int, str]] | None
) -> dict[int, str]:
    """What the number of each instruction stands for."""
    meanwhile.pop()()
    spelt = dict(zip(numbers(function), _spelt(function), strict=True))
    return spelt if earlier is None else {**spelt, **{n: v for n, v in earlier.value.items() if n in spelt}}


def test_a_newer_version_may_come_while_a_fact_is_computed() -> None:
    meanwhile[:] = [_nothing]
    module = Module.parse(TEXT)
    spelling_of(module.functions[0])
    after = edited(module, "mov.b32 %r0, 0;", "mov.b32 %r0, 0; xor.b32 %r5, %r1, 1;")
    meanwhile[:] = [_nothing, lambda: edited(after, "%r2, 3", "%r2, 4")]
    function = after.functions[0]
    assert tuple(spelling_of(function).values()) == _spelt(function)


def _spelt(function: Function) -> tuple[str, ...]:
    return tuple(one.opcode.text for one in function.body.instructions)
