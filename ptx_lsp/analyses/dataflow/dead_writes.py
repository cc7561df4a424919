"""Instructions whose results are never read.

1. An instruction is dead if it only writes registers and none of them is live after it. Instructions whose
   only readers are dead themselves do not count.
2. Only reachable instructions count.
"""

from __future__ import annotations

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.ambiguous_registers import ambiguous_registers
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.instructions.uses_and_defs import (
    FunctionInstructions,
    InstructionInfo,
    instructions,
)
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function


@fact
def dead_writes(function: Function) -> tuple[InstructionInfo, ...]:
    """The dead instructions of `function`, in text order."""
    numbers: list[int] = []
    graph = cfg(function)
    summaries = block_summaries(function)
    always: frozenset[int] | None = None
    """The registers that are live after each block that writes them."""
    for block in graph.reverse_postorder:
        summary = summaries[block]
        if summary.dead:
            first = graph.blocks[block].first
            numbers += [first + index for index in summary.dead]
        if summary.undecided:
            lives = ambiguous_registers(function)
            if always is None:
                always = lives.crossing.difference(lives.registers)
            for index, registers in summary.undecided:
                if always.isdisjoint(registers) and not any(
                    lives.is_live_out(one, block) for one in registers
                ):
                    numbers.append(graph.blocks[block].first + index)
    if not numbers:
        return ()
    flow = instructions(function)
    return tuple([flow.info(number) for number in sorted(numbers)])


def registers_read(flow: FunctionInstructions) -> set[int]:
    """The registers that some instruction reads, guards included."""
    found = set(flow.guards)
    found.update(*flow.uses)
    return found
