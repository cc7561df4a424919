"""`wgmma.mma_async` in divergent code whose `wgmma.fence` is outside that code.

1. An operation is in divergent code if a divergent branch decides whether it is reached, or if its guard is
   divergent.
2. ptxas requires the fence of the operation in the same divergent code. Without a fence between the branch
   and the operation, it serialises every `wgmma` (C7519).
3. The fence is searched backwards, in the blocks that dominate the operation.

Source: ptxas 13.5 on generated kernels (`tests/oracle/wgmma.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import Dominance, dominance
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import Uniformity, uniformity
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple

_FENCE = "wgmma.fence"
_mmas = instructions_matching(lambda spelling: spelling.startswith("wgmma.mma_async"))


class Unfenced(NamedTuple):
    """`mma` has no fence after `branch`, the nearest divergent branch before it. If both are the same
    instruction, its own guard is divergent.
    """

    mma: InstructionInfo
    branch: InstructionInfo


@fact
def unfenced_in_divergence(function: Function) -> tuple[Unfenced, ...]:
    """The unfenced operations of a function, in text order."""
    found = _mmas(function)
    return tuple(_search(function, found)) if found else ()


def _search(function: Function, mmas: list[InstructionInfo]) -> Iterator[Unfenced]:
    flow, graph = instructions(function).instructions, cfg(function)
    paths, levels = dominance(function), uniformity(function)
    for mma in mmas:
        block = graph.block_of[mma.number]
        if block not in graph.reached:
            continue
        if levels.guard_level(mma.number) is UniformityLevel.DIVERGENT:
            yield Unfenced(mma, mma)
            continue
        if _has_fence(flow, range(graph.blocks[block].first, mma.number)):
            continue
        above = _divergent_above(function, paths, levels, block)
        if above is not None:
            yield Unfenced(mma, flow[above])


def _divergent_above(
    function: Function, paths: Dominance, levels: Uniformity, block: int
) -> int | None:
    """The instruction of the nearest divergent branch that dominates `block`, unless a fence is nearer."""
    flow, graph = instructions(function).instructions, cfg(function)
    above = paths.immediate_dominators[block]
    while above >= 0:
        one = graph.blocks[above]
        decides = one.is_branching and not paths.postdominates(block, above)
        if decides and levels.branches[above] is UniformityLevel.DIVERGENT:
            return one.end - 1
        if _has_fence(flow, one.instructions):
            return None
        above = paths.immediate_dominators[above]
    return None


def _has_fence(flow: tuple[InstructionInfo, ...], numbers: range) -> bool:
    return any(flow[number].spelling.startswith(_FENCE) for number in numbers)
