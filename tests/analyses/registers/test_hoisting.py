"""The orders in which latencies are hidden, before and after registers are allocated."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.analyses._flow import DependenceGraph, Operands

_Words = tuple[int, ...]


class Chains:
    """Straight-line code of words 0, 1, ..., of which each instruction reads some and defines some."""

    def __init__(self, steps: Sequence[tuple[_Words, _Words]], cycles: list[int]) -> None:
        count = len(steps)
        words: list[_Words] = [(n,) for n in range(9)]
        none: list[_Words] = [()] * count
        self.operands = Operands(
            [uses for uses, _ in steps], [defs for _, defs in steps], none, [-1] * count, words, words,
            bytearray(count), {}, 0, count, [],
        )  # fmt: skip
        self.graph = DependenceGraph(self.operands, cycles, 6, [None] * count, False)
        self.more = [0] * count
        self.counted = self.operands.counted(b"")

    def hoisted(self) -> list[int]:
        return self.operands.hoisted(self.graph, self.more, self.counted, 9, 8)

    def reordered(self, order: Sequence[int]) -> int:
        return self.operands.reordered(self.graph, self.more, self.counted, list(order))


def test_a_load_is_hoisted_over_as_much_as_its_latency() -> None:
    # a chain of additions, then a load and its use
    steps: list[tuple[_Words, _Words]] = [((), (0,)), *[((n,), (n + 1,)) for n in range(3)], ((3,), ())]
    steps += [((), (4,)), ((4,), ())]
    orders = [Chains(steps, [5] * 5 + [load, 5]).hoisted() for load in (1, 300)]
    assert [order.index(5) for order in orders] == [4, 0]


def test_an_address_is_computed_while_a_load_is_in_flight_if_its_registers_are_free() -> None:
    # a load, a sum with what was loaded, then an address and the store of the sum
    steps: list[tuple[_Words, _Words]] = [((0,), (3,)), ((1, 3), (4,)), ((), (5,)), ((4, 5), ())]
    code = Chains(steps, [300, 5, 5, 5])
    assert max(code.operands.profile([0, 1, 2, 3], code.more, code.counted)[0]) == 2
    assert code.reordered(range(4)) == 2  # the sum reads the register of the address
    steps[2:] = [((), (5, 6)), ((4, 5, 6), ())]
    code = Chains(steps, [300, 5, 5, 5])
    assert max(code.operands.profile([0, 1, 2, 3], code.more, code.counted)[0]) == 3
    assert code.reordered(range(4)) == 4


def test_results_of_several_words_are_aligned() -> None:
    # one word stays live; a pair is not put beside it, but the word after it is
    steps: list[tuple[_Words, _Words]] = [((), (0,)), ((), (1, 2)), ((1, 2), (3,)), ((), (4,))]
    steps.append(((0, 3, 4), ()))
    assert Chains(steps, [5, 5, 5, 300, 5]).reordered([0, 1, 2, 3, 4]) == 4
    steps[1], steps[2] = ((), (1,)), ((1,), (3,))
    assert Chains(steps, [5, 5, 5, 300, 5]).reordered([0, 1, 2, 3, 4]) == 3
