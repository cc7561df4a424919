"""Which performance directives of a kernel ptxas does not follow, and why.

1. `.minnctapersm` counts only beside a block size: `.reqntid`, else `.maxntid`.
2. It is ignored where it is above the number of blocks that an SM holds, and where so many blocks, each
   in whole warps, are more threads than an SM holds.
3. It is ignored with a block size above the threads of an SM, which is ignored itself (and no block is
   so large: the rule `block-too-large`).
4. `.maxnreg` above 255 is ignored; below what ptxas needs at least it is raised to that.
5. `.maxnreg` is followed even where a block of that size cannot have so many registers.
6. Of a repeated directive the last one counts.

Source: ptxas 13.5 (docs/ptxas.md, section 4.4). It warns of 1 to 4, and is silent on 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analyses.sm_limits import MAX_REGISTERS_PER_THREAD, WARP, SmLimits, sm_limits
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.tuning import Given, Tuning, tuning

_UNIT = 8
"""A thread's registers come in this many."""


class Ignored(NamedTuple):
    """A directive that is not followed; `reason` is the end of a sentence, `because` what it speaks of."""

    given: Given
    reason: str
    because: Given | None = None


@fact
def ignored_directives(function: Function) -> tuple[Ignored, ...]:
    """Those of one kernel; none where the limits of its target are not known."""
    limits = sm_limits(function.module.target)
    if not function.is_kernel or function.node.body is None:
        return ()
    return tuple(_of(tuning(function), limits))


class TooManyRegisters(NamedTuple):
    """A `.maxnreg` with which a block of the size given may not fit; `most` registers would."""

    given: Given
    block: Given
    most: int


@fact
def too_many_registers(function: Function) -> TooManyRegisters | None:
    """Whether `.maxnreg` lets a block have more registers than there are (sentence 5)."""
    limits = sm_limits(function.module.target)
    heads = tuning(function)
    given, block = heads.last(".maxnreg"), heads.block
    if limits is None or given is None or block is None or not block.product:
        return None
    minimum = heads.last(".minnctapersm")
    if minimum is not None and not any(one.given is minimum for one in ignored_directives(function)):
        return None  # ptxas then keeps to the lower limit
    registers = given.values[0] if len(given.values) == 1 else None
    most = limits.registers_per_block // _threads(block) // _UNIT * _UNIT
    if registers is None or not most < registers <= MAX_REGISTERS_PER_THREAD:
        return None
    return TooManyRegisters(given, block, most) if most >= limits.least_registers else None


def _of(heads: Tuning, limits: SmLimits | None) -> Iterator[Ignored]:
    minimum, block = heads.last(".minnctapersm"), heads.block
    if minimum is not None and block is None:
        reason = "a kernel without `.maxntid` or `.reqntid` has no size of block to go by"
        yield Ignored(minimum, reason)
    if limits is None:
        return
    if block is not None and block.product and block.product > limits.threads_per_sm:
        if minimum is not None:
            reason = f"a block of {block.product} threads is more than an SM holds"
            yield Ignored(minimum, reason, block)
    elif block is not None and minimum is not None:
        yield from _of_minimum(minimum, block, limits)
    maximum = heads.last(".maxnreg")
    if maximum is not None:
        yield from _of_registers(maximum, limits)


def _of_minimum(minimum: Given, block: Given, limits: SmLimits) -> Iterator[Ignored]:
    blocks = minimum.values[0] if len(minimum.values) == 1 else None
    if not blocks or not block.product:
        return
    if blocks > limits.blocks_per_sm:
        yield Ignored(minimum, f"an SM holds {limits.blocks_per_sm} blocks, not {blocks}")
    elif blocks * _threads(block) > limits.threads_per_sm:
        total = blocks * _threads(block)
        reason = (
            f"{blocks} blocks of {block.product} threads are {total} threads in whole warps, "
            f"and an SM holds {limits.threads_per_sm}"
        )
        yield Ignored(minimum, reason, block)


def _of_registers(maximum: Given, limits: SmLimits) -> Iterator[Ignored]:
    registers = maximum.values[0] if len(maximum.values) == 1 else None
    if not registers:
        return
    if registers > MAX_REGISTERS_PER_THREAD:
        reason = f"a thread has {MAX_REGISTERS_PER_THREAD} registers at most"
        yield Ignored(maximum, reason)
    elif registers < limits.least_registers:
        reason = f"ptxas needs {limits.least_registers} registers at least, and takes that number"
        yield Ignored(maximum, reason)


def _threads(block: Given) -> int:
    """Of a block, in whole warps."""
    return -(-(block.product or 0) // WARP) * WARP
