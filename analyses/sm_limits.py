"""The few limits of a multiprocessor (SM) that the rules on launch bounds ask for.

Source: what ptxas 12.9 and 13.5 refuse for each target (docs/ptxas.md, section 4.4); the limits of one
block are those of CUDA's "Technical Specifications per Compute Capability".
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ptx_lsp.isa.target import Target

WARP: Final = 32
MAX_THREADS_PER_BLOCK: Final = 1024
MAX_BLOCK_DIMENSIONS: Final = (1024, 1024, 64)
MAX_REGISTERS_PER_THREAD: Final = 255
MAX_CLUSTER_SIZE: Final = 16


class SmLimits(NamedTuple):
    """What the SM of a target holds, and how many registers one block can have."""

    threads_per_sm: int
    blocks_per_sm: int
    registers_per_block: int
    least_registers: int
    """The fewest registers of a thread that `.maxnreg` can make ptxas keep to."""


def sm_limits(target: Target | None) -> SmLimits | None:
    """The limits of `target`; None where they are not known (before sm_50)."""
    return _LIMITS.get(target.number) if target is not None else None


_K: Final = 1024
_LIMITS: Final = {
    **dict.fromkeys((50, 52, 60, 61), SmLimits(2048, 32, 64 * _K, 16)),
    **dict.fromkeys((53, 62), SmLimits(2048, 32, 32 * _K, 16)),
    **dict.fromkeys((70, 72, 80, 82, 90, 100, 103), SmLimits(2048, 32, 64 * _K, 24)),
    **dict.fromkeys((86, 87, 88), SmLimits(1536, 16, 64 * _K, 24)),
    **dict.fromkeys((89, 101, 110, 120, 121), SmLimits(1536, 24, 64 * _K, 24)),
    **dict.fromkeys((75, 107), SmLimits(1024, 16, 64 * _K, 24)),
}
