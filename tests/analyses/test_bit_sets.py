"""Bit sets, and the solver for them, are in C and agree with simple definitions."""

from __future__ import annotations

from random import Random

import pytest

from ptx_lsp.analyses import _flow
from ptx_lsp.analyses.bitset import BitIndex


@pytest.mark.parametrize("seed", range(20))
def test_bit_sets(seed: int) -> None:
    choice = Random(seed)
    numbers = choice.sample(range(1000), choice.choice((0, 1, 64, 65, 300)))
    index = BitIndex(numbers)
    chosen = [frozenset(choice.sample(numbers, choice.randrange(len(numbers) + 1))) for _ in range(5)]
    found = index.masks([*map(tuple, chosen), *chosen, {-5}])
    assert found == [sum(1 << numbers.index(one) for one in members) for members in chosen] * 2 + [0]
    assert [index.members(bits) for bits in found[:5]] == chosen


@pytest.mark.parametrize("seed", range(20))
def test_live_at_starts(seed: int) -> None:
    choice = Random(seed)
    count = choice.choice((1, 2, 9, 40))
    into = tuple(tuple(choice.choices(range(count), k=choice.randrange(4))) for _ in range(count))
    ranks = tuple(choice.sample(range(count), count))
    gen = [choice.getrandbits(100) & choice.getrandbits(100) & choice.getrandbits(100) for _ in into]
    kept = [~choice.getrandbits(100) for _ in into]
    found = gen.copy()
    for _ in range(count):
        for block, sources in enumerate(into):
            for source in sources:
                found[source] |= found[block] & kept[source]
    assert _flow.live_at_starts(into, ranks, gen, kept) == found


@pytest.mark.parametrize(
    ("into", "ranks", "kept"), [(((1,),), (0,), [1]), (((),), (), [1]), (((0,),), (0,), [])]
)
def test_other_graphs_are_refused(
    into: tuple[tuple[int, ...], ...], ranks: tuple[int, ...], kept: list[int]
) -> None:
    with pytest.raises((ValueError, IndexError)):
        _flow.live_at_starts(into, ranks, [1], kept)
