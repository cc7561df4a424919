"""How many registers ptxas will use for a kernel: an estimate, with an interval.

1. A simulation of ptxas's code generation (`simulated_registers`) gives the registers that are used, and the
   most that are live at once.
2. A learned correction (`correction`) moves both. `low` and `high` are meant to hold nine of ten kernels of
   programs that it was not trained on; docs/accuracy.md says how many they do hold.
3. Debug builds are not corrected, nor are functions other than kernels.
4. From sm_80 on, ptxas reports at least 8 registers, or 4 for a kernel that is empty. With few exceptions, it
   reports even numbers up to 24.
5. The launch bounds cap all of it, or else ptxas's option `-maxrregcount` does (`launch_bounds`). A kernel
   that is certain to need more uses all that it may.
6. `low` <= `estimate` <= `high`, and fewer registers are live than are used, unless there is a cap.
"""

from __future__ import annotations

from ptx_lsp.analyses.registers.correction import Factors, corrected
from ptx_lsp.analyses.registers.features import register_features
from ptx_lsp.analyses.registers.simulated_registers import SimulatedRegisters, simulated_registers
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_LEAST_USED: Final = 4
_CERTAIN: Final = 0.9
"""Of the simulated registers, few kernels that have a cap below this use less than the cap."""
_EVEN: Final = 80
"""The first target with sentence 4."""
_EMPTY: Final = 5
_EVEN_LEAST: Final = 8
_EVEN_MOST: Final = 24
UNCORRECTED: Final = Factors(1, 1, 0.76, 1.36)


class RegisterEstimate(NamedTuple):
    """Numbers of 32-bit registers per thread."""

    peak_live: int
    estimate: int
    low: int
    high: int


def estimated_registers(
    function: Function, target: Target | None = None, maxrregcount: int | None = None
) -> RegisterEstimate | None:
    """The register estimate of a kernel or function on `target`, else on its module's target; None if the
    limits of that target are unknown. `maxrregcount` is the option of ptxas.
    """
    found = simulated_registers(function, target, maxrregcount)
    if found is None:
        return None
    if not function.is_kernel or found.spread == "debug":
        return with_factors(found, UNCORRECTED)
    return with_factors(found, corrected(register_features(function, found)))


def with_factors(found: SimulatedRegisters, by: Factors) -> RegisterEstimate:
    """The estimate for the simulated registers with these factors (4 to 6)."""
    cap, is_even = found.bounds.register_limit, found.target.number >= _EVEN
    used = min(_reported(found.used * by.used, is_even), cap)
    if int(found.wanted * _CERTAIN) >= cap:
        used = cap
    low = min(_reported(found.used * by.low, is_even), used)
    high = max(_reported(found.used * by.high, is_even), used)
    return RegisterEstimate(min(round(found.peak_live * by.live), used), used, low, min(high, cap))


def _reported(registers: float, is_even: bool) -> int:
    """The nearest number that ptxas reports (4)."""
    if not is_even or not _EMPTY < registers <= _EVEN_MOST:
        return max(_LEAST_USED, round(registers))
    return max(_EVEN_LEAST, 2 * round(registers / 2))
