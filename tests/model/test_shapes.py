"""Shapes: what they are made of, and that equal ones are one object."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions import features
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.instructions.shapes import shape_counts, shape_index, shapes
from ptx_lsp.model.module import Module

EXAMPLES = Path(__file__).parents[2] / "examples"
MODULE = """.version 9.5
.target sm_90
.address_size 64
.global .align 16 .b8 data[64];
.func callee(.reg .b32 a) {{ ret; }}
.entry kernel(.param .b32 in)
{{
    .param .b32 sent;
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    .reg .v4 .f32 %v;
    .reg .pred %p;
    {}
here:
    ret;
}}
"""
PLAIN = "add.s32 %r0, %r1, %r2;"
FEATURES = [
    (PLAIN, 0),
    ("mov.b32 %r0, 7;", features.NUMBER),
    ("mov.b32 %r0, 1.5;", features.NUMBER | features.FLOAT),
    ("mov.b64 %d0, 0x1FFFFFFFFFFFFFFFF;", features.NUMBER | features.OVERFLOW),
    ("@%p add.s32 %r0, %r1, %r2;", features.GUARDED),
    ("@!%p add.s32 %r0, %r1, %r2;", features.GUARDED | features.NEGATED),
    ("@%r0 add.s32 %r0, %r1, %r2;", features.GUARDED | features.UNUSUAL_GUARD),
    ("add .s32 %r0, %r1, %r2;", features.SPACED),
    ("ld.const[2].b32 %r0, [%d0];", features.WITH_BANK | features.SPACED | features.ADDRESS),
    ("ld.global.b32 %r0, [%d0+-4];", features.ADDRESS | features.BINARY | features.UNARY | features.NUMBER),
    ("ld.global.b32 %r0, [%d0+4];", features.ADDRESS | features.OFFSET | features.NUMBER),
    ("ld.global.b32 %r0, [data-4];",
     features.ADDRESS | features.OFFSET | features.NUMBER | features.VARIABLE | features.LARGE_VARIABLE),
    ("ld.global.v2.b32 {%r0, _}, [%d0];", features.ADDRESS | features.VECTOR | features.SINK),
    ("mov.b32 %r0, %tid.x;", features.MEMBER | features.PREDEFINED),
    ("mov.f32 %r0, %v.x;", features.MEMBER | features.VECTOR_REGISTER),
    ("mov.b32 %r0, (1 + WARP_SZ);",
     features.GROUP | features.BINARY | features.NUMBER | features.PREDEFINED),
    ("mov.b32 %r0, 1 ? (.s64) 2 : !3;",
     features.CONDITIONAL | features.CAST | features.UNARY | features.NUMBER | features.GROUP),
    ("setp.eq.s32 %p|_, %r0, %r1;", features.PAIR | features.SINK),
    ("bra here;", features.LABEL),
    ("ld.param.b32 %r0, [in];", features.ADDRESS | features.VARIABLE | features.RECEIVED),
    ("st.param.b32 [sent], %r0;", features.ADDRESS | features.VARIABLE | features.CALL_PARAMETER),
    ("call callee, (%r0);", features.FUNCTION | features.GROUP),
    ("mov.b32 %r0, nothing;", features.UNRESOLVED),
    ("mov.b64 %d0, data[4];",
     features.ELEMENT | features.VARIABLE | features.LARGE_VARIABLE | features.NUMBER),
]  # fmt: skip


def _functions(text: str) -> list[Function]:
    return [one for one in Module.parse(text).functions if one.body.instructions]


def _texts() -> list[str]:
    """Examples, and everything that a rule may find something in."""
    found = [path.read_text() for path in sorted(EXAMPLES.glob("*.ptx"))]
    for rule in all_rules():
        found += re.findall(r"^```ptx\n(.*?)^```", rule.documentation, re.DOTALL | re.MULTILINE)
    return [*found, *(MODULE.format(line) for line, _ in FEATURES)]


@pytest.mark.parametrize(("line", "expected"), FEATURES)
def test_features(line: str, expected: int) -> None:
    shape = shapes(_functions(MODULE.format(line))[-1])[0]
    ignored = features.GROUP if expected & features.CONDITIONAL else 0
    assert shape.features & ~ignored == expected & ~ignored


def test_arguments() -> None:
    """A shape has the operands that each instruction has, however it was found."""
    for text in _texts():
        for function in _functions(text):
            for one, shape in zip(function.body.instructions, shapes(function), strict=True):
                assert shape.spelling == one.opcode.text
                assert shape.arguments == arguments(function, one)
                assert bool(shape.features & features.GUARDED) == (one.guard is not None)


def test_identity() -> None:
    """Shapes are one object across functions and files; registers, names and offsets do not matter."""
    lines = f"{PLAIN} add.s32 %r3, %r0, %r0; @%p {PLAIN} ld.b32 %r0, [%d0+4]; ld.b32 %r1, [%d1+8];"
    one, other = (_functions(MODULE.format(lines))[-1] for _ in range(2))
    assert all(left is right for left, right in zip(shapes(one), shapes(other), strict=True))
    plain, same, guarded, load, another = shapes(one)[:5]
    assert plain is same is not guarded
    assert load is another
    assert plain.arguments == guarded.arguments


def test_counts_and_index() -> None:
    for text in _texts():
        for function in _functions(text):
            of_all, index = shapes(function), shape_index(function)
            expected: dict[Shape, list[int]] = {}
            for number, shape in enumerate(of_all):
                expected.setdefault(shape, []).append(number)
            assert list(index.items()) == list(expected.items())
            counts = shape_counts(function).counts
            assert counts == {shape: len(numbers) for shape, numbers in expected.items()}


def test_the_number_of_kept_shapes_is_limited() -> None:
    """After very many different constants the tables begin anew; shapes in use stay valid."""
    before = _functions(MODULE.format(PLAIN))[-1]
    shape = shapes(before)[0]
    assert shapes(_functions(MODULE.format(PLAIN))[-1])[0] is shape
    many = "".join([f"mov.b32 %r0, {number};" for number in range(33_000)])
    shapes(_functions(MODULE.format(many))[-1])
    again = shapes(_functions(MODULE.format(PLAIN))[-1])[0]
    assert again is not shape is shapes(before)[0]
    assert again.arguments == shape.arguments
