"""The straight-line regions of a function, with loops unrolled as a compiler would.

1. A region is the machine instructions of one block, or of a loop that is a straight line of blocks.
2. Such a loop is unrolled if its trip count is known (from a constant start, step and end, as in `mov i, 0;
   ... add i, i, 1; setp.lt p, i, 16; @p bra`). It must not contain a barrier, call or matrix instruction, nor
   have a `.pragma "nounroll"` near it. It is fully unrolled up to `FULL_UNROLL_LIMIT` instructions in all,
   else by a factor that makes at most `PARTIAL_UNROLL_LIMIT`.
3. In an unrolled loop, each copy of the body defines its own virtual registers. Only the registers of the
   last copy are live after the loop.

ptxas does not document these decisions; the limits come from observation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import maxsize
from typing import Final, TypeAlias

from analyses.control_flow.cfg import BasicBlock, Cfg, cfg
from analyses.control_flow.dominance import Loop, dominance
from analyses.dataflow.bitvector_dataflow import LiveSets
from analyses.instructions.uses_and_defs import instructions
from analyses.registers.list_scheduling import (
    RegionCode,
    StraightLineRegion,
    most_registers_named,
)
from analyses.registers.machine_blocks import MachineBlock
from analyses.registers.machine_instructions import (
    MachineInstruction,
    assigned_constant,
    machine_instructions,
)
from analyses.registers.virtual_register_liveness import virtual_register_liveness
from analyses.registers.virtual_registers import VirtualRegisters, constant, virtual_registers
from ptx_lsp.facts import GenerationalCache, Previous, fact, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

FULL_UNROLL_LIMIT: Final = 1000
PARTIAL_UNROLL_LIMIT: Final = 250
_NOT_UNROLLED: Final = frozenset({"bar", "barrier", "call", "wmma", "mma", "wgmma"})
_FACTORS: Final = (16, 8, 4, 2)


@fact
def straight_line_regions(function: Function) -> tuple[StraightLineRegion, ...]:
    """The reachable straight-line regions of `function`, in the order of the text."""
    return tuple(_regions(function))


_Key: TypeAlias = tuple[tuple[MachineBlock, ...], int, int, object]
"""The blocks of a region, its unroll factor, and the bit set of the virtual registers live after it."""


@incremental_fact
def _memory(
    _: Function, earlier: Previous[GenerationalCache[_Key, StraightLineRegion]] | None
) -> GenerationalCache[_Key, StraightLineRegion]:
    return GenerationalCache(earlier.value if earlier else None)


def trip_count(function: Function, loop: Loop) -> int | None:
    """How often the body of `loop` is executed, within one; None if unknown."""
    graph = cfg(function)
    numbers = [number for block in sorted(loop.blocks) for number in graph.blocks[block].instructions]
    return _InductionVariable(function, numbers).trip_count() if numbers else None


def _regions(function: Function) -> Iterator[StraightLineRegion]:
    graph, left, sets = cfg(function), virtual_registers(function), virtual_register_liveness(function)
    kept = _nounroll_blocks(function)
    straight = {
        min(loop.blocks): loop
        for loop in dominance(function).loops
        if _is_straight_line(graph, loop) and loop.header not in kept
    }
    contents, known, numbering = list(left.blocks.values()), _memory(function), sets.sets.numbering
    done: set[int] = set()

    def region(members: Sequence[BasicBlock], factor: int, targets: Sequence[int]) -> StraightLineRegion:
        """The region: the same object as before an edit if its instructions and the virtual registers live
        after it are unchanged.
        """
        behind = sets.bits_of_any(targets)
        blocks = tuple([contents[member.number] for member in members])
        source = _Source(left, sets.sets, members[0].first, members[-1].end, factor, behind)
        key = blocks, factor, behind, numbering
        found = known.get(key)
        if found is None:
            return known.put(key, source.region(blocks))
        found.read_from(source)
        return found

    for block in graph.blocks:
        if block.number in done or block.number not in graph.reached:
            continue
        loop = straight.get(block.number)
        if loop is not None:
            members = [graph.blocks[number] for number in sorted(loop.blocks)]
            count = trip_count(function, loop)
            body = machine_instructions(left, range(members[0].first, members[-1].end)) if count else []
            factor = _unroll_factor(body, count) if count else 1
            if factor > 1:
                done.update(loop.blocks)
                behind = [
                    target
                    for target in members[-1].successors
                    if not (factor == count and target == loop.header)
                ]
                yield region(members, factor, behind)
                continue
        yield region((block,), 1, block.successors)


class _Source(NamedTuple):
    """A version of the function in which a region is: the instructions from `first` up to `end` (exclusive),
    so often, with the bit set of the virtual registers that are live after them.
    """

    left: VirtualRegisters
    sets: LiveSets
    first: int
    end: int
    factor: int
    behind: int

    def region(self, blocks: Sequence[MachineBlock]) -> StraightLineRegion:
        live = self.behind.bit_count()
        if self.factor == 1:
            return StraightLineRegion(live + blocks[0].pressure, blocks[0].results, self)
        operations = self.read().instructions
        bound = live + sum(most_registers_named(one) for one in operations)
        return StraightLineRegion(bound, sum(len(one.defs) for one in operations), self)

    def read(self) -> RegionCode:
        body = machine_instructions(self.left, range(self.first, self.end))
        if self.factor > 1:
            body = _unrolled(body, self.factor, self.left.number_of_all)
        return RegionCode(body, self.sets.members(self.behind))

    def pressure(self) -> int:
        if self.factor > 1:
            return maxsize
        return self.left.code.block(self.first, self.end, self.sets.members(self.behind)).pressure


def _is_straight_line(graph: Cfg, loop: Loop) -> bool:
    """Whether the blocks follow each other in the text, and only the last one branches."""
    blocks = sorted(loop.blocks)
    if blocks != list(range(blocks[0], blocks[-1] + 1)):
        return False
    return all(graph.blocks[block].successors == (block + 1,) for block in blocks[:-1])


def _nounroll_blocks(function: Function) -> set[int]:
    """The blocks that start with `.pragma "nounroll"`."""
    if not any(type(one) is nodes.Directive for one in function.body.statements):
        return set()
    graph, position, found = cfg(function), 0, set[int]()
    for statement in function.body.statements:
        match statement:
            case nodes.Instruction():
                position += 1
            case nodes.Directive(name=nodes.Name(text=".pragma"), arguments=values):
                if any(isinstance(v, nodes.String) and "nounroll" in v.text for v in values):
                    following = graph.block_of[position : position + 1]
                    found.update(following)
            case _:
                pass
    return found


def _unroll_factor(body: Sequence[MachineInstruction], count: int) -> int:
    if any(operation.instruction.opcode in _NOT_UNROLLED for operation in body):
        return 1
    if count * len(body) <= FULL_UNROLL_LIMIT:
        return count
    return next((factor for factor in _FACTORS if factor * len(body) <= PARTIAL_UNROLL_LIMIT), 1)


def _unrolled(body: Sequence[MachineInstruction], factor: int, first_word: int) -> list[MachineInstruction]:
    """`body` so many times; the words of all turns but the last are new, from `first_word` on."""
    now: dict[int, int] = {}
    found: list[MachineInstruction] = []
    for turn in range(factor):
        is_last = turn == factor - 1
        for operation in body:
            if operation.instruction.opcode == "bra" and not is_last:
                continue
            reads = {now.get(word, word) for word in operation.uses | operation.partial_defs}
            for word in operation.defs:
                now[word] = word if is_last else first_word
                first_word += 0 if is_last else 1
            writes = frozenset(now[word] for word in operation.defs)
            found.append(
                operation._replace(
                    uses=frozenset(reads), defs=writes, partial_defs=frozenset()
                )
            )
    return found


class _InductionVariable:
    """Tracks the register that counts the iterations of a loop."""

    def __init__(self, function: Function, numbers: Sequence[int]) -> None:
        self.function = function
        self.flow = instructions(function)
        self.inside = [self.flow.info(number) for number in numbers]
        self.left = virtual_registers(function)

    def trip_count(self) -> int | None:
        branches = [s for s in self.inside if s.opcode == "bra" and s.guard >= 0]
        tests = [s for b in branches for s in self.inside if b.guard in s.defs]
        if len(branches) != 1 or len(tests) != 1 or tests[0].opcode != "setp":
            return None
        operands = tests[0].node.operands
        if len(operands) < 3:
            return None
        counter, end = self.register(operands[1]), self.value(operands[2])
        adds = [s for s in self.inside if s.opcode == "add" and counter in s.defs]
        if counter is None or end is None or len(adds) != 1 or len(adds[0].node.operands) != 3:
            return None
        step = self.value(adds[0].node.operands[2])
        start = self.start(self.register(adds[0].node.operands[1]))
        if not step or start is None:
            return None
        count = (end - start) // step
        return count if count > 0 else None

    def start(self, register: int | None) -> int | None:
        """The only constant that `register` is assigned outside the loop."""
        if register is None:
            return None
        inside = {step.number for step in self.inside}
        found = [number for number in self.left.definitions.of(register) if number not in inside]
        if len(found) != 1 or self.flow.kinds[found[0]].opcode != "mov":
            return None
        return self.value(self.flow.body.instructions[found[0]].operands[-1])

    def value(self, operand: nodes.Operand) -> int | None:
        register = self.register(operand)
        return constant(operand) if register is None else assigned_constant(self.left, register)

    def register(self, operand: nodes.Operand) -> int | None:
        if not isinstance(operand, nodes.Name):
            return None
        symbol = self.function.resolve(operand)
        return self.flow.index_of(symbol) if isinstance(symbol, Register) else None
