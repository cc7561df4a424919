"""Insertions that complete an instruction."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.matching.insertion import Insertion, ways
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.target import Target, Version

FLOAT, BITS, LONG, PREDICATE = (
    Argument("register", type) for type in (".f32", ".b32", ".b64", ".pred")
)
MEMORY = Argument("address", parts=(LONG,))
MATRIX = Argument("vector", parts=(BITS,))
NEW = (Version(9, 5), Target(90, "a"))


@pytest.mark.parametrize(
    ("spelling", "arguments", "expected"),
    [
        ("mul", (FLOAT, FLOAT, FLOAT), [(0, ".f32")]),
        ("setp.lt", (PREDICATE, FLOAT, FLOAT), [(1, ".f32")]),
        ("mul.s32", (LONG, BITS, BITS), [(0, ".wide")]),
        ("elect", (BITS._replace(pair=PREDICATE), BITS), [(0, ".sync")]),
        ("ldmatrix.m8n8.x1.shared.b16", (MATRIX, MEMORY), [(0, ".sync"), (0, ".aligned")]),
        ("ld.global.f32", (FLOAT, MEMORY, LONG), [(1, ".L2::cache_hint")]),
        ("ex2.f32", (FLOAT, FLOAT), [(0, ".approx")]),  # once it was optional
    ],
)
def test_the_only_way(
    spelling: str, arguments: tuple[Argument, ...], expected: list[Insertion]
) -> None:
    assert [list(way) for way in ways(spelling, arguments, *NEW, most=1)] == [expected]


@pytest.mark.parametrize(
    ("spelling", "arguments"),
    [
        ("mul.s32", (BITS, BITS, BITS)),  # .hi and .lo
        ("add", (BITS, BITS, BITS)),
        ("mul.lo.s32", (BITS, BITS)),  # no modifier is missing
        ("mul", (FLOAT, FLOAT)),
        ("nothing", (FLOAT,)),
        ("cp", (MEMORY, MEMORY)),  # too many ways to try
    ],
)
def test_none_or_several_ways(spelling: str, arguments: tuple[Argument, ...]) -> None:
    assert ways(spelling, arguments, *NEW, most=1) == ()


@pytest.mark.parametrize(
    ("spelling", "arguments", "expected"),
    [
        ("mul.s32", (BITS,) * 3, [".hi", ".lo"]),  # .wide needs another destination
        ("fma.f32", (FLOAT,) * 4, [".rn", ".rz", ".rm", ".rp"]),
        ("mad.s32", (BITS,) * 4, [".hi", ".lo"]),  # neither .hi.sat nor .lo.cc
        ("add", (BITS,) * 3, []),  # more than six
    ],
)
def test_a_few_ways(spelling: str, arguments: tuple[Argument, ...], expected: list[str]) -> None:
    found = ways(spelling, arguments, *NEW, most=6)
    assert ["".join(one.modifier for one in way) for way in found] == expected


def test_what_the_target_lacks_is_no_way() -> None:
    elect = ("elect", (BITS._replace(pair=PREDICATE), BITS))
    assert ways(*elect, Version(8, 0), Target(90), most=1) != ()
    assert ways(*elect, Version(8, 0), Target(80), most=1) == ()
    assert ways(*elect, None, None, most=1) != ()
