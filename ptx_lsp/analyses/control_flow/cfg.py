"""The control flow graph of a function: basic blocks and the edges between them.

1. A basic block is a run of instructions that is entered at its first and left at its last. Instructions that
   may transfer control (`bra`, `brx.idx`, `ret`, `exit`, `trap`, a call of a `.noreturn` function) end a
   block; a label begins one. Instructions after one that never falls through, up to the next label, are
   unreachable and form one block.
2. A guarded branch goes to its target or falls through; `bra` without a guard goes only to its target. A
   guarded `ret`, `exit` or `trap` leaves the function or falls through. An unguarded one, and the end of the
   text, leave it.
3. `brx.idx` goes to each label of its list. If that list, or the target of a `bra`, is unknown, the branch
   may go to every label of the function, and its block has `has_unknown_successors`.
4. The last block of the graph, `exit`, is empty. All paths out of the function lead there.
5. Block 0 is the entry of the function. Unreachable blocks stay in the graph.
6. If branches to several labels make more than `_EDGES_ANYWAY` edges and `_EDGES_OF_EACH` per block, the
   remaining ones lead to `exit` alone, and the graph is not complete. Compilers make 2 per block.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ptx_lsp.analyses._flow import BlockGraph, reverse_postorder
from ptx_lsp.analyses.control_flow.label_positions import NO_LABELS, LabelPositions
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.instructions.wakes import InstructionWake, waking
from ptx_lsp.model.symbols import FunctionName, Label, Prototype, TargetTable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_EDGES_ANYWAY, _EDGES_OF_EACH = 10_000, 32

Edges = tuple[tuple[int, ...], ...]
"""The adjacent blocks of each block."""

JUMPS = frozenset({"bra", "brx"})
EXITS = frozenset({"ret", "exit", "trap"})
_ENDS: Final = JUMPS | EXITS | {"call"}
_MAY_END: Final = InstructionWake(opcodes=_ENDS)


class BasicBlock(NamedTuple):
    """The instructions from `first` up to `end` (exclusive). `labels` are the labels at its beginning.

    The successor for a guarded jump that is not taken comes first.
    """

    number: int
    first: int
    end: int
    labels: tuple[str, ...]
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]
    has_unknown_successors: bool

    @property
    def instructions(self) -> range:
        return range(self.first, self.end)

    @property
    def is_branching(self) -> bool:
        """Whether control can leave the block in more than one way."""
        return len(self.successors) > 1


class Graph:
    """The edges between blocks, without their instructions. It is the same object as long as edits leave them
    unchanged.
    """

    __slots__ = (
        "_order", "_ranks", "_reached", "_walks", "has_unknown_successors", "is_complete", "predecessors",
        "successors",
    )  # fmt: skip

    def __init__(
        self,
        successors: Edges,
        predecessors: Edges,
        has_unknown_successors: tuple[bool, ...],
        is_complete: bool = True,
    ) -> None:
        self.successors = successors
        self.predecessors = predecessors
        self.has_unknown_successors = has_unknown_successors
        self.is_complete = is_complete
        """Whether the graph has all edges (6)."""
        self._order: tuple[int, ...] | None = None
        self._reached: frozenset[int] | None = None
        self._ranks: tuple[int, ...] | None = None
        self._walks: BlockGraph | None = None

    def has_edges_of(self, other: Graph) -> bool:
        """Whether both graphs are equal."""
        return (
            self.successors == other.successors
            and self.has_unknown_successors == other.has_unknown_successors
            and self.is_complete == other.is_complete
        )

    @property
    def exit(self) -> int:
        """The index of the empty block at the end."""
        return len(self.successors) - 1

    @property
    def is_branching(self) -> bool:
        """Whether control can leave some block in more than one way."""
        return any(len(targets) > 1 for targets in self.successors)

    @property
    def reverse_postorder(self) -> tuple[int, ...]:
        """The reachable blocks in reverse postorder."""
        if self._order is None:
            self._order = reverse_postorder(self.successors, 0)
        return self._order

    @property
    def reached(self) -> frozenset[int]:
        """The reachable blocks."""
        if self._reached is None:
            self._reached = frozenset(self.reverse_postorder)
        return self._reached

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each block in an order in which most edges lead to later blocks."""
        if self._ranks is None:
            reached = self.reached
            rest = [block for block in range(len(self.successors)) if block not in reached]
            ranks = [0] * len(self.successors)
            for place, block in enumerate((*self.reverse_postorder, *rest)):
                ranks[block] = place
            self._ranks = tuple(ranks)
        return self._ranks

    @property
    def walks(self) -> BlockGraph:
        """Walks over this graph."""
        if self._walks is None:
            self._walks = BlockGraph(self.successors, self.reverse_postorder)
        return self._walks


STRAIGHT: Final = Graph(((1,), ()), ((), (0,)), (False, False))
"""The graph of every function without branches and labels."""


class Cfg:
    """The graph with its instructions. `blocks` are in text order; `exit` is the last."""

    __slots__ = ("_block_of", "blocks", "cuts", "graph", "labelled", "labels", "starts")

    def __init__(
        self,
        blocks: tuple[BasicBlock, ...],
        starts: list[int],
        graph: Graph,
        cuts: list[int],
        labelled: dict[int, int],
        labels: LabelPositions,
    ) -> None:
        self.blocks = blocks
        self.starts = starts
        """The first instruction of each block except `exit`."""
        self.graph = graph
        self.cuts = cuts
        """The instructions that begin a block because the previous one ends one."""
        self.labelled = labelled
        """The block that each label begins, by the start of the label's name."""
        self.labels = labels
        self._block_of: list[int] | None = None

    @property
    def exit(self) -> int:
        """The index of the empty block at the end."""
        return len(self.blocks) - 1

    @property
    def block_of(self) -> list[int]:
        """The block of each instruction."""
        if self._block_of is None:
            found: list[int] = []
            for block in self.blocks:
                found += [block.number] * (block.end - block.first)
            self._block_of = found
        return self._block_of

    @property
    def reverse_postorder(self) -> tuple[int, ...]:
        """The reachable blocks in reverse postorder."""
        return self.graph.reverse_postorder

    @property
    def reached(self) -> frozenset[int]:
        """The reachable blocks."""
        return self.graph.reached


@incremental_fact
def cfg(function: Function, earlier: Previous[Cfg] | None) -> Cfg:
    """The control flow graph of `function`."""
    ending = waking(function, _MAY_END)
    count = len(function.body.instructions)
    if count and not function.body.labels and (not ending or _is_last_return(function, ending, count)):
        first = BasicBlock(0, 0, count, (), (1,), (), False)
        last = BasicBlock(1, count, count, (), (), (0,), False)
        return Cfg((first, last), [0], STRAIGHT, [one + 1 for one in ending], {}, NO_LABELS)
    return _Builder(function, ending, earlier).build()


def _is_last_return(function: Function, ending: list[int], count: int) -> bool:
    """Whether control leaves a function only at its last instruction."""
    return ending == [count - 1] and shapes(function)[count - 1].opcode in EXITS


def _has(numbers: Sequence[int], number: int) -> bool:
    """Whether a number is among others, which are in order."""
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


class _Builder:
    def __init__(self, function: Function, ending: list[int], earlier: Previous[Cfg] | None) -> None:
        self.function = function
        self.earlier = earlier
        self.ending = ending
        self.shapes = shapes(function)
        self.without_return: frozenset[int] | None = None
        self.labels: LabelPositions
        if earlier is None:
            self.labels = LabelPositions.of(function)
        else:
            self.labels = earlier.value.labels.after(earlier.change, function)
        self.starts: list[int] = []
        self.number_of: dict[int, int] = {}
        """The block of each instruction that begins one."""
        self.left = 0
        """The edges that jumps to several labels may still add; negative once the limit was exceeded."""
        self.listed: dict[int, tuple[int, ...] | None] = {}
        """The instructions that the labels of a table precede."""
        self.all_labelled: tuple[int, ...] | None = None

    def build(self) -> Cfg:
        count = len(self.shapes)
        cuts = self.cuts()
        if self.earlier is not None and self.is_same(self.earlier, cuts):
            return self.earlier.value
        self.starts = sorted({0, *self.labels.names, *self.reachable_cuts(cuts)} - {count}) if count else []
        self.number_of = {start: number for number, start in enumerate(self.starts)}
        self.number_of[count] = len(self.starts)
        labelled = {label: self.number_of[step] for label, step in self.labels.at.items()}
        graph = self.same_graph(cuts, labelled) or self.graph()
        kept: tuple[BasicBlock, ...] = ()
        if self.earlier is not None and graph is self.earlier.value.graph:
            before, change = self.earlier
            kept = before.blocks[: max(bisect_left(before.starts, change.first) - 1, 0)]
        at = len(kept)
        blocks = map(
            BasicBlock, range(at, len(self.starts) + 1), (*self.starts[at:], count),
            (*self.starts[at + 1 :], count, count),
            [tuple(self.labels.names.get(start, ())) for start in (*self.starts[at:], count)],
            graph.successors[at:], graph.predecessors[at:], graph.has_unknown_successors[at:],
        )  # fmt: skip
        return Cfg((*kept, *blocks), self.starts, graph, cuts, labelled, self.labels)

    def is_same(self, earlier: Previous[Cfg], cuts: list[int]) -> bool:
        """Whether everything is as before an edit."""
        before, (first, _, end) = earlier
        return (
            earlier.change.growth == 0
            and before.cuts == cuts
            and before.labels is self.labels
            and not any(first < one <= end for one in cuts)
        )

    def same_graph(self, cuts: list[int], labelled: dict[int, int]) -> Graph | None:
        """The graph before an edit that only inserted or removed instructions between jumps."""
        if self.earlier is None:
            return None
        before, (first, old_end, end) = self.earlier
        # what was edited follows a jump that is not reached: there, no block begins unless a label does
        follows_jump = _has(self.ending, first - 1) and _has(before.starts, first) != _has(self.starts, first)
        is_same = (
            not follows_jump
            and before.labelled == labelled
            and len(before.starts) == len(self.starts)
            and not any(first < one <= old_end for one in before.cuts)
            and not any(first < one <= end for one in cuts)
        )
        return before.graph if is_same else None

    def graph(self) -> Graph:
        count = len(self.shapes)
        ends = [*self.starts[1:], count] if count else []
        self.left = _EDGES_ANYWAY + _EDGES_OF_EACH * len(ends)
        number_of, leaving, body = self.number_of, set(self.ending), self.function.body.instructions
        successors: list[tuple[int, ...]] = []
        predecessors: list[list[int]] = [[] for _ in ends]
        predecessors.append([])
        unknown = [False] * len(predecessors)
        for number, end in enumerate(ends):
            targets: tuple[int, ...] = (number + 1,)
            if end - 1 in leaving:
                only = self.only_target(end - 1)
                if only is None:
                    steps, unknown[number] = self.successors(end)
                    targets = tuple(dict.fromkeys([number_of[step] for step in steps]))
                elif body[end - 1].guard is None:
                    targets = (number_of[only],)
                elif only != end:
                    targets = (number + 1, number_of[only])
            successors.append(targets)
            for target in targets:
                predecessors[target].append(number)
        successors.append(())
        into = tuple(map(tuple, predecessors))
        found = Graph(tuple(successors), into, tuple(unknown), is_complete=self.left >= 0)
        if self.earlier is not None and self.earlier.value.graph.has_edges_of(found):
            return self.earlier.value.graph
        return found

    def only_target(self, number: int) -> int | None:
        """The instruction that a jump to a label goes to; None for others."""
        operands = self.function.body.instructions[number].operands
        name = operands[-1] if operands else None
        symbol = self.function.symbols.get(name.start) if type(name) is nodes.Name else None
        if type(symbol) is not Label or self.shapes[number].opcode not in JUMPS:
            return None
        return self.labels.at.get(symbol.place.start)

    def cuts(self) -> list[int]:
        """The instructions that begin a block because the previous one ends one."""
        return [number + 1 for number in self.ending if self.ends_block(number)]

    def reachable_cuts(self, cuts: list[int]) -> Iterator[int]:
        """The cuts, except those among unreachable instructions (1)."""
        labels, body = sorted(self.labels.names), self.function.body.instructions
        left_at = -1
        for cut in cuts:
            if left_at >= 0:
                next_label = bisect_left(labels, left_at)
                if next_label == len(labels) or labels[next_label] >= cut:
                    continue
            yield cut
            left_at = cut if body[cut - 1].guard is None else -1

    def node(self, number: int) -> nodes.Instruction:
        return self.function.body.instructions[number]

    def ends_block(self, number: int) -> bool:
        if self.shapes[number].opcode != "call":
            return True
        if self.without_return is None:
            self.without_return = _without_return(self.function)
        return self.node(number).start in self.without_return

    def successors(self, end: int) -> tuple[tuple[int, ...], bool]:
        """The instructions that may execute after the one before `end`, and whether they are unknown."""
        count = len(self.shapes)
        opcode = self.shapes[end - 1].opcode
        last = self.node(end - 1)
        onward = (end,) if last.guard is not None else ()
        if opcode in JUMPS:
            targets = self.targets(last)
            is_unknown = targets is None
            if targets is None:
                targets = self.labelled_instructions or (() if onward else (count,))
            if len(targets) > 1:
                self.left -= len(targets)
                if self.left < 0:
                    return (*onward, count), True
            return (*onward, *targets), is_unknown
        return ((*onward, count) if self.ends_block(end - 1) else (end,)), False

    @property
    def labelled_instructions(self) -> tuple[int, ...]:
        """The instructions that labels precede."""
        if self.all_labelled is None:
            self.all_labelled = tuple(sorted(self.labels.at.values()))
        return self.all_labelled

    def targets(self, jump: nodes.Instruction) -> tuple[int, ...] | None:
        """The instructions that a jump may go to; None if they are unknown."""
        name = jump.operands[-1] if jump.operands else None
        symbol = self.function.resolve(name) if isinstance(name, nodes.Name) else None
        if isinstance(symbol, TargetTable):
            key = symbol.place.start
            if key not in self.listed:
                self.listed[key] = self.listed_in(symbol)
            return self.listed[key]
        return None

    def listed_in(self, table: TargetTable) -> tuple[int, ...] | None:
        listed = [self.function.resolve(item) for item in table.node.names]
        found = [self.labels.at.get(s.place.start) for s in listed if isinstance(s, Label)]
        known = [position for position in found if position is not None]
        return tuple(known) if known and len(known) == len(listed) else None


def _without_return(function: Function) -> frozenset[int]:
    """The starts of the calls that do not return."""
    return frozenset(
        call.node.start
        for call in calls(function)
        if call.callees and all(_never_returns(callee.symbol) for callee in call.callees)
    )


def _never_returns(symbol: FunctionName | Prototype) -> bool:
    return any(directive.name.text == ".noreturn" for directive in symbol.node.directives)
