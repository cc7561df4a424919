"""The order of blocks: whatever leads to a block comes first, loops stay together."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from ptx_lsp.executor.decoding.flow import ranks


@pytest.mark.parametrize(
    ("successors", "orders"),
    [
        ([[1, 2], [3], [3], []], [[0, 1, 2, 3], [0, 2, 1, 3]]),  # if, else, and where they meet
        ([[1], [2, 3], [1], []], [[0, 1, 2, 3]]),  # a loop and what comes after it
        ([[1], [3, 2], [1], []], [[0, 1, 2, 3]]),
        ([[1], [2, 3], [1], [1, 4], []], [[0, 1, 2, 3, 4], [0, 1, 3, 2, 4]]),  # two ways round
        ([[1], [2, 5], [3, 4], [2], [1], []], [[0, 1, 2, 3, 4, 5]]),  # a loop in a loop
    ],
)
def test_order(successors: list[list[int]], orders: list[list[int]]) -> None:
    found = ranks(successors, 0)
    assert sorted(range(len(found)), key=found.__getitem__) in orders


def test_random_graphs() -> None:
    """Every edge goes up, or back to a block from which its source can be reached; loops stand together."""
    chosen = random.Random(3)
    for _ in range(300):
        count = chosen.randrange(2, 14)
        successors = [
            chosen.sample(range(count), chosen.randrange(min(3, count) + 1)) for _ in range(count)
        ]
        found = ranks(successors, 0)
        reached = _reached(successors, 0)
        assert sorted(found[block] for block in reached) == list(range(len(reached)))
        for block in reached:
            for target in successors[block]:
                assert found[target] > found[block] or block in _reached(successors, target)
            around = [found[one] for one in _reached(successors, block) if block in _reached(successors, one)]
            assert max(around) - min(around) < len(around)


def test_the_cost_of_nested_loops_grows_with_their_number() -> None:
    def cost(count: int) -> int:
        """Of a loop in a loop and so on, each entered from outside of all of them as well."""
        heads = list(range(count + 2))
        edges = [heads[1:], *([one] for one in heads[2:]), [*heads[1:-1], count + 2], []]
        return _calls(lambda: ranks(edges, 0))

    assert cost(200) <= 2.5 * cost(100)


def _calls(work: Callable[[], object]) -> int:
    count = 0

    def tick(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def _reached(successors: list[list[int]], root: int) -> set[int]:
    seen, left = {root}, [root]
    while left:
        for target in successors[left.pop()]:
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen
