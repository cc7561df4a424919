"""Parts of a control flow graph that can be drawn as one box.

1. A run is a maximal chain of blocks in which control goes from each to the next, and from nowhere else.
2. Short branches are such a chain in which control may also go to the next block around or through one
   other block (if-then), or through one of two (if-then-else). At least two branches make a group: compilers
   unroll conditional accesses like that.
3. A loop is a natural loop of several blocks. It may contain other groups. Other groups contain no loops.
4. Of several collapsed groups with the same block, the largest is drawn.
5. A collapsed group has the edges of its blocks that lead to other boxes, each pair of boxes once per kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final, Literal, TypeAlias

from ptx_lsp.lint.results.details import Flow, FlowBlock, FlowEdge
from ptx_lsp.named_tuple import NamedTuple

Collapse: TypeAlias = Literal["none", "all", "auto"]

_MOST_BLOCKS: Final = 40
"""The number of blocks up to which nothing is collapsed unasked."""
_MOST_BOXES: Final = 60
"""The number of boxes up to which only runs are collapsed unasked."""


class Group(NamedTuple):
    """A run, short branches, or a loop, whose header comes first. Edits elsewhere leave `key` unchanged if
    the first block has a label.
    """

    key: str
    kind: Literal["run", "branches", "loop"]
    blocks: tuple[int, ...]


class FlowBox(NamedTuple):
    """A box: a block, or all blocks of the collapsed `group`."""

    blocks: tuple[FlowBlock, ...]
    group: Group | None = None


class FlowView(NamedTuple):
    """The boxes of a flow in the order of its blocks; edges and `order` refer to them by number."""

    boxes: tuple[FlowBox, ...]
    edges: tuple[FlowEdge, ...]
    order: tuple[int, ...]


def groups_of(flow: Flow) -> tuple[Group, ...]:
    """All groups of more than one block (1, 2, 3)."""
    loops = [
        Group(_key("loop", flow, header), "loop", tuple(dict.fromkeys((header, *blocks))))
        for header, blocks in flow.loops
    ]
    graph = _Graph(flow)
    runs = [Group(_key("run", flow, run[0]), "run", tuple(run)) for run in _chains(graph.next_in_run, flow)]
    branches: list[Group] = []
    for chain in _chains(graph.next_branch, flow):
        steps = [graph.next_branch(block) for block in chain[:-1]]
        if sum(len(step) > 1 for step in steps) > 1:
            blocks = dict.fromkeys([chain[0], *(block for step in steps for block in step)])
            branches.append(Group(_key("branches", flow, chain[0]), "branches", tuple(sorted(blocks))))
    return tuple(group for group in (*runs, *branches, *loops) if len(group.blocks) > 1)


def collapsed_groups(flow: Flow, groups: Sequence[Group], how: Collapse, line: int | None) -> frozenset[str]:
    """The keys of the groups to collapse. `auto` collapses what makes a large graph readable, but except
    for runs no group with the code at `line`.
    """
    if how == "none" or (how == "auto" and len(flow.blocks) <= _MOST_BLOCKS):
        return frozenset()
    runs = frozenset(group.key for group in groups if group.kind == "run")
    if how == "auto" and len(flow_view(flow, groups, runs).boxes) <= _MOST_BOXES:
        return runs
    here = block_at(flow, line) if how == "auto" and line is not None else None
    return runs | {group.key for group in groups if here not in group.blocks}


def block_at(flow: Flow, line: int) -> int | None:
    """The block with the code at `line`, counted from 1, or the next one in the text."""
    following = [block for block in flow.blocks if block.last_line >= line]
    return min(following, key=lambda block: block.last_line).number if following else None


def flow_view(flow: Flow, groups: Sequence[Group] = (), collapsed: Set[str] = frozenset()) -> FlowView:
    """The boxes of `flow`, and the edges between them (4, 5)."""
    owner: dict[int, Group] = {}
    for group in sorted(groups, key=lambda one: -len(one.blocks)):
        if group.key in collapsed and group.blocks[0] not in owner:
            owner.update(dict.fromkeys(group.blocks, group))
    boxes: list[FlowBox] = []
    box_of: dict[int, int] = {}
    for block in flow.blocks:
        if block.number in box_of:
            continue
        group = owner.get(block.number)
        members = group.blocks if group is not None else (block.number,)
        box_of.update(dict.fromkeys(members, len(boxes)))
        boxes.append(FlowBox(tuple([flow.blocks[one] for one in members]), group))
    order = dict.fromkeys([box_of[block] for block in flow.order])
    return FlowView(tuple(boxes), tuple(_edges(flow, boxes, box_of)), tuple(order))


def _edges(flow: Flow, boxes: Sequence[FlowBox], box_of: dict[int, int]) -> Iterator[FlowEdge]:
    found: set[tuple[int, int, str]] = set()
    for edge in flow.edges:
        source, target = box_of[edge.source], box_of[edge.target]
        group = boxes[source].group
        if group is None:
            yield edge._replace(source=source, target=target)
        elif source != target and (source, target, edge.kind) not in found:
            found.add((source, target, edge.kind))
            condition = "" if group.kind == "loop" else edge.condition
            yield edge._replace(source=source, target=target, condition=condition)


class _Graph:
    def __init__(self, flow: Flow) -> None:
        self.exit = len(flow.blocks) - 1
        self.after: list[set[int]] = [set() for _ in flow.blocks]
        self.before: list[set[int]] = [set() for _ in flow.blocks]
        for edge in flow.edges:
            self.after[edge.source].add(edge.target)
            self.before[edge.target].add(edge.source)

    def next_in_run(self, block: int) -> tuple[int, ...]:
        """The next block of a run (1), or nothing."""
        if len(self.after[block]) != 1:
            return ()
        (target,) = self.after[block]
        return (target,) if self.before[target] == {block} and target not in (0, self.exit) else ()

    def next_branch(self, block: int) -> tuple[int, ...]:
        """The blocks of the next step of short branches (2), the one where control continues last."""
        if len(self.after[block]) != 2:
            return self.next_in_run(block)
        arms = [one for one in self.after[block] if self.before[one] == {block} and len(self.after[one]) == 1]
        ends = {end for arm in arms for end in self.after[arm]} | self.after[block].difference(arms)
        if len(ends) != 1 or not arms:
            return ()
        (end,) = ends
        came = {*arms, block} if len(arms) == 1 else {*arms}
        if self.before[end] != came or end in (0, self.exit) or block in (end, *arms) or 0 in arms:
            return ()
        return (*sorted(arms), end)


def _chains(following: Callable[[int], tuple[int, ...]], flow: Flow) -> Iterator[list[int]]:
    """The maximal chains of several blocks."""
    next_of = {block.number: step[-1] for block in flow.blocks if (step := following(block.number))}
    for first in sorted(next_of.keys() - set(next_of.values())):
        chain = [first]
        while chain[-1] in next_of:
            chain.append(next_of[chain[-1]])
        yield chain


def _key(kind: str, flow: Flow, number: int) -> str:
    labels = flow.blocks[number].labels
    return f"{kind}:{labels[0] if labels else number}"
