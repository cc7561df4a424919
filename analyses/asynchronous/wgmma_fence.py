"""`wgmma.mma_async` in divergent code whose `wgmma.fence` stands outside of it.

1. An operation is in divergent code where a divergent branch decides whether it is reached, or where its
   guard is divergent.
2. ptxas wants the fence of the operation in the same divergent code: without a fence between the branch and
   the operation it would have to insert one there, and serialises every `wgmma` instead (C7519).
3. The fence is looked for upwards, in the blocks that dominate the operation.

Source: ptxas 13.5 on generated kernels (`tests/oracle/wgmma.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from analyses.control_flow.cfg import cfg
from analyses.control_flow.dominance import Dominance, dominance
from analyses.divergence.divergence_sources import UniformityLevel
from analyses.divergence.uniformity import Uniformity, uniformity
from analyses.instructions.opcode_index import instructions_matching
from analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function

_FENCE = "wgmma.fence"
_mmas = instructions_matching(lambda spelling: spelling.startswith("wgmma.mma_async"))


class Unfenced(NamedTuple):
    """`mma` has no fence behind `branch`, the divergent branch above it; where the two are the same step, its
    own guard is divergent.
    """

    mma: InstructionInfo
    branch: InstructionInfo


@fact
def unfenced_in_divergence(function: Function) -> tuple[Unfenced, ...]:
    """Those of a function, in the order of the text."""
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
    """The step of the nearest divergent branch above `block`, unless a fence stands nearer."""
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
