"""Liveness of virtual registers at the start of each block.

The counterpart of `liveness` for machine instructions. A virtual register that is read without a definition
on some path is live from the entry of the function on, and is counted there: so `nvdisasm -plr` does, for a
quarter of public kernels.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.bitvector_dataflow import GenKill, LiveSets
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final

    from ptx_lsp.analyses._flow import MachineBlock

_EXPOSED: Final[Callable[[MachineBlock], tuple[int, ...]]] = attrgetter("upward_exposed")
_DEFINED: Final[Callable[[MachineBlock], tuple[int, ...]]] = attrgetter("defined")


class VirtualRegisterLiveness:
    """The virtual registers that are live at the starts of blocks."""

    def __init__(self, sets: LiveSets) -> None:
        self.sets = sets

    def live_in_any(self, blocks: Iterable[int]) -> frozenset[int]:
        """The virtual registers live at the start of at least one of these blocks, usually the same object
        for the same set.
        """
        return self.sets.members(self.bits_of_any(blocks))

    def bits_of_any(self, blocks: Iterable[int]) -> int:
        """These virtual registers as a bit set of `sets`."""
        live_in = self.sets.live_in
        found = 0
        for block in blocks:
            found = found | live_in[block] if found else live_in[block]
        return found


@incremental_fact
def virtual_register_liveness(
    function: Function, earlier: Previous[VirtualRegisterLiveness] | None
) -> VirtualRegisterLiveness:
    """The virtual registers of `function` that are live at the starts of its blocks."""
    blocks = list(virtual_registers(function).blocks.values())
    sets = GenKill(blocks, list(map(_EXPOSED, blocks)), list(map(_DEFINED, blocks)))
    before = earlier.value.sets if earlier else None
    return VirtualRegisterLiveness(LiveSets(cfg(function).graph, sets, frozenset(), before))
