"""Summaries of basic blocks: the sets of registers that dataflow analyses start from, and dead writes."""

from __future__ import annotations

from ptx_lsp.analyses._flow import BlockSummary, block_summary
from ptx_lsp.analyses.control_flow.block_identity import block_fact
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


def reads_and_writes_alike(one: BlockSummary, other: BlockSummary) -> bool:
    """Whether data flow through both blocks is the same."""
    return (
        one.exposed == other.exposed
        and one.defined == other.defined
        and one.killed == other.killed
        and one.partially_defined == other.partially_defined
    )


_NOTHING: Final = block_summary([], [], [], [], [], 0, 0)


@block_fact
def block_summaries(flow: FunctionInstructions, first: int, end: int) -> BlockSummary:
    """The summary of each block, computed from its last instruction to its first."""
    if first == end:
        return _NOTHING
    return block_summary(flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, first, end)
