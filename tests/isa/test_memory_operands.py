"""The operand requirements of memory instructions, as a sentence for users."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import Argument

SHARED = Argument("address", parts=(Argument("variable", ".b32", ".shared"),))
KERNEL_PARAMETER = Argument("address", parts=(Argument("variable", ".b32", ".param"),))
POINTER = Argument("address", parts=(Argument("register", ".u64"),))
TEXTURE = Argument("variable", ".texref", ".global")
WORD = Argument("register", ".b32")
FLOAT = Argument("register", ".f32")


def vector(one: Argument, length: int) -> Argument:
    return Argument("vector", parts=(one,) * length)


def texel(coordinates: Argument) -> tuple[Argument, ...]:
    return vector(FLOAT, 4), Argument("address", parts=(TEXTURE, coordinates))


@pytest.mark.parametrize(
    ("spelling", "arguments", "message"),
    [
        ("ld.b32", (WORD, SHARED), ""),
        ("ld.b32", (WORD, KERNEL_PARAMETER), "expected `.global` or `.shared` or `.local`"),
        ("ld.global.b32", (WORD, SHARED), "this address is in `.shared`; expected `.global`"),
        ("ld.b32", (vector(WORD, 1), POINTER), ""),
        ("ld.b32", (vector(WORD, 2), POINTER), "a vector of"),
        ("st.v2.b32", (POINTER, Argument("vector", parts=(Argument("sink"), WORD))), "_ is only allowed in"),
        ("ld.global.L2::cache_hint.b32", (WORD, POINTER), "requires a cache policy"),
        ("tex.1d.v4.f32.s32", texel(vector(WORD, 1)), ""),
        ("tex.1d.v4.f32.s32", texel(vector(WORD, 4)), ""),
        ("tex.1d.v4.f32.s32", texel(vector(WORD, 3)), "a vector of 1 elements"),
        ("tex.3d.v4.f32.s32", texel(vector(WORD, 3)), "a vector of 4 elements"),
        ("st.bulk", (POINTER, Argument("integer", value=12), Argument("integer", value=0)),
         "12 is not a multiple of 8"),
    ],
)
def test_operands(spelling: str, arguments: tuple[Argument, ...], message: str) -> None:
    match = resolve(spelling).match(arguments)
    assert match is not None
    told = " ".join(problem.message for problem in match.problems)
    assert message in told
    assert bool(message) == bool(told)
