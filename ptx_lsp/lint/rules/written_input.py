"""The rule `written-input`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.block_accesses import accesses
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Related
from ptx_lsp.lint.rule import block_rule


@block_rule("written-input", code="W281")
def written_input(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """An operand that the block writes, but declares as an input.

    ## What it does
    Reports instructions in a block of inline assembly that write a register of an input operand.

    ## Why it matters
    The compiler assumes that the register keeps its value, and uses it for the variable after the block, or
    for other variables with the same value: they change silently. nvcc does not report it.

    ## Example
    ```cuda
    __device__ unsigned next(unsigned x) {
        asm volatile("add.u32 %0, %0, 1;" : : "r"(x));
        return x;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned next(unsigned x) {
        asm volatile("add.u32 %0, %0, 1;" : "+r"(x));
        return x;
    }
    ```

    ## Fix safety
    There is no fix: as an output, the operand has another number.
    """
    inputs = [one for one in checked.block.operands if one.access == "read" and one.type is not None]
    if not inputs or (known := accesses(checked)) is None:
        return
    outputs = {one.name for one in checked.block.operands if one.access != "read"}
    for operand in inputs:
        if operand.tied_to in outputs:
            continue
        for number in known.writes(operand)[:1]:
            place = next(iter(known.mentions(operand, number)), operand.constraint_span)
            message = (
                f"`{operand.name}` is written, but declared as an input: the compiler assumes that it keeps "
                "its value"
            )
            related = (Related(operand.constraint_span, "declared as an input here"),)
            yield BlockFinding(place, message, related)
