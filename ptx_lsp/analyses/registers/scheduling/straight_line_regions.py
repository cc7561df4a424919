"""The straight-line regions of a function, with loops unrolled as a compiler would.

1. A region is the machine instructions of one block, or of a loop that is a straight line of blocks.
2. Such a loop is unrolled if its trip count is known (from a constant start, step and end, as in `mov i, 0;
   ... add i, i, 1; setp.lt p, i, 16; @p bra`), or if a register that changes by a constant is compared with
   one that does not change. It must not contain a barrier, call, matrix instruction or an instruction that
   ends a block (`ends_block`), nor have a `.pragma "nounroll"` near it.
3. The cost of a turn is the number of its instructions, with 2 for each access to memory. With a known trip
   count it is fully unrolled, also a thousand times, if a turn costs up to `MOST_COST`, or all of them
   `PARTIAL_UNROLL_LIMIT`; else by the most turns that cost no more than that, at least 4, preferably a
   divisor of the trip count. A loop of one block with an unknown trip count is unrolled by 4 if a turn costs
   up to `MOST_COST`; turns that are left over follow as 2 and 1.
4. In an unrolled loop, each copy of the body defines its own virtual registers. Only the registers of the
   last copy are live after the loop. Increments by a constant become offsets.

ptxas does not document these decisions; the limits come from machine code of ptxas 13.5 for sm_75 and sm_90.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import itemgetter, not_
from sys import maxsize

from ptx_lsp.analyses._flow import DependenceGraph, MachineBlock, Operands
from ptx_lsp.analyses.control_flow.cfg import BasicBlock, Cfg, cfg
from ptx_lsp.analyses.control_flow.dominance import Loop, dominance
from ptx_lsp.analyses.dataflow.bitvector_dataflow import LiveSets
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.machine_blocks import MachineCode
from ptx_lsp.analyses.registers.scheduling.dependence import dependence_graph, ends_block
from ptx_lsp.analyses.registers.scheduling.induction_variable import InductionVariable
from ptx_lsp.analyses.registers.scheduling.list_scheduling import Key, StraightLineRegion
from ptx_lsp.analyses.registers.scheduling.region_code import (
    RegionCode,
    additional_registers,
    region_code,
)
from ptx_lsp.analyses.registers.virtual_register_liveness import virtual_register_liveness
from ptx_lsp.analyses.registers.virtual_registers import VirtualRegisters, virtual_registers
from ptx_lsp.facts import Previous, fact, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final, TypeAlias

FULL_UNROLL_LIMIT: Final = 1000
"""ptxas unrolls further, but then the registers are as many as they may be."""
MOST_COST: Final = 49
PARTIAL_UNROLL_LIMIT: Final = 270
RUNTIME_FACTOR: Final = 4
_MEMORY: Final = frozenset({"ld", "ldu", "st", "atom", "red", "tex"})
_NOT_UNROLLED: Final = frozenset({"bar", "barrier", "call", "wmma", "mma", "wgmma"})


class StraightLineRegions:
    """The reachable straight-line regions of a function, in the order of the text. Most are too small to
    matter, so they are made on demand.
    """

    def __init__(self, version: _Version, known: Mapping[MachineBlock, StraightLineRegion]) -> None:
        self.bounds: Final[list[int]] = []
        self.live: Final[list[int]] = []
        self.results: Final[list[int]] = []
        self.parameters: Final[list[tuple[int, ...]]] = []
        """As in each region."""
        self.made: Final[dict[MachineBlock, StraightLineRegion]] = {}
        """Those that were asked for, by their first block."""
        self._version = version
        self._places: list[_Place] = []
        self._live_after: tuple[bytes, list[int]] | None = None
        """For the virtual registers elsewhere."""
        self._known = known
        """Those of the previous version of the function."""

    def add(self, places: Sequence[_Place]) -> None:
        """Adds regions."""
        version = self._version
        contents, held = version.contents, version.held
        start = len(self._places)
        blocks = [contents[place[0]] for place in places]
        self._places += places
        live = [place[3].bit_count() for place in places]
        self.live.extend(live)
        self.bounds.extend([more + block.pressure for more, block in zip(live, blocks, strict=True)])
        self.results.extend([block.results for block in blocks])
        self.parameters.extend([
            held.get(place[0]) or block.parameters for place, block in zip(places, blocks, strict=True)
        ])
        for at, place in enumerate(places, start):
            if place[2] > 1:
                operands = _Source(version, place).operands(frozenset())
                more = sum(additional_registers(version.left, operands.numbers))
                bound = operands.used + 2 * operands.defined + more  # as if all were live at once
                self.bounds[at] = self.live[at] + bound
                self.results[at] = operands.defined

    def live_after(self, elsewhere: bytes) -> list[int]:
        known = self._live_after
        if known is None or known[0] is not elsewhere:
            gone = self._version.sets.bits.mask([*compress(range(len(elsewhere)), elsewhere)])
            counted = map((~gone).__and__, map(_BEHIND, self._places))
            known = self._live_after = elsewhere, [*map(int.bit_count, counted)]
        return known[1]

    def closer_bounds(self, places: Sequence[int], elsewhere: bytes) -> list[tuple[int, int, int]]:
        blocks, sets, code = self._version.blocks, self._version.sets, self._version.left.code
        bounds = [
            (blocks[first].first, blocks[last].end, behind)
            for first, last, _, behind in map(self._places.__getitem__, places)
        ]
        found = code.registers(bounds, sets.bits, elsewhere)
        for at, place in enumerate(places):
            if self._places[place][2] > 1:  # unrolled
                found[at] = maxsize, self[place].text_registers(elsewhere), maxsize
        return found

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[StraightLineRegion]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, index: int) -> StraightLineRegion:
        """A region: the same object as before an edit if its instructions and the virtual registers that are
        live after it are unchanged.
        """
        first = self._version.contents[self._places[index][0]]
        found = self.made.get(first)
        if found is None:
            source = _Source(self._version, self._places[index])
            found = self._known.get(first)
            if found is None or not found.read_from(source):
                found = StraightLineRegion(self.bounds[index], self.results[index], source)
            self.made[first] = found
        return found

    def with_loads_in_loops(self) -> StraightLineRegions:
        """The regions if loops load the parameters that they read each time, and none before."""
        if not self._version.held:
            return self
        version = self._version._replace(held={})
        found = StraightLineRegions(version, self.made)
        found._places.extend(self._places)
        found._live_after = self._live_after
        found.bounds.extend(self.bounds)
        found.live.extend(self.live)
        found.results.extend(self.results)
        found.parameters.extend([version.contents[first].parameters for first, *_ in self._places])
        return found


@incremental_fact
def straight_line_regions(
    function: Function, earlier: Previous[StraightLineRegions] | None
) -> StraightLineRegions:
    """The reachable straight-line regions of `function`."""
    graph, left = cfg(function), virtual_registers(function)
    contents = list(left.blocks.values())
    held = _held_parameters(dominance(function).loops, contents) if left.code.loads else {}
    version = _Version(left, virtual_register_liveness(function).sets, graph.blocks, contents, held)
    found = StraightLineRegions(version, earlier.value.made if earlier else {})
    found.add(_places(function))
    return found


@fact
def regions_with_loads_in_loops(function: Function) -> StraightLineRegions:
    """The straight-line regions if loops load the parameters that they read."""
    return straight_line_regions(function).with_loads_in_loops()


def _places(function: Function) -> list[_Place]:
    graph, left, alive = cfg(function), virtual_registers(function), virtual_register_liveness(function)
    kept = _nounroll_blocks(function)
    straight = {
        min(loop.blocks): loop
        for loop in dominance(function).loops
        if _is_straight_line(graph, loop) and loop.header not in kept
    }
    reached, live_in = graph.reached, alive.sets.live_in
    done: set[int] = set()
    found: list[_Place] = []
    for number, targets in enumerate(graph.graph.successors):
        if number not in reached or number in done:
            continue
        if number in straight:
            loop = straight[number]
            last = graph.blocks[max(loop.blocks)]
            count, factor = _unrolling(function, left.code, graph.blocks[number], last)
            if factor > 1:
                done.update(loop.blocks)
                behind = alive.bits_of_any([
                    target
                    for target in last.successors
                    if not (factor == count and target == loop.header)
                ])
                found.append((number, last.number, factor, behind))
                continue
        behind = 0
        for target in targets:
            behind |= live_in[target]
        found.append((number, number, 1, behind))
    return found


def _unrolling(
    function: Function, code: MachineCode, block: BasicBlock, last: BasicBlock
) -> tuple[int | None, int]:
    """The trip count of a loop, if it matters and is known, and how often its body is repeated (2, 3)."""
    cost = _unrolling_cost(code, block.first, last.end)
    if cost > PARTIAL_UNROLL_LIMIT:
        return None, 1
    variable = InductionVariable(function, range(block.first, last.end))
    count = variable.trip_count()
    if count:
        return count, _unroll_factor(cost, count)
    is_small = cost <= MOST_COST and last is block and variable.is_counted()
    return None, RUNTIME_FACTOR if is_small else 1


def _held_parameters(
    loops: Sequence[Loop], contents: Sequence[MachineBlock]
) -> dict[int, tuple[int, ...]]:
    """For the blocks in loops, the parameters that the innermost one reads: they are loaded before it."""
    found: dict[int, tuple[int, ...]] = {}
    for loop in sorted(loops, key=lambda one: len(one.blocks)):
        words = {word for block in loop.blocks for word in contents[block].parameters}
        if words:
            held = tuple(sorted(words))
            for block in loop.blocks:
                found.setdefault(block, held)
    return found


class _Version(NamedTuple):
    """A version of the function."""

    left: VirtualRegisters
    sets: LiveSets
    blocks: Sequence[BasicBlock]
    contents: Sequence[MachineBlock]
    held: Mapping[int, tuple[int, ...]]
    """The parameters that are live all the time, by block."""


_Place: TypeAlias = tuple[int, int, int, int]
"""The first and the last block of a region, how often it is repeated, and the bit set of the virtual
registers that are live after it.
"""
_BEHIND: Final = itemgetter(3)


class _Source:
    """A region of a version of the function."""

    def __init__(self, version: _Version, place: _Place) -> None:
        first, last, self.factor, self.behind = place
        self.left, self.sets = version.left, version.sets
        self.first, self.end = version.blocks[first].first, version.blocks[last].end
        self.blocks = tuple(version.contents[first : last + 1])
        self.held = version.held.get(first, ())

    @property
    def key(self) -> Key:
        return self.blocks, self.factor, self.behind, self.sets.numbering, self.held

    def operands(self, live_out: frozenset[int]) -> Operands:
        found = self.left.code.operands(self.first, self.end, live_out)
        if self.factor == 1:
            return found
        code = self.left.code
        flow, is_load = code.flow, code.is_eliminated
        guards = {flow.guards[one] for one in found.numbers if flow.kinds[one].opcode == "bra"}
        turns = [2 if is_load[one] else _is_once(flow, one, guards) for one in found.numbers]
        return found.unrolled(self.factor, bytes(turns))

    def read(self) -> RegionCode:
        live_out = self.sets.members(self.behind).union(self.held)
        return region_code(self.left, self.operands(live_out), live_out)

    def dependence(self, operands: Operands) -> DependenceGraph:
        return dependence_graph(self.left.code.flow, operands)


def _is_once(flow: FunctionInstructions, number: int, guards: set[int]) -> bool:
    """Whether an instruction is not repeated in an unrolled loop: a branch, its test, or the increment of a
    register by a constant, which becomes an offset.
    """
    opcode, defs = flow.kinds[number].opcode, flow.defs[number]
    if opcode == "add":
        is_increment = bool(defs) and flow.uses[number] == defs
        return is_increment and literal(flow.body.instructions[number].operands[-1]) is not None
    return opcode == "bra" or (opcode == "setp" and guards.issuperset(defs))


def _is_straight_line(graph: Cfg, loop: Loop) -> bool:
    """Whether the blocks follow each other in the text, and only the last one branches."""
    blocks = sorted(loop.blocks)
    if blocks != list(range(blocks[0], blocks[-1] + 1)):
        return False
    return all(graph.blocks[block].successors == (block + 1,) for block in blocks[:-1])


def _nounroll_blocks(function: Function) -> set[int]:
    """The blocks that start with `.pragma "nounroll"`."""
    pragmas = [
        one.node
        for one in function.body.directives
        if isinstance(one.node, nodes.Directive)
        and one.node.name.text == ".pragma"
        and any(isinstance(value, nodes.String) and "nounroll" in value.text for value in one.node.arguments)
    ]
    if not pragmas:
        return set()
    every, offset, block_of = function.body.instructions, function.item.offset, cfg(function).block_of
    found: set[int] = set()
    for pragma in pragmas:
        position = bisect_left(every, offset(pragma.start), key=lambda one: offset(one.start))
        found.update(block_of[position : position + 1])
    return found


def _unrolling_cost(code: MachineCode, first: int, end: int) -> int:
    """The cost of one turn of a loop (3); more than any limit if it may not be unrolled."""
    kinds = code.flow.kinds[first:end]
    costs = {kind: _turn_cost(kind.shape) for kind in set(kinds)}
    if maxsize in costs.values():
        return maxsize
    left = map(not_, code.is_eliminated[first:end])
    return sum(map(costs.__getitem__, compress(kinds, left)))


@lru_cache(maxsize=1 << 15)
def _turn_cost(shape: Shape) -> int:
    """The cost of an instruction in a loop (3); more than any limit if the loop may not be unrolled."""
    if shape.opcode in _NOT_UNROLLED or ends_block(shape.spelling):
        return maxsize
    return 2 if shape.opcode in _MEMORY else 1


def _unroll_factor(cost: int, count: int) -> int:
    """How often a loop with a known trip count is unrolled."""
    if cost <= MOST_COST or count * cost <= PARTIAL_UNROLL_LIMIT:
        return max(1, min(count, FULL_UNROLL_LIMIT // cost))
    most = PARTIAL_UNROLL_LIMIT // cost
    if most < RUNTIME_FACTOR:
        return 1
    return next((factor for factor in range(most, RUNTIME_FACTOR - 1, -1) if count % factor == 0), most)
