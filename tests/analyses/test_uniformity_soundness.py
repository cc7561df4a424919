"""No branch called uniform ever splits a warp, values differ between lanes by the offsets that are said, and
the lanes that are said to execute an instruction, or not to, do so: random control flow, run for eight lanes.

The programs have additions, comparisons, loads, predicated writes and branches anywhere. They run in two
ways: threads that a branch parts meet at its reconvergence point, or as soon as they come to the same
block, the earliest in the text order of control flow first.
"""

from __future__ import annotations

from random import Random

import pytest

from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.divergent_control import divergent_control
from ptx_lsp.analyses.divergence.lane_predicates import lane_predicates
from ptx_lsp.analyses.divergence.lane_values import lane_values
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from tests.analyses.blocks import HEADER
from tests.analyses.random_kernels import program
from tests.strength import seeds

LANES = range(8)
STEPS = 400
"""How many blocks are run of a program that does not end by itself."""
VALUES = 64
"""A register holds a number below it; sums wrap around."""

Lane = dict[str, int]


class _Warp:
    """Runs a kernel, and remembers where lanes disagree that must not."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.known: Uniformity = uniformity(function)
        self.cfg = self.known.ssa.cfg
        self.steps = self.known.ssa.instructions
        self.lanes: list[Lane] = [{"%tid.x": lane} for lane in LANES]
        self.values = lane_values(function)
        self.predicates = lane_predicates(function)
        self.control = divergent_control(function)
        self.executed: dict[int, set[int]] = {}
        """The lanes that have executed each instruction."""
        self.wrong: list[str] = []
        self.divided = 0
        self.apart = 0
        """How many reads were checked of values that differ between lanes as they are said to."""
        self.time = 0

    def block(self, number: int, active: list[int]) -> dict[int, list[int]]:
        """Runs one block for some lanes; where each goes then."""
        block = self.cfg.blocks[number]
        for index in block.instructions:
            step = self.steps.instructions[index]
            self.check_reads(step, active)
            self.execute(step, active)
            self.time += 1
            if step.opcode not in ("bra", "ret"):
                for lane in active:
                    _run(step, self.lanes[lane], self.time)
                self.check_writes(step, active)
        ways: dict[int, list[int]] = {}
        for lane in active:
            ways.setdefault(self.next(number, self.lanes[lane]), []).append(lane)
        if number in self.known.branches and len(ways) > 1:
            self.divided += 1
            if self.known.branches[number].is_uniform:
                self.wrong.append(f"block {number} splits {active}")
        return ways

    def next(self, number: int, lane: Lane) -> int:
        block = self.cfg.blocks[number]
        if not block.instructions:
            return block.successors[0]
        step = self.steps.instructions[block.end - 1]
        if step.opcode not in ("bra", "ret"):
            return block.successors[0]
        return block.successors[-1 if _is_done(step, lane) else 0]

    def check_reads(self, step: InstructionInfo, active: list[int]) -> None:
        for register in {*step.uses, *([step.guard] if step.guard >= 0 else [])}:
            name = self.steps.registers[register].name
            if self.known.use_level(step.number, register).is_uniform and self.differs(name, active):
                self.wrong.append(f"{step.node.opcode.text} {step.number} reads {name}")
        block = self.cfg.block_of[step.number]
        values = self.known.ssa.by_instruction[step.number]
        for register, value in zip(step.uses, values.uses, strict=True):
            found = self.values.value_at(value, block)
            if found is not None:
                self.check_offsets(step, self.steps.registers[register].name, found.spread, active)
        if step.guard >= 0:
            self.check_guard(step, active)

    def execute(self, step: InstructionInfo, active: list[int]) -> None:
        executing = {lane for lane in active if _is_done(step, self.lanes[lane])}
        self.executed.setdefault(step.number, set()).update(executing)
        if executing & self.control.lanes_executing(step.number).inactive:
            self.wrong.append(f"{step.node.opcode.text} {step.number} is executed by other lanes")

    def end(self) -> None:
        """All threads have exited."""
        for number, lanes in self.executed.items():
            if lanes and not self.control.lanes_executing(number).active & set(LANES) <= lanes:
                self.wrong.append(f"instruction {number} is not executed by lanes that do")

    def check_offsets(
        self, step: InstructionInfo, name: str, spread: tuple[int, ...], active: list[int]
    ) -> None:
        known = {lane: self.lanes[lane][name] for lane in active if name in self.lanes[lane]}
        bases = {(value - spread[lane]) % VALUES for lane, value in known.items()}
        if len(bases) > 1:
            self.wrong.append(f"{step.node.opcode.text} {step.number} has other offsets of {name}")
        self.apart += len(active) > 1 and any(spread)

    def check_guard(self, step: InstructionInfo, active: list[int]) -> None:
        guard = self.predicates.guard(step)
        done = {lane: _is_done(step, self.lanes[lane]) for lane in active}
        if guard.is_divergent is False and len(set(done.values())) > 1:
            self.wrong.append(f"{step.node.opcode.text} {step.number} is done by some lanes only")
        first = guard.first_warp_lanes
        if first is not None and any(first[lane] is not does for lane, does in done.items()):
            self.wrong.append(f"{step.node.opcode.text} {step.number} is done by other lanes")

    def check_writes(self, step: InstructionInfo, active: list[int]) -> None:
        for register, level in zip(step.defs, self.known.def_levels(step.number), strict=True):
            name = self.steps.registers[register].name
            if level.is_uniform and self.differs(name, active):
                self.wrong.append(f"{step.node.opcode.text} {step.number} writes {name}")

    def differs(self, name: str, active: list[int]) -> bool:
        return len({self.lanes[lane].get(name) for lane in active}) > 1


def _text(operand: nodes.Operand) -> str:
    match operand:
        case nodes.Name(text=text) | nodes.Number(text=text):
            return text
        case nodes.Member(object=nodes.Name(text=text), components=(component,)):
            return text + component.text
        case _:
            raise AssertionError(f"no value for {operand}")


def _is_done(step: InstructionInfo, lane: Lane) -> bool:
    guard = step.node.guard
    return guard is None or bool(lane[_text(guard.predicate)]) is not guard.negated


def _run(step: InstructionInfo, lane: Lane, time: int) -> None:
    """Memory holds another value each time that it is loaded."""
    if not _is_done(step, lane):
        return
    if step.opcode == "ld":
        lane[_text(step.node.operands[0])] = time % 7
        return
    target, *sources = map(_text, step.node.operands)
    values = [lane[text] if text in lane else int(text) for text in sources]
    match step.spelling, values:
        case "add.u32", [a, b]:
            lane[target] = (a + b) % VALUES
        case "mov.u32", [a]:
            lane[target] = a
        case "setp.lt.u32", [a, b]:
            lane[target] = int(a < b)
        case "setp.gt.u32", [a, b]:
            lane[target] = int(a > b)
        case "setp.eq.u32", [a, b]:
            lane[target] = int(a == b)
        case other:
            raise AssertionError(f"not interpreted: {other}")


def run_with_stack(warp: _Warp) -> None:
    """Threads that a branch parts wait at its reconvergence point."""
    meets = dominance(warp.function)
    stack = [(0, -1, list(LANES))]  # the block, where its threads wait, and they
    for _ in range(STEPS):
        if not stack:
            warp.end()
            return
        number, end, active = stack.pop()
        if number in (end, warp.cfg.exit):
            continue
        ways = warp.block(number, active)
        if len(ways) == 1:
            stack.append((next(iter(ways)), end, active))
            continue
        meeting = meets.reconvergence(number)
        stack.append((meeting, end, active))
        stack.extend((target, meeting, lanes) for target, lanes in ways.items())


def run_together(warp: _Warp) -> None:
    """Threads meet in whatever block they come to; the first of the reverse postorder runs."""
    position = {block: index for index, block in enumerate(warp.cfg.reverse_postorder)}
    waiting = {0: list(LANES)}
    for _ in range(STEPS):
        waiting.pop(warp.cfg.exit, None)
        if not waiting:
            warp.end()
            return
        number = min(waiting, key=lambda block: position[block])
        for target, lanes in warp.block(number, sorted(waiting.pop(number))).items():
            waiting.setdefault(target, []).extend(lanes)


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_nothing_uniform_splits(seed: int) -> None:
    """Enough branches do split, and enough are called uniform, for this to mean something."""
    random = Random(seed)
    divided = uniform = apart = 0
    for _ in range(30):
        text = program(random)
        function = Module.parse(HEADER + text).functions[0]
        for run in (run_with_stack, run_together):
            warp = _Warp(function)
            run(warp)
            assert not warp.wrong, text
            divided += warp.divided
            apart += warp.apart
        known = uniformity(function)
        for block, level in known.branches.items():
            assert level is UniformityLevel.GRID or known.reasons(
                known.ssa.cfg.blocks[block].end - 1
            ), text
        uniform += sum(level is not UniformityLevel.DIVERGENT for level in known.branches.values())
    assert divided > 5
    assert uniform > 5
    assert apart > 5
