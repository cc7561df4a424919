"""Hoisting by latency, in code that is given."""

from __future__ import annotations

from analyses._flow import DependenceGraph, Operands


def test_a_load_is_hoisted_over_as_much_as_its_latency() -> None:
    words: list[tuple[int, ...]] = [(0,), (1,), (2,), (3,), (4,)]
    uses = [(), (0,), (1,), (2,), (3,), (), (4,)]  # a chain of additions, then a load and its use
    defs = [(0,), (1,), (2,), (3,), (), (4,), ()]
    code = Operands(uses, defs, [()] * 7, [-1] * 7, words, words, bytearray(7), {}, 0, 7, [])
    cycles = ([5] * 5 + [load, 5] for load in (1, 300))
    graphs = [DependenceGraph(code, one, 6, [None] * 7, False) for one in cycles]
    assert [code.hoisted(graph, [0] * 7, bytes(7), code.counted(b""), 9, 8) for graph in graphs] == [2, 3]
