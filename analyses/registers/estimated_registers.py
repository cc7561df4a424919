"""How many registers ptxas will use for a kernel: an estimate, with an interval.

1. A simulation of ptxas's code generation (`simulated_registers`) gives the live registers and those used.
2. `low` and `high` hold nine of ten kernels (docs/accuracy.md).
3. The launch bounds cap all of it, or else ptxas's option `-maxrregcount` does (`launch_bounds`).
"""

from __future__ import annotations

from typing import Final

from analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple

_LEAST_USED: Final = 2
_LOW: Final = 0.76
_HIGH: Final = 1.36


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
    used, cap = found.used, found.bounds.register_limit
    low = min(max(_LEAST_USED, int(used * _LOW)), used)
    return RegisterEstimate(found.peak_live, used, low, min(round(used * _HIGH), cap))
