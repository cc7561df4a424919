"""Dominators beside those of networkx, on graphs made at random: some irreducible, some without a way out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from random import Random
from typing import Protocol, cast

import pytest

from ptx_lsp.analyses.control_flow.cfg import Cfg, cfg
from ptx_lsp.analyses.control_flow.dominance import Dominance, Loop, dominance
from ptx_lsp.model.module import Module
from tests.strength import seeds


class Graph(Protocol):
    """What is used of the directed graphs of networkx, which tells no types of itself."""

    @property
    def nodes(self) -> Iterable[int]: ...
    @property
    def edges(self) -> Iterable[tuple[int, int]]: ...
    def add_nodes_from(self, nodes: Iterable[int]) -> None: ...
    def reverse(self) -> Graph: ...
    def subgraph(self, nodes: Iterable[int]) -> Graph: ...


class Networkx(Protocol):
    """What is used of networkx."""

    DiGraph: Callable[[Iterable[tuple[int, int]]], Graph]

    def immediate_dominators(self, graph: Graph, start: int) -> Mapping[int, int | None]: ...
    def descendants(self, graph: Graph, source: int) -> set[int]: ...
    def ancestors(self, graph: Graph, source: int) -> set[int]: ...
    def is_directed_acyclic_graph(self, graph: Graph) -> bool: ...


networkx = cast(Networkx, import_module("networkx"))


def function_text(random: Random, blocks: int) -> str:
    """A kernel of labelled blocks, each of which ends in some jump."""
    lines: list[str] = []
    for number in range(blocks):
        to = f"L{random.randrange(blocks)}"
        end = random.choice([
            f"@%p bra {to};", f"@%p bra {to};", f"bra {to};", "@%p ret;", "ret;",
            f"T{number}: .branchtargets {to}, L{random.randrange(blocks)}; brx.idx %r, T{number};",
        ])
        lines += [f"L{number}: bar.sync 0;", end]
    return (
        ".version 8.5\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .pred %p;\n.reg .b32 %r;\n"
        + "\n".join(lines) + "\n}\n"
    )


def graph_of(flow: Cfg) -> Graph:
    graph = networkx.DiGraph((b.number, target) for b in flow.blocks for target in b.successors)
    graph.add_nodes_from(block.number for block in flow.blocks)
    return graph


def immediate(graph: Graph, root: int, count: int) -> tuple[int, ...]:
    """As `Dominance` has it: -1 for the root and for what is not reached."""
    known = networkx.immediate_dominators(graph, root)
    found: list[int] = []
    for block in range(count):
        above = known.get(block)
        found.append(above if above is not None and block != root else -1)
    return tuple(found)


@pytest.mark.parametrize("seed", seeds(50, 200))
def test_dominators(seed: int) -> None:
    random = Random(seed)
    (function,) = Module.parse(function_text(random, random.randrange(2, 25))).functions
    flow, found = cfg(function), dominance(function)
    graph = graph_of(flow)
    count = len(flow.blocks)
    assert found.immediate_dominators == immediate(graph, 0, count)
    reached = networkx.descendants(graph, 0) | {0}
    assert flow.reached == reached
    leaving = networkx.ancestors(graph, flow.exit) | {flow.exit}
    if reached <= leaving:
        assert found.immediate_postdominators == immediate(graph.reverse(), flow.exit, count)
    assert_same_questions(found, graph)
    assert found.is_irreducible == is_irreducible(graph.subgraph(reached), found)
    assert list(found.loops) == natural_loops(graph.subgraph(reached), found)


def assert_same_questions(found: Dominance, graph: Graph) -> None:
    """`dominates` is what taking a block away shows."""
    reached = networkx.descendants(graph, 0) | {0}
    for above in reached:
        without = graph.subgraph(set(graph.nodes) - {above})
        still = networkx.descendants(without, 0) | {0} if above else set[int]()
        for below in reached:
            assert found.dominates(above, below) == (below == above or below not in still)


def is_irreducible(graph: Graph, found: Dominance) -> bool:
    """Whether a way runs round once the back edges to loop heads are gone."""
    forward = [(a, b) for a, b in graph.edges if not found.dominates(b, a)]
    return not networkx.is_directed_acyclic_graph(networkx.DiGraph(forward))


def natural_loops(graph: Graph, found: Dominance) -> list[Loop]:
    """For each target of back edges, the blocks that reach a source without going through the target."""
    loops: list[Loop] = []
    for head in sorted(graph.nodes):
        sources = {one for one, target in graph.edges if target == head and found.dominates(head, one)}
        if sources:
            inside = graph.subgraph(set(graph.nodes) - {head})
            rest = sources - {head}
            blocks = {head, *rest}.union(*[networkx.ancestors(inside, one) for one in rest])
            latches = tuple([block for block in found.graph.reverse_postorder if block in sources])
            loops.append(Loop(head, frozenset(blocks), latches))
    return loops


def test_the_graphs_are_of_all_kinds() -> None:
    irreducible = endless = 0
    for seed in range(200):
        random = Random(seed)
        (function,) = Module.parse(function_text(random, random.randrange(2, 25))).functions
        irreducible += dominance(function).is_irreducible
        graph = graph_of(cfg(function))
        endless += not cfg(function).reached <= networkx.ancestors(graph, cfg(function).exit) | {
            cfg(function).exit
        }
    assert irreducible > 20
    assert endless > 20
