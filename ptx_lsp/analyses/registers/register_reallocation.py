"""The effect of the `setmaxnreg` instructions of a kernel.

1. ptxas follows `setmaxnreg` only if it knows the number of registers at entry. It takes it from `.maxnreg`,
   or from an effective `.minnctapersm` with a block size (`launch_bounds.py`). Otherwise it ignores every
   `setmaxnreg` (C7508).
2. It also ignores them if a call is not inlined, unless it calls a function of another file (C7506).
3. The largest count is the largest number of an `.inc`; without one, the count at entry. A `.dec` to more
   than that is an error (C7406), even if 1 or 2 applies, provided that the largest count is known.

Source: ptxas 13.5 with and without every bound, for sm_90a to sm_121a (docs/ptxas.md, section 6). Only
instructions in the kernel itself count. The functions that it calls matter only for 2.
"""

from __future__ import annotations

from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo
from ptx_lsp.analyses.occupancy.launch_bounds import launch_bounds
from ptx_lsp.analyses.registers.out_of_line_calls import OutOfLineCall, out_of_line_calls
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import Literal

Unknown = Literal["no block size", "no minnctapersm", "minnctapersm ignored"]

_requests = instructions_matching(lambda spelling: spelling.startswith("setmaxnreg."))


class Request(NamedTuple):
    """One `setmaxnreg`; `registers` is None if it is not a literal."""

    step: InstructionInfo
    increases: bool
    registers: int | None


@fact
def requests(function: Function) -> tuple[Request, ...]:
    """The requests of a kernel, in text order; empty for other functions."""
    if not function.is_kernel:
        return ()
    return tuple(
        Request(step, step.spelling.startswith("setmaxnreg.inc"), _count(step))
        for step in _requests(function)
    )


@fact
def unknown_entry_count(function: Function) -> Unknown | None:
    """Why ptxas does not know the count at entry (1); None if it does, or if the target is unknown."""
    bounds = launch_bounds(function)
    if bounds is None or bounds.directives.maxnreg or bounds.blocks_asked:
        return None
    if not bounds.threads_per_block:
        return "no block size"
    return "minnctapersm ignored" if bounds.directives.minnctapersm else "no minnctapersm"


def call_in_the_way(function: Function) -> OutOfLineCall | None:
    """The first call that makes ptxas ignore every `setmaxnreg` of the kernel (2)."""
    return next((one for one in out_of_line_calls(function) if one.reason != "external"), None)


@fact
def excessive(function: Function) -> tuple[tuple[Request, int], ...]:
    """The requests that are errors (3), each with the largest count."""
    found = requests(function)
    largest = _largest(function, found) if found else None
    if largest is None:
        return ()
    return tuple(
        (one, largest)
        for one in found
        if not one.increases and one.registers is not None and one.registers > largest
    )


def _largest(function: Function, found: tuple[Request, ...]) -> int | None:
    counts = [one.registers for one in found if one.increases]
    known = [count for count in counts if count is not None]
    if counts:
        return max(known) if len(known) == len(counts) else None
    bounds = launch_bounds(function)
    return bounds.register_limit if bounds and not unknown_entry_count(function) else None


def _count(step: InstructionInfo) -> int | None:
    operands = step.node.operands
    return whole_number(operands[0]) if operands else None
