"""The rule `missing-volatile`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.memory_effects import Effect
from ptx_lsp.lint.block_effects import strongest
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_WORDS: Final[dict[Effect, str]] = {
    "act": "does more than compute its result", "write": "writes memory", "order": "orders memory accesses",
}  # fmt: skip


@block_rule("missing-volatile", code="W285")
def missing_volatile(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """A block of inline assembly with an effect that the compiler may remove, merge or move.

    ## What it does
    Reports blocks that have outputs, but neither `volatile` nor the clobber `memory`, and that do more than
    compute their outputs: they read or write memory, synchronise, or read a clock. Loads with `.nc`, and
    loads of constants and parameters, do not count.

    ## Why it matters
    The compiler assumes that the outputs depend on nothing but the inputs. It removes the block if they are
    not used, moves it out of loops and across stores, and removes stores that only the block reads.
    nvcc 13.5 does all of these.

    ## Example
    ```cuda
    __device__ unsigned reload(const unsigned *p) {
        unsigned result;
        asm("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(result) : "l"(p));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned reload(const unsigned *p) {
        unsigned result;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(result) : "l"(p));
        return result;
    }
    ```

    ## Fix safety
    The fix adds `volatile`, and the clobber `memory` if the block writes or orders memory. It is safe: both
    only restrict the compiler.
    """
    block = checked.block
    if block.is_volatile or block.clobbers_memory or not block.operands_known:
        return
    if (found := strongest(checked)) is None:
        return
    if found.effect == "read":
        message = (
            f"the compiler may move this `{found.spelling}` across stores, or out of a loop: the block is "
            "not volatile"
        )
    else:
        message = (
            f"`{found.spelling}` {_WORDS[found.effect]}, but the compiler may remove or move this block: it "
            "is not volatile"
        )
    edits = [block.volatile_edit] if block.volatile_edit is not None else []
    if edits and found.effect in ("write", "order") and block.memory_edit is not None:
        edits.append(block.memory_edit)
    fix = Fix("Make it volatile", tuple(edits), safe=True) if edits else None
    yield BlockFinding(found.span, message, fix=fix)
