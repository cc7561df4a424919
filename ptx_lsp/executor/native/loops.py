"""Blocks that jump to themselves, for warps of which all lanes take part: without masks, and with what is
known of addresses by their lane offsets.

A register has *lane offsets* in a loop if each iteration adds the same to it in all lanes. Then the first
lane is computed for all, and how the lanes access memory is found out ahead of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptx_lsp.executor.arithmetic.program import DType
from ptx_lsp.executor.machine.control import Block, Control, Jump
from ptx_lsp.executor.native.ir import Code, LaneOffsets, Value, scalar_type, vector_of
from ptx_lsp.executor.native.liveness import reads, writes
from ptx_lsp.executor.native.steps import Steps


def is_loop(blocks: Sequence[Block], number: int) -> bool:
    """Whether a block jumps to itself, and else only computes and accesses memory."""
    *steps, last = blocks[number].steps
    if not isinstance(last.action, Jump) or last.action.target != number or blocks[number].polls:
        return False
    return not any(isinstance(one.action, Control) or reads(one) is None for one in steps)


class Loop:
    """The registers of a block that jumps to itself."""

    def __init__(self, block: Block, steps: Steps, dtypes: Mapping[int, DType]) -> None:
        self._code: Code = steps.code
        self._steps = steps
        self._dtypes = dtypes
        self._written: set[int] = set()
        self._needed: set[int] = set()
        """Those whose values before an iteration matter in it."""
        self._fixed: set[int] = set()
        for step in block.steps:
            self._needed |= (reads(step) or set()) - self._written
            self._written |= writes(step)
            if step.guard >= 0:
                self._fixed |= writes(step)
        self._regular = {
            number for number in self._needed - self._fixed if dtypes[number].kind in "iu"
        }
        self._offsets: dict[int, Value] = {}
        self._before: dict[int, Value] = {}
        self._variables: dict[int, Value] = {}
        """What iterations change: registers, of those with lane offsets the first lane."""

    def enter(self) -> None:
        """Ahead of the loop: the lane offsets, and what no iteration changes."""
        code, steps = self._code, self._steps
        self._before = {}
        for number in sorted(self._needed - self._fixed):
            value = steps.read(number).value
            if number in self._regular:
                first = code.extract(value, 0)
                self._offsets[number] = code.binary("sub", value, code.splat(first))
                self._variables[number] = code.slot(first.type, "first")
                code.store(first, self._variables[number])
            elif number in self._written:
                self._variables[number] = code.slot(value.type, "carried")
                code.store(value, self._variables[number])
            else:
                self._before[number] = value

    def begin(self) -> dict[int, Value]:
        """At the beginning of an iteration; the current values of registers, which steps will change."""
        code = self._code
        current: dict[int, Value] = {}
        for number in sorted(self._needed - self._fixed):
            type = scalar_type(self._dtypes[number])
            if number in self._regular:
                first = code.load(type, self._variables[number])
                current[number] = code.joined(LaneOffsets(first, self._offsets[number]))
            elif number in self._before:
                current[number] = self._before[number]
            else:
                current[number] = code.load(vector_of(type), self._variables[number])
        self._steps.current, self._steps.fixed = current, self._fixed
        return current

    def leave(self, current: Mapping[int, Value]) -> None:
        """Where threads leave the loop: gives registers the `current` values that they have there."""
        code = self._code
        for number in sorted(self._written & current.keys()):
            parts = code.lane_offsets(current[number])
            value = current[number] if parts is None else code.joined(parts)
            code.store(value, self._steps.slot(number))

    def again(self, current: Mapping[int, Value]) -> None:
        """At the end of an iteration after which there is another one."""
        code = self._code
        for number in sorted((self._needed & self._written) - self._fixed):
            parts = code.lane_offsets(current[number]) if number in self._regular else None
            code.store(current[number] if parts is None else parts.first, self._variables[number])

    def is_right(self, current: Mapping[int, Value]) -> bool:
        """Whether all registers have the lane offsets that they were thought to have. Afterwards those that
        have not are thought to have none.
        """
        wrong: set[int] = set()
        for number in self._regular & self._written:
            parts = self._code.lane_offsets(current[number])
            if parts is None or parts.offsets != self._offsets[number]:
                wrong.add(number)
        self._regular -= wrong
        return not wrong
