"""The order of blocks: whatever leads to a block comes first, loops stay together."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.executor.flow import ranks


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
    """Every edge goes up, or back to a block from which its source can be reached."""
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


def _reached(successors: list[list[int]], root: int) -> set[int]:
    seen, left = {root}, [root]
    while left:
        for target in successors[left.pop()]:
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen
