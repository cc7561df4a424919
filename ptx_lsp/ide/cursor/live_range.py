"""The live range of a register, as lines of the file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ptx_lsp.analyses.dataflow.liveness import Liveness, liveness
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class Lines(NamedTuple):
    """Lines `first` to `last`, both counted from 1."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def live_lines(
    function: Function, register: Register, at: Iterable[nodes.Instruction]
) -> tuple[Lines, ...]:
    """The lines from each write of `register` to the reads that may see it, in text order; `at` are the
    instructions that name it. Empty if its value is never used.
    """
    known = liveness(function)
    number = known.instructions.index_of(register)
    if number is None:
        return ()
    block_of = known.cfg.block_of
    touched = {block_of[step_number(function, known.instructions, one)] for one in at}
    ranges = _ranges(known, number, touched)
    offset = function.item.offset
    line_of = function.module.document.source.line_of
    steps = known.instructions.instructions
    found: list[Lines] = []
    for first, last in ranges:
        lines = Lines(
            line_of(offset(steps[first].node.start)) + 1, line_of(offset(steps[last].node.start)) + 1
        )
        if found and lines.first <= found[-1].last + 1:
            found[-1] = Lines(found[-1].first, max(found[-1].last, lines.last))
        else:
            found.append(lines)
    return tuple(found)


def step_number(function: Function, known: FunctionInstructions, instruction: nodes.Instruction) -> int:
    """The index of an instruction."""
    offset = function.item.offset
    return bisect_left(known.instructions, offset(instruction.start), key=lambda one: offset(one.node.start))


def _ranges(known: Liveness, number: int, touched: set[int]) -> list[tuple[int, int]]:
    """The first and the last step of each run over which the register is live or written to live."""
    found: list[tuple[int, int]] = []
    for block in known.cfg.blocks:
        leaves = number in known.live_out[block.number]
        if block.number in touched:
            found += _in_block(known, number, block.instructions, leaves)
        elif leaves and number in known.live_in[block.number] and block.instructions:
            found.append((block.first, block.end - 1))
    return found


def _in_block(
    known: Liveness, number: int, steps: range, leaves: bool
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    last = steps.stop - 1 if leaves else -1
    for at in reversed(steps):
        step = known.instructions.instructions[at]
        if last >= 0 and number in known.kills[at]:
            found.append((at, last))
            last = -1
        if last < 0 and (number in step.uses or number == step.guard):
            last = at
    if last >= 0:
        found.append((steps.start, last))
    return found[::-1]


def shown(lines: tuple[Lines, ...], most: int = 6) -> str:
    """`12-40, 55 and 3 more`."""
    texts = [str(one) for one in lines[:most]]
    more = f" and {len(lines) - most} more" if len(lines) > most else ""
    return ", ".join(texts) + more

