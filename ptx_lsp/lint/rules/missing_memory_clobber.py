"""The rule `missing-memory-clobber`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.block_effects import strongest
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix
from ptx_lsp.lint.rule import block_rule


@block_rule("missing-memory-clobber", code="W284")
def missing_memory_clobber(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """A block of inline assembly that orders memory accesses without the clobber `memory`.

    ## What it does
    Reports blocks without the clobber `memory` that order memory accesses: fences, barriers, `mbarrier`
    arrivals and waits, waits for asynchronous copies, and accesses with acquire or release semantics.
    Blocks that only write memory are not reported. In Triton, a block that is not pure clobbers memory.

    ## Why it matters
    Without the clobber, a compiler may move loads and stores across the block, or keep values of memory in
    registers; `volatile` only orders a block among volatile ones. nvcc 13.5 treats volatile blocks as if
    they clobbered memory, but the manual requires the clobber.

    ## Example
    ```cuda
    __device__ void wait_for_copies() {
        asm volatile("cp.async.wait_all;");
    }
    ```

    ## Use instead
    ```cuda
    __device__ void wait_for_copies() {
        asm volatile("cp.async.wait_all;" ::: "memory");
    }
    ```

    ## Fix safety
    The fix adds the clobber. It is safe: it only restricts the compiler.
    """
    block = checked.block
    if block.host == "triton":
        return
    if block.clobbers_memory or not block.is_volatile or not block.operands_known:
        return
    found = strongest(checked)
    if found is None or found.effect != "order":
        return
    fix = Fix("Add the clobber", (block.memory_edit,), safe=True) if block.memory_edit else None
    message = (
        f"`{found.spelling}` orders memory accesses, but the compiler may move others across this block: "
        "it lacks the clobber `memory`"
    )
    yield BlockFinding(found.span, message, fix=fix)
