"""The functions in C accept only what the analyses give them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias, cast

import pytest

from ptx_lsp.analyses import _flow
from ptx_lsp.analyses._flow import InstructionValues
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from ptx_lsp.isa.matching.shape import Shape

_Registers: TypeAlias = list[tuple[int, ...]]
_Phis: TypeAlias = list[tuple[int, int, list[int]]]
_EDGES = ((1, 2), (3,), (3,), ())
_INTO = ((), (0,), (0,), (1, 2))
_ORDER = (0, 2, 1, 3)
_TREE = (-1, 0, 0, 0)
_NOTHING = _flow.block_summary([], [], [], [], [], 0, 0)
_MOVE = object.__new__(InstructionKind)
_MOVE.is_pure = _MOVE.reads_carry = _MOVE.writes_carry = False
_READING_AND_WRITING = _flow.block_summary([(0,)], [(0,)], [()], [-1], [_MOVE], 0, 1)


def _renamed(
    children: tuple[tuple[int, ...]], summaries: list[_flow.BlockSummary], merged: tuple[int, ...], end: int
) -> object:
    """The values of one block without instructions and with one register."""
    phis: list[_Phis] = [[]]
    flow = _Registers([()]), _Registers([()]), _Registers([()]), [-1], list[InstructionKind]()
    return _flow.rename_values(
        ((),), children, summaries, phis, frozenset(merged), flow, [0, end], [None], [0], 1
    )


def _renamed_move(
    blocks: int,
    phis: list[_Phis],
    known: list[_flow.BlockValues | None],
    value: int,
) -> list[_flow.BlockValues | None]:
    """The values of a block with one instruction, followed by empty ones that are not in the tree."""
    edges, bounds = (tuple(range(1, blocks)), *((),) * (blocks - 1)), [0, *[1] * blocks]
    summaries = [_READING_AND_WRITING, *[_NOTHING] * (blocks - 1)]
    flow = _Registers([(0,)]), _Registers([(0,)]), _Registers([()]), [-1], [_MOVE]
    found, _ = _flow.rename_values(
        edges, ((),) * blocks, summaries, phis, frozenset(), flow, bounds, known, [value], 1
    )
    return found


def test_values_are_freed_after_an_error() -> None:
    value = 10**9
    before = sys.getrefcount(value)
    with pytest.raises(IndexError):
        _renamed_move(1, [[]], [], value)
    assert sys.getrefcount(value) == before


def test_other_instructions_define_no_values() -> None:
    (block,) = _renamed_move(1, [[]], [None], 0)
    assert block is not None
    block.by_instruction[0] = cast(InstructionValues, None)  # pyrefly: ignore[invalid-cast]
    with pytest.raises(TypeError):
        _flow.defining_instructions([block], 9)


def test_a_diamond() -> None:
    assert _flow.reverse_postorder(_EDGES, 0) == _ORDER
    assert _flow.immediate_dominators(_EDGES, _INTO) == _TREE
    assert _flow.immediate_postdominators(_EDGES, _INTO, _ORDER) == (3, 3, 3, -1)
    found = _flow.dominance_frontiers(_INTO, _ORDER, _TREE, 10)
    assert found == ((frozenset(), {3}, {3}, frozenset()), 2)
    assert _flow.control_dependences(_EDGES, _ORDER, (3, 3, 3, -1), 10) == (((), (0,), (0,), ()), 2)
    assert _flow.region_edges(_EDGES, [0], [3], 10) == 4


def test_walks_over_a_graph() -> None:
    graph = _flow.BlockGraph(_EDGES, _ORDER)
    assert graph.divergent_region(0, 3, True) == ({3}, {1, 2}, 3)
    assert graph.joins(0, 3) == {3}
    assert graph.reachable((0,), 3) == {0, 1, 2}
    assert graph.reachable((1, 2), -1) == {1, 2, 3}
    assert _flow.subtrees(_TREE) == ([0, 1, 1, 1], [0, 3, 2, 1], [3, 3, 2, 1])


def test_natural_loops() -> None:
    edges, into = ((1,), (2, 3), (1,), (3,)), ((), (0, 2), (1,), (1, 3))
    order, (_, first, last) = _flow.reverse_postorder(edges, 0), _flow.subtrees((-1, 0, 1, 1))
    found = _flow.natural_loops(edges, into, order, first, last, 10)
    assert found == ([(1, frozenset({1, 2}), (2,)), (3, frozenset({3}), (3,))], 1)


def test_endless_loops_are_joined_to_the_exit() -> None:
    edges, into = ((1, 2), (1,), (2,), ()), ((), (0, 1), (0, 2), ())
    order = _flow.reverse_postorder(edges, 0)
    assert order == (0, 2, 1)
    assert _flow.immediate_postdominators(edges, into, order) == (3, 3, 3, -1)


def test_a_deep_tree_under_a_wide_branch() -> None:
    """To walk up the tree from each target would take minutes."""
    size = 200_000
    below = tuple(range(size + 1, 2 * size + 1))
    last = 2 * size + 1
    edges = ((1, *below), *[(one + 1,) for one in range(1, size)], below, *[(last,)] * size, ())
    into = ((), (0,), *[(one,) for one in range(1, size)], *[(0, size)] * size, below)
    assert _flow.immediate_dominators(edges, into) == (-1, 0, *range(1, size), *[0] * size, 0)


def test_a_limit_is_kept_within_one_branch() -> None:
    size = 200_000
    edges = (tuple(range(1, size)), *[(one + 1,) for one in range(1, size)], ())
    above = (size, *range(2, size + 1), -1)
    assert _flow.control_dependences(edges, (0,), above, 3 * size) is None


def test_a_limit_is_kept() -> None:
    assert _flow.dominance_frontiers(_INTO, _ORDER, _TREE, 1) is None
    assert _flow.control_dependences(_EDGES, _ORDER, (3, 3, 3, -1), 1) is None
    assert _flow.region_edges(_EDGES, [0, 0], [3, 3], 4) > 4
    assert _flow.natural_loops(((1,), (0,)), ((1,), (0,)), (0, 1), [0, 1], [1, 1], 0) is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: _flow.reverse_postorder(((1,), (2,)), 0),
        lambda: _flow.reverse_postorder((), 0),
        lambda: _flow.immediate_dominators(_EDGES, ()),
        lambda: _flow.immediate_postdominators(_EDGES, _INTO, (4,)),
        lambda: _flow.dominance_frontiers(_INTO, _ORDER, (-1, 0, 0), 10),
        lambda: _flow.control_dependences(_EDGES, _ORDER, (3, 3, 3, 4), 10),
        lambda: _flow.region_edges(_EDGES, [0], [], 10),
        lambda: _flow.subtrees((1, 2)),
        lambda: _flow.natural_loops(_EDGES, _INTO, _ORDER, [0], [0], 10),
        lambda: _flow.natural_loops(_EDGES, _INTO, (0, 0), [0] * 4, [0] * 4, 10),
        lambda: _flow.natural_loops(_EDGES, _INTO, (4,), [0] * 4, [0] * 4, 10),
        lambda: _flow.BlockGraph(_EDGES, (0, 4)),
        lambda: _flow.BlockGraph(_EDGES, _ORDER).divergent_region(0, 4, True),
        lambda: _flow.BlockGraph(_EDGES, _ORDER).reachable((4,), -1),
        lambda: _flow.block_summary([()], [()], [()], [-1], [], 0, 1),
        lambda: _renamed(((0,),), [_NOTHING], (), 0),
        lambda: _renamed(((),), [], (), 0),
        lambda: _renamed(((),), [_NOTHING], (1,), 0),
        lambda: _renamed(((),), [_NOTHING], (), 1),
        lambda: _flow.crossing_registers((1,), [_NOTHING], (), ([0], [0]), None, 1),
        lambda: _flow.crossing_registers((0,), [_NOTHING], (1,), ([0], [0]), None, 1),
        lambda: _flow.placed_phis((0,), [_NOTHING], (0,), (0,), ((1,),), ((),), {}, [], 1, 9),
        lambda: _flow.placed_phis((0, 0), [_READING_AND_WRITING], (0,), (0,), ((),), ((),), {}, [], 1, 9),
        lambda: _flow.placed_phis((0,), [_NOTHING], (0,), (0,), ((),), (), {}, [], 1, 9),
        lambda: _renamed_move(2, [[], cast(_Phis, ())], [None, None], 0),  # pyrefly: ignore[invalid-cast]
        lambda: _flow.defining_instructions(cast(list[_flow.BlockValues], [_NOTHING]), 1),
        lambda: _flow.BlockSummary(),
    ],
)
def test_other_arguments_are_an_error(call: Callable[[], object]) -> None:
    with pytest.raises((IndexError, TypeError, ValueError)):
        call()


def test_a_value_beyond_the_levels_is_an_error() -> None:
    values = InstructionValues((0,), (), (7,), -1, -1, -1)
    shape = cast(Shape, object())
    with pytest.raises(IndexError):
        _flow.evaluate_levels([values], [shape], {shape: 0}, set(), bytearray([1]), [-1], 0, 1)
