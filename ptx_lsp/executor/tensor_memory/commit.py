"""`tcgen05.commit`"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools, Program
from ptx_lsp.executor.asynchronous.cluster import peers
from ptx_lsp.executor.asynchronous.pending import pending
from ptx_lsp.executor.instructions.threads import by_name, pointer, shared_offsets, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory.in_flight import InFlight
from ptx_lsp.executor.tensor_memory.operands import Inputs, line_of
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Commit:
    """`tcgen05.commit`: signals an mbarrier, or with a mask those at the same place in several blocks."""

    spaces: Spaces
    barrier: tuple[Space, Program]
    inputs: Inputs
    line: int
    text: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if not row.count:
            return
        space, program = self.barrier
        offsets = shared_offsets(self.spaces, row, row.compute(program)[0], space, 8, "update")
        lanes = row.lanes
        name = next((one for one in ("ctaMask", "wideMask") if one in self.inputs), "")
        if name:
            masks = self.inputs.read(row, name)[0].astype(np.int64)
            beyond = masks >> wave.launch.cluster_blocks != 0
            if beyond.any():
                raise row.error(
                    f"the mask names blocks beyond the cluster, of {wave.launch.cluster_blocks}",
                    "tensor-memory", beyond,
                )
            which, offsets = peers(row, offsets, masks)
            lanes = lanes[which]
        arrivals = _Arrivals(self, wave, lanes, offsets >> 3)
        self.spaces.began(wave, arrivals)
        InFlight.of(wave).operations.commit(lanes, arrivals, offsets >> 3)


class _Arrivals:
    """The arrivals that threads have announced."""

    def __init__(self, action: Commit, wave: Wave, lanes: Numbers, barriers: Numbers) -> None:
        self.line, self.text = action.line, action.text
        self._spaces, self._wave = action.spaces, wave
        self._lanes, self._barriers = lanes, barriers

    def waited(self, chosen: Bools) -> None:
        self._spaces.completed(self._wave, self, self._lanes[chosen], self._barriers[chosen])

    def land(self, chosen: Bools) -> None:
        at, lanes = self._barriers[chosen], self._lanes[chosen]
        try:
            once = np.ones(at.shape, np.int64)
            pending(self._wave).barriers.arrive(at, once, None, drop=False, complete=True)
        except ExecutionError as error:
            here = np.zeros(self._wave.shape, np.bool_)
            here.reshape(-1)[lanes] = True
            text = f"{error.args[0]} in `{self.text}`"
            raise ExecutionError(text, error.kind, self.line, self._wave.thread_ids(here)) from None


def commit(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Commit:
    """The action of `tcgen05.commit`; with `.sync_restrict`, too, it tracks whole operations."""
    modifiers = match.candidate.choices.modifiers
    space = ".shared" if ".shared::cluster" in modifiers else ""
    barrier = pointer(by_name(node, match)["mbar"], space, operands)
    return Commit(
        spaces, barrier, Inputs.of(node, match, operands), line_of(node, operands), node.opcode.text
    )
