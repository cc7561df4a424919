"""Bit sets, which are in C, agree with sets."""

from __future__ import annotations

from random import Random

import pytest

from analyses.bitset import BitIndex


@pytest.mark.parametrize("seed", range(20))
def test_bit_sets(seed: int) -> None:
    choice = Random(seed)
    numbers = choice.sample(range(1000), choice.choice((0, 1, 64, 65, 300)))
    index = BitIndex(numbers)
    chosen = [frozenset(choice.sample(numbers, choice.randrange(len(numbers) + 1))) for _ in range(5)]
    found = index.masks([*map(tuple, chosen), *chosen, {-5}])
    assert found == [sum(1 << numbers.index(one) for one in members) for members in chosen] * 2 + [0]
    assert [index.members(bits) for bits in found[:5]] == chosen
