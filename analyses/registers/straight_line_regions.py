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

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from analyses.control_flow.cfg import Cfg, cfg
from analyses.control_flow.dominance import Loop, dominance
from analyses.instructions.uses_and_defs import instructions
from analyses.registers.list_scheduling import StraightLineRegion
from analyses.registers.machine_blocks import MachineBlock, machine_blocks
from analyses.registers.virtual_register_liveness import virtual_register_liveness
from analyses.registers.virtual_registers import MachineInstruction, constant, virtual_registers
from ptx_lsp.facts import GenerationalCache, Previous, fact, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

FULL_UNROLL_LIMIT: Final = 1000
PARTIAL_UNROLL_LIMIT: Final = 250
_NOT_UNROLLED: Final = frozenset({"bar", "barrier", "call", "wmma", "mma", "wgmma"})
_FACTORS: Final = (16, 8, 4, 2)


@fact
def straight_line_regions(function: Function) -> tuple[StraightLineRegion, ...]:
    """The reachable straight-line regions of `function`, in the order of the text."""
    return tuple(_regions(function))


_Key: TypeAlias = tuple[tuple[MachineBlock, ...], int, frozenset[int]]
"""The blocks of a region, its unroll factor, and the virtual registers live after it."""


@incremental_fact
def _memory(
    _: Function, earlier: Previous[GenerationalCache[_Key, StraightLineRegion]] | None
) -> GenerationalCache[_Key, StraightLineRegion]:
    return GenerationalCache(earlier.value if earlier else None)


def _region(
    function: Function, blocks: tuple[MachineBlock, ...], factor: int, behind: frozenset[int]
) -> StraightLineRegion:
    """The region: the same object as before an edit if its instructions and the virtual registers live after
    it are unchanged.
    """
    memory = _memory(function)
    key = blocks, factor, behind
    known = memory.get(key)
    if known is None:
        repeated = _operations(blocks)
        if factor > 1:
            repeated = _unrolled(repeated, factor, virtual_registers(function).count)
        known = memory.put(key, StraightLineRegion(repeated, behind))
    return known


def _operations(blocks: Iterable[MachineBlock]) -> list[MachineInstruction]:
    return [operation for block in blocks for operation in block.instructions]


def trip_count(function: Function, loop: Loop) -> int | None:
    """How often the body of `loop` is executed, within one; None if unknown."""
    graph = cfg(function)
    numbers = [number for block in sorted(loop.blocks) for number in graph.blocks[block].instructions]
    return _InductionVariable(function, numbers).trip_count() if numbers else None


def _regions(function: Function) -> Iterator[StraightLineRegion]:
    graph, left, alive = cfg(function), machine_blocks(function), virtual_register_liveness(function)
    kept = _nounroll_blocks(function)
    straight = {
        min(loop.blocks): loop
        for loop in dominance(function).loops
        if _is_straight_line(graph, loop) and loop.header not in kept
    }
    done: set[int] = set()
    for block in graph.blocks:
        if block.number in done or block.number not in graph.reached:
            continue
        loop = straight.get(block.number)
        if loop is not None:
            members = sorted(loop.blocks)
            body = tuple([left[member] for member in members])
            count = trip_count(function, loop)
            factor = _unroll_factor(_operations(body), count) if count else 1
            if factor > 1:
                done.update(members)
                behind = [
                    target
                    for target in graph.blocks[members[-1]].successors
                    if not (factor == count and target == loop.header)
                ]
                yield _region(function, body, factor, alive.live_in_any(behind))
                continue
        yield _region(function, (left[block.number],), 1, alive.live_in_any(block.successors))


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
        self.inside = [self.flow.instructions[number] for number in numbers]
        self.writers = virtual_registers(function).state.writers

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
        inside = {step.node.start for step in self.inside}
        found = [step for step in self.writers[register] if step.node.start not in inside]
        if len(found) != 1 or found[0].opcode != "mov":
            return None
        return self.value(found[0].node.operands[-1])

    def value(self, operand: nodes.Operand) -> int | None:
        register = self.register(operand)
        if register is None:
            return constant(operand)
        writers = self.writers[register]
        if len(writers) == 1 and writers[0].opcode == "mov" and not writers[0].uses:
            return constant(writers[0].node.operands[-1])
        return None

    def register(self, operand: nodes.Operand) -> int | None:
        if not isinstance(operand, nodes.Name):
            return None
        symbol = self.function.resolve(operand)
        return self.flow.index_of(symbol) if isinstance(symbol, Register) else None
