"""How many registers ptxas will use for a kernel, by a simulation of its code generation.

ptxas's register allocation is not public. The simulation lowers the code as machine code would have it
(`virtual_registers`) and unrolls its loops (`straight_line_regions`). It hides latencies by scheduling
(`list_scheduling`), and counts:

1. `peak_live` is the largest number of 32-bit registers that are live at once, including one for the stack
   pointer. `nvdisasm -plr` counts the same in the machine code.
2. Loads are hoisted up to a register limit that follows from the warps that can be resident
   (`scheduling_limit`).
3. Values that are live across calls need other registers than those that the callee overwrites
   (`call_registers`).
4. In a debug build (`.target debug`) nothing is optimised. Every PTX value has its own register, and some
   more are needed.
5. `used` is the count that ptxas reports. It is higher than the peak, since registers of 64 and 128 bits must
   be aligned and two are always added.
6. The launch bounds cap all of it, or else ptxas's option `-maxrregcount` does (`launch_bounds`). Far too
   large a kernel with a block size gets fewer (`register_cap`).

`estimated_registers` corrects both figures, and gives an interval.
"""

from __future__ import annotations

from ptx_lsp.analyses.occupancy.launch_bounds import LaunchBounds, directives_of, launch_bounds_of
from ptx_lsp.analyses.registers.call_registers import call_registers, debug_call_registers
from ptx_lsp.analyses.registers.machine_kind import scratch_registers
from ptx_lsp.analyses.registers.register_files import registers_elsewhere
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.analyses.registers.scheduling.list_scheduling import (
    most_registers,
    most_registers_with_hoisting,
)
from ptx_lsp.analyses.registers.scheduling.scheduling_limit import (
    holds_parameters,
    register_cap,
    scheduling_limit,
)
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import (
    regions_with_loads_in_loops,
    straight_line_regions,
)
from ptx_lsp.analyses.registers.uniform_values import LOADS_PARAMETERS
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.isa.device_limits import LIMITS
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import shared_bytes
from ptx_lsp.model.instructions.shapes import shape_counts
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import Final

_STACK_POINTER: Final = 1
_SMALL_BLOCK: Final = 64
_MATRIX: Final = frozenset({"mma", "wmma", "wgmma"})

Spread = Literal["singles", "pairs", "matrix", "small block", "debug"]
"""The properties of a kernel that determine how many registers are used but never live at once (5)."""


class Calibration(NamedTuple):
    """The measured constants, all in registers."""

    debug: int = 4
    singles: int = 3
    pairs: int = 4
    matrix: int = 4
    small_block: int = 3

    def above(self, spread: Spread) -> int:
        """How many more registers are used than are live."""
        match spread:
            case "singles":
                return self.singles
            case "matrix":
                return self.matrix
            case "small block":
                return self.small_block
            case "pairs" | "debug":
                return self.pairs


CALIBRATED: Final = Calibration()


class SimulatedRegisters(NamedTuple):
    """Numbers of 32-bit registers per thread, and what they depend on."""

    target: Target
    bounds: LaunchBounds
    spread: Spread
    without_hoisting: int
    """The peak before loads are hoisted, without calls."""
    hoisting_limit: int
    wanted: int
    """The registers that are used if nothing caps them."""
    peak_live: int
    used: int


def simulated_registers(
    function: Function, target: Target | None = None, maxrregcount: int | None = None
) -> SimulatedRegisters | None:
    """The simulated registers of a kernel or function on `target`, else on its module's target; None if the
    limits of that target are unknown. `maxrregcount` is the option of ptxas.
    """
    target = target or function.module.target
    if target is None or target.number not in LIMITS:
        return None
    bounds = launch_bounds_of(target, directives_of(function), maxrregcount)
    cap = bounds.register_limit
    if _is_debug(function):
        limit = cap
        least = peak = _debug_peak(function)
        at_calls = debug_call_registers(function, target)
    else:
        elsewhere = registers_elsewhere(function, target)
        regions = straight_line_regions(function)
        without_hoisting = most_registers(regions, elsewhere)
        shared = shared_bytes(function) or 0
        if target.number >= LOADS_PARAMETERS and not holds_parameters(
            bounds, shared, without_hoisting + _STACK_POINTER
        ):
            regions = regions_with_loads_in_loops(function)
            without_hoisting = most_registers(regions, elsewhere)
        least = without_hoisting + _STACK_POINTER
        limit = scheduling_limit(bounds, shared, least) - _STACK_POINTER
        cap = register_cap(bounds, shared, least)
        peak = most_registers_with_hoisting(regions, limit, elsewhere, without_hoisting) + _STACK_POINTER
        at_calls = call_registers(function, target)
    kind = spread(function, target)
    used = max(peak + CALIBRATED.above(kind), at_calls.used)
    peak = max(peak, at_calls.live)
    return SimulatedRegisters(target, bounds, kind, least, limit, used, min(peak, cap), min(used, cap))


def _debug_peak(function: Function) -> int:
    """The registers that are live at once in a debug build, without calls (4)."""
    pressure = register_pressure(function).peak
    if not pressure:
        return _STACK_POINTER
    scratch = (scratch_registers(shape.spelling, False) for shape in shape_counts(function).counts)
    return pressure + CALIBRATED.debug + max(scratch, default=0)


def spread(function: Function, target: Target) -> Spread:
    """The properties that determine how far the registers of `function` spread (5)."""
    if _is_debug(function):
        return "debug"
    if any(shape.opcode in _MATRIX for shape in shape_counts(function).counts):
        return "matrix"
    if 0 < launch_bounds_of(target, directives_of(function)).threads_per_block <= _SMALL_BLOCK:
        return "small block"
    blocks = virtual_registers(function).blocks.values()
    return "pairs" if any(block.has_pair for block in blocks) else "singles"


def _is_debug(function: Function) -> bool:
    return any(name.text == "debug" for name in function.module.target_names)
