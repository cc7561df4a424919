"""Reads without a write beside runs of the very functions, with predicates that fall as chance has it."""

from __future__ import annotations

from random import Random

import pytest

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Register
from tests.analyses.random_functions import function_text
from tests.strength import seeds

_LONGEST = 200


class Run:
    """One run: where it goes and what it reads unwritten, as pairs of step and register."""

    def __init__(self, function: Function, random: Random) -> None:
        self.flow, self.graph, self.random = instructions(function), cfg(function), random
        self.values: dict[int, bool] = {}
        """Of predicates; one that is not written has some value all the same."""
        self.written = {
            number
            for symbol in function.body.parameters
            if isinstance(symbol, Register) and (number := self.flow.index_of(symbol)) is not None
        }
        self.read: list[tuple[int, int, bool]] = []
        block = 0
        for _ in range(_LONGEST):
            if block == self.graph.exit:
                break
            block = self.through(block)

    def through(self, number: int) -> int:
        """Runs one block and gives the next."""
        block = self.graph.blocks[number]
        runs = True
        for step in self.flow.instructions[block.first : block.end]:
            runs = self.step(step)
        if not block.is_branching:
            return block.successors[0]
        return block.successors[1 if runs else 0]

    def step(self, step: InstructionInfo) -> bool:
        """Whether the guard let it run."""
        runs = True
        if step.guard >= 0:
            self.note(step, step.guard)
            value = self.values.setdefault(step.guard, self.random.random() < 0.5)
            runs = value is not (step.node.guard is not None and step.node.guard.negated)
        if runs:
            for register in step.uses:
                self.note(step, register)
            self.written.update(step.defs)
            self.values.update((one, self.random.random() < 0.5) for one in step.defs)
        return runs

    def note(self, step: InstructionInfo, register: int) -> None:
        self.read.append((step.number, register, register in self.written))


@pytest.mark.parametrize("seed", seeds(40, 200))
def test_what_runs_unwritten_is_reported(seed: int) -> None:
    random = Random(seed)
    (function,) = Module.parse(function_text(random)).functions
    reported = {found.register: found for found in uninitialized_reads(function)}
    for _ in range(30):
        for number, register, was_written in Run(function, random).read:
            if not was_written:
                assert register in reported, f"step {number}"
                assert reported[register].instruction <= number
            elif register in reported and reported[register].instruction == number:
                assert not reported[register].on_all_paths, f"step {number}"


def test_most_reports_come_true() -> None:
    """Not all do: a way that the graph has may need a predicate to be true and false at once."""
    reported = seen = 0
    for seed in range(200):
        random = Random(seed)
        (function,) = Module.parse(function_text(random)).functions
        found = {(one.instruction, one.register) for one in uninitialized_reads(function)}
        unwritten = {
            (number, register)
            for _ in range(100)
            for number, register, was_written in Run(function, random).read
            if not was_written
        }
        reported += len(found)
        seen += len(found & unwritten)
    assert reported > 200
    assert seen > 0.8 * reported
