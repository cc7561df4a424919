"""What is said of a condition is true for every warp of a block, computed thread by thread."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ptx_lsp.analyses.divergence.lane_predicates import lane_predicates
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.model.module import Module
from tests.strength import seeds

THREADS = 1024
WARP = 32
_HEAD = ".version 8.5\n.target sm_90\n.address_size 64\n.entry kernel() .reqntid 1024\n{\n"
_STEPS: dict[str, Callable[[int, int], int]] = {
    "add.s32": lambda value, by: value + by,
    "sub.s32": lambda value, by: value - by,
    "mul.lo.s32": lambda value, by: value * by,
    "shl.b32": lambda value, by: value << by % 5,
    "shr.u32": lambda value, by: value >> by % 6,
    "and.b32": lambda value, by: value & by,
    "or.b32": lambda value, by: value | by,
    "xor.b32": lambda value, by: value ^ by,
}
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
}


def _program(chance: random.Random) -> tuple[str, list[bool]]:
    """A kernel that makes one predicate of `%tid.x`, and what each thread finds of it."""
    lines = [".reg .b32 %r<9>;", ".reg .pred %p<9>;", "mov.u32 %r0, %tid.x;"]
    values = list(range(THREADS))
    count = chance.randrange(4)
    for number in range(count):
        name = chance.choice(sorted(_STEPS))
        by = chance.choice((0, 1, 3, 4, 5, 8, 31, 32, 64))
        by = by % 5 if name == "shl.b32" else by % 6 if name == "shr.u32" else by
        lines.append(f"{name} %r{number + 1}, %r{number}, {by};")
        values = [_STEPS[name](value % 2**32, by) % 2**32 for value in values]
    found = [False] * THREADS
    for number in range(2):
        test, kind = chance.choice(sorted(_TESTS)), chance.choice(("u32", "s32"))
        with_ = chance.choice((0, 1, 5, 31, 32, 33, 64, 65, 100))
        lines.append(f"setp.{test}.{kind} %p{number}, %r{count}, {with_};")
        seen = values if kind == "u32" else [v - 2**32 if v >> 31 else v for v in values]
        mine = [_TESTS[test](value, with_) for value in seen]
        combined = chance.choice(("and", "or", "xor")) if number else ""
        if combined:
            lines.append(f"{combined}.pred %p2, %p0, %p1;")
            found = [bool(_STEPS[f"{combined}.b32"](x, y)) for x, y in zip(found, mine, strict=True)]
        else:
            found = mine
    lines.append("@!%p2 bar.sync 0;")
    lines.append("ret;")
    return _HEAD + "\n".join(lines) + "\n}\n", [not one for one in found]


@pytest.mark.parametrize("seed", seeds(100, 400))
def test_conditions_are_true(seed: int) -> None:
    text, found = _program(random.Random(seed))
    function = next(iter(Module.parse(text).functions))
    guarded = next(step for step in instructions(function).instructions if step.is_guarded)
    condition = lane_predicates(function).guard(guarded)
    warps = [tuple(found[first : first + WARP]) for first in range(0, THREADS, WARP)]
    if condition.first_warp_lanes is not None:
        assert condition.first_warp_lanes == warps[0], text
    if condition.is_divergent is False:
        assert all(len(set(warp)) == 1 for warp in warps), text


def test_most_conditions_are_known() -> None:
    known = exact = 0
    for seed in range(400):
        text, _ = _program(random.Random(seed))
        function = next(iter(Module.parse(text).functions))
        guarded = next(step for step in instructions(function).instructions if step.is_guarded)
        condition = lane_predicates(function).guard(guarded)
        known += condition.is_divergent is not None
        exact += condition.first_warp_lanes is not None
    assert known > 250
    assert exact > 250
