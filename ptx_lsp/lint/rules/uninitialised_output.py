"""The rule `uninitialised-output`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.embedded.block import Operand
from ptx_lsp.lint.block_accesses import accesses
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix, Related
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.text import Edit


@block_rule("uninitialised-output", code="W282")
def uninitialised_output(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """An operand that the block reads before it writes it, but declares as an output only.

    ## What it does
    Reports the first read of an operand that is declared as an output (`"=r"`) and not written on any path
    to the read (a warning), or not on every path (information). Outputs that are not written on every path
    through the block are reported as hints.

    ## Why it matters
    The value of the variable does not reach the block: the register has an arbitrary value.

    ## Example
    ```cuda
    __device__ unsigned accumulate(unsigned sum, unsigned x) {
        asm("add.u32 %0, %0, %1;" : "=r"(sum) : "r"(x));
        return sum;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned accumulate(unsigned sum, unsigned x) {
        asm("add.u32 %0, %0, %1;" : "+r"(sum) : "r"(x));
        return sum;
    }
    ```

    ## Fix safety
    The fix declares the operand as read and written. It is unsafe: the variable must have a value before
    the block, and another operand may have been meant.
    """
    outputs = {one.name: one for one in checked.block.operands if one.access == "write" and one.type}
    if not outputs or (known := accesses(checked)) is None:
        return
    inside = set(known.numbers)
    for read in uninitialized_reads(checked.function):
        operand = outputs.get(known.flow.register(read.register).name)
        if operand is None:
            continue
        fix = _fix(operand)
        if read.instruction not in inside:
            if not read.on_all_paths:
                message = (
                    f"`{operand.name}` is not written on every path, but declared as an output only: "
                    "otherwise its value is undefined"
                )
                yield BlockFinding(operand.constraint_span, message, fix=fix, severity="hint")
            continue
        place = next(iter(known.mentions(operand, read.instruction)[::-1]), operand.constraint_span)
        related = (Related(operand.constraint_span, "declared as an output only here"),)
        if read.on_all_paths:
            message = f"`{operand.name}` is read before it is written, but declared as an output only"
            yield BlockFinding(place, message, related, fix)
        else:
            message = (
                f"`{operand.name}` may be read before it is written, but is declared as an output only: not "
                "every path writes it"
            )
            yield BlockFinding(place, message, related, fix, severity="info")


def _fix(operand: Operand) -> Fix | None:
    """The fix in C. LLVM has no `+`."""
    is_of_c = operand.name.startswith("%") and operand.constraint.startswith("=")
    at = operand.constraint_at(0) if is_of_c else None
    if at is None:
        return None
    wanted = operand.constraint.replace("=", "+", 1)
    return Fix(f"Declare it as `{wanted}`", (Edit(at, at + 1, b"+"),), safe=False)
