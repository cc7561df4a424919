"""Asynchronous operations that a kernel starts and never waits for.

1. Data copied by `cp.async` is available after a `cp.async.wait_all`, or a `cp.async.wait_group` that counts
   a group closed by `cp.async.commit_group`; `cp.async.mbarrier.arrive` transfers the wait to an mbarrier.
2. A bulk operation with `.bulk_group` needs `cp.async.bulk.commit_group` and `cp.async.bulk.wait_group`. One
   that completes on an mbarrier needs a `mbarrier.test_wait` or `try_wait` somewhere in the kernel, since
   other warps, or other blocks of the cluster, may wait.
3. `wgmma.mma_async` needs a `wgmma.fence` before it, `wgmma.commit_group` and `wgmma.wait_group` after it.
4. A step is missing if no path leads to (or, for the fence, from) an instruction that provides it. A call
   provides every step. Only kernels are analysed: the caller of a function may provide it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from ptx_lsp.analyses.control_flow.cfg import Cfg, cfg
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import (
    FunctionInstructions,
    InstructionInfo,
    instructions,
)
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import Literal

OperationKind = Literal["copy", "bulk group", "bulk barrier", "wgmma"]
MissingStep = Literal["fence", "commit", "wait"]

_COPY_WAITS = ("cp.async.wait_all", "cp.async.mbarrier.arrive")
_BULK = ("cp.async.bulk.", "cp.reduce.async.bulk.")
_GROUPS: dict[OperationKind, tuple[str, str]] = {
    "copy": ("cp.async.commit_group", "cp.async.wait_group"),
    "bulk group": ("cp.async.bulk.commit_group", "cp.async.bulk.wait_group"),
    "wgmma": ("wgmma.commit_group", "wgmma.wait_group"),
}


class UnwaitedOperation(NamedTuple):
    """An instruction that starts an asynchronous operation, and the first step missing for its completion."""

    instruction: InstructionInfo
    kind: OperationKind
    missing: MissingStep


@fact
def unwaited_async(function: Function) -> tuple[UnwaitedOperation, ...]:
    """The unwaited operations of a kernel, in the order of the text; empty for other functions."""
    if not function.is_kernel:
        return ()
    graph = cfg(function)
    search = _Search(instructions(function), graph)
    found: list[UnwaitedOperation] = []
    for step in _asynchronous(function):
        kind = _operation_kind(step)
        if kind is not None and graph.block_of[step.number] in graph.reached:
            lacks = _missing_step(search, step, kind)
            if lacks is not None:
                found.append(UnwaitedOperation(step, kind, lacks))
    return tuple(found)


def _may_start(spelling: str) -> bool:
    return spelling.startswith(("wgmma.mma_async", "cp.async.", *_BULK))


_asynchronous = instructions_matching(_may_start)


def _operation_kind(step: InstructionInfo) -> OperationKind | None:
    spelling = step.spelling
    if spelling.startswith("wgmma.mma_async"):
        return "wgmma"
    if spelling.startswith(("cp.async.ca.", "cp.async.cg.")):
        return "copy"
    if spelling.startswith(_BULK):
        if step.has(".bulk_group"):
            return "bulk group"
        if ".mbarrier::complete_tx::bytes" in spelling:
            return "bulk barrier"
    return None


def _missing_step(search: _Search, step: InstructionInfo, kind: OperationKind) -> MissingStep | None:
    if kind == "bulk barrier":
        waits = ("mbarrier.test_wait", "mbarrier.try_wait")
        return None if search.has(waits) else "wait"
    if kind == "wgmma" and not search.precedes("wgmma.fence", step):
        return "fence"
    if kind == "copy" and any(search.follows(wait, step) for wait in _COPY_WAITS):
        return None
    commit, wait = _GROUPS[kind]
    if not search.follows(wait, step):
        return "wait"
    return None if search.follows(commit, step) else "commit"


class _Search:
    """Whether paths lead from one instruction to another with a given opcode text. A call matches any text.
    """

    def __init__(self, flow: FunctionInstructions, graph: Cfg) -> None:
        self.flow = flow
        self.graph = graph
        self.numbers: dict[str, list[int]] = {}
        """The instructions for each opcode text, in order."""
        self.after: dict[str, frozenset[int]] = {}
        self.before: dict[str, frozenset[int]] = {}

    def has(self, spellings: tuple[str, ...]) -> bool:
        return any(self.matching(one) for one in spellings)

    def follows(self, spelling: str, step: InstructionInfo) -> bool:
        """Whether a path leads from `step` to an instruction with this opcode text."""
        block = self.graph.blocks[self.graph.block_of[step.number]]
        if self.among(range(step.number + 1, block.end), spelling):
            return True
        if spelling not in self.after:
            self.after[spelling] = self.closure(spelling, (b.predecessors for b in self.graph.blocks))
        return any(target in self.after[spelling] for target in block.successors)

    def precedes(self, spelling: str, step: InstructionInfo) -> bool:
        """Whether a path leads to `step` from an instruction with this opcode text."""
        block = self.graph.blocks[self.graph.block_of[step.number]]
        if self.among(range(block.first, step.number), spelling):
            return True
        if spelling not in self.before:
            self.before[spelling] = self.closure(spelling, (b.successors for b in self.graph.blocks))
        return any(source in self.before[spelling] for source in block.predecessors)

    def closure(self, spelling: str, edges: Iterable[tuple[int, ...]]) -> frozenset[int]:
        """The blocks that contain an instruction with this opcode text, and all blocks that `edges` reach
        from them.
        """
        following = tuple(edges)
        open_blocks = [b.number for b in self.graph.blocks if self.among(b.instructions, spelling)]
        found = set(open_blocks)
        while open_blocks:
            for block in following[open_blocks.pop()]:
                if block not in found:
                    found.add(block)
                    open_blocks.append(block)
        return frozenset(found)

    def among(self, numbers: range, spelling: str) -> bool:
        found = self.matching(spelling)
        return bisect_left(found, numbers.start) < bisect_left(found, numbers.stop)

    def matching(self, spelling: str) -> list[int]:
        found = self.numbers.get(spelling)
        if found is None:
            found = self.numbers[spelling] = [
                step.number
                for step in self.flow.instructions
                if step.opcode == "call" or step.spelling.startswith(spelling)
            ]
        return found
