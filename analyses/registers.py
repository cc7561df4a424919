"""How many registers ptxas will use for a kernel: an estimate, with an interval.

ptxas is not at hand when this is asked for, and its register allocation is not public. So the code is
taken as machine code would have it (`words`), its loops unrolled (`unrolling`), its loads hoisted as far
as that costs no blocks on a multiprocessor (`schedule`), and counted:

1. `peak_live` is the largest number of 32-bit registers that are live at once, with one for the stack
   pointer. It is what `nvdisasm -plr` counts in the machine code.
2. Loads are hoisted up to the most registers with which as many blocks are resident as with the fewest
   that the code can do with, less `_RESERVE`. The size of a block is that of `.reqntid` or `.maxntid`;
   without them full warps are counted, as of blocks of 128 threads.
3. Calls of functions of the same module are inlined: where one happens, what is live across it adds to
   what the callee needs. Calls that cannot be (recursive, through a register, of other modules) follow
   the ABI, which keeps registers for them: `_ABI_PEAK`.
4. In a debug build (`.target debug`) nothing is optimised: every value of PTX has a register of
   its own, and there are `_DEBUG` or, with calls, `_DEBUG_CALLS` more.
5. `estimate` is what ptxas reports as used. It is higher than the peak, since registers of 64 and 128 bits
   must be aligned, and two are always counted on top. `low` and `high` hold nine of ten kernels.
6. The launch bounds cap all of it (`launch_bounds`).

The constants were found on one half of a set of kernels, by leaving out each source in turn; the error is
in docs/accuracy.md.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from analyses.calls_made import CallsMade, calls_made
from analyses.cfg import cfg
from analyses.device_limits import LIMITS
from analyses.launch_bounds import LaunchBounds, directives_of, launch_bounds_of, thresholds
from analyses.pressure import pressure
from analyses.unrolling import runs
from analyses.words import words
from analyses.words_alive import words_alive
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function

_RESERVE: Final = 6
_USUAL_BLOCK: Final = 128
_USUAL_THREADS: Final = 1536
"""What ptxas seems to have in mind for sm_75, which has no more than 1024 threads."""
_STACK_POINTER: Final = 1
_ABI_PEAK: Final = 22
_EXTERNAL_PEAK: Final = 16
_ABI_USED: Final = 24
_DEBUG: Final = 6
_DEBUG_CALLS: Final = 13
_ABOVE_SINGLES: Final = 3
_ABOVE_PAIRS: Final = 4
_ABOVE_MATRIX: Final = 6
_LEAST_USED: Final = 8
_LOW: Final = 0.75
_HIGH: Final = 1.4
_MATRIX: Final = frozenset({"mma", "wmma", "wgmma"})


class RegisterEstimate(NamedTuple):
    """Registers of 32 bits for each thread."""

    peak_live: int
    estimate: int
    low: int
    high: int


def register_estimate(function: Function, target: Target | None = None) -> RegisterEstimate | None:
    """The registers of a kernel or function on `target`, else on that of its module; None where there are
    no figures for that target.
    """
    target = target or function.module.target
    if target is None or target.number not in LIMITS:
        return None
    bounds = launch_bounds_of(target, directives_of(function))
    made = calls_made(function)
    if _is_debug(function):
        peak = pressure(function).peak + (_DEBUG_CALLS if made.reached else _DEBUG)
    else:
        _, peak = _peaks(function, bounds)
    peak = max(peak, _with_calls(function, made))
    return _estimate(function, made, bounds, peak)


def _peaks(function: Function, bounds: LaunchBounds) -> tuple[int, int]:
    """The fewest registers, and those with loads hoisted (2)."""
    least = max((run.least for run in runs(function)), default=0)
    limit = _hoisting_limit(bounds, least + _STACK_POINTER)
    peak = max((run.hoisted(limit) for run in runs(function)), default=0)
    return least + _STACK_POINTER, peak + _STACK_POINTER


def _hoisting_limit(bounds: LaunchBounds, least: int) -> int:
    device, threads = bounds.device, bounds.threads_per_block
    if not threads:
        threads = _USUAL_BLOCK
        device = device._replace(threads_per_sm=max(device.threads_per_sm, _USUAL_THREADS))
    at_hand = [min(step.registers, bounds.register_limit) for step in thresholds(device, threads)]
    enough = [registers for registers in at_hand if registers >= least]
    return min(enough, default=bounds.register_limit) - _RESERVE


def _with_calls(function: Function, made: CallsMade) -> int:
    """The peak around the calls of a function (3)."""
    if made.has_indirect or made.is_recursive:
        return _ABI_PEAK
    peak = _EXTERNAL_PEAK if made.has_external else 0
    if not any(made.reached.values()):
        return peak
    left, alive, graph = words(function), words_alive(function), cfg(function)
    for block in graph.blocks:
        live = set[int]().union(*(alive[target] for target in block.successors))
        for number in reversed(block.steps):
            operation = left.operations[number]
            if operation is None:
                continue
            live -= operation.writes - operation.keeps
            for callee in made.reached.get(operation.step.node.start, ()):
                peak = max(peak, len(live) + _of_callee(callee))
            live |= operation.reads
    return peak


def _of_callee(function: Function) -> int:
    made = calls_made(function)
    if made.is_recursive:
        return _ABI_PEAK
    own = max((run.least for run in runs(function)), default=0)
    return max(own, _with_calls(function, made))


def _estimate(
    function: Function, made: CallsMade, bounds: LaunchBounds, peak: int
) -> RegisterEstimate:
    used = peak + _above_peak(function)
    if made.has_indirect or made.has_external or made.is_recursive:
        used = max(used, _ABI_USED)
    cap = bounds.register_limit
    return RegisterEstimate(
        min(peak, cap), min(used, cap), max(_LEAST_USED, int(used * _LOW)), min(round(used * _HIGH), cap)
    )


def _above_peak(function: Function) -> int:
    """How many more registers are used than live: those that alignment leaves empty, and two (5)."""
    left = words(function).operations
    if any(one is not None and one.step.opcode in _MATRIX for one in left):
        return _ABOVE_MATRIX
    widest = max((len(one.writes) for one in left if one is not None), default=0)
    return _ABOVE_PAIRS if widest > 1 else _ABOVE_SINGLES


def _is_debug(function: Function) -> bool:
    return any(name.text == "debug" for name in function.module.target_names)
