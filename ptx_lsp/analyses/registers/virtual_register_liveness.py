"""Liveness of virtual registers at the start of each block.

The counterpart of `liveness` for machine instructions. A virtual register that is read without a definition
on some path is live from the entry of the function on, and is counted there: so `nvdisasm -plr` does, for a
quarter of public kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.bitvector_dataflow import GenKill, LiveSets
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.facts import Previous, incremental_fact
from ptx_lsp.model.function import Function


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
    blocks = [
        GenKill(one, one.upward_exposed, one.defined) for one in virtual_registers(function).blocks.values()
    ]
    before = earlier.value.sets if earlier else None
    return VirtualRegisterLiveness(LiveSets(cfg(function).graph, blocks, frozenset(), before))
