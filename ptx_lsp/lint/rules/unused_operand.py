"""The rule `unused-operand`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded.block import Operand
from ptx_lsp.lint.block_accesses import block_instructions
from ptx_lsp.lint.block_references import names
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.rule import block_rule


@block_rule("unused-operand", code="W280")
def unused_operand(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """An operand that the template never names.

    ## What it does
    Reports operands of a block of inline assembly that do not occur in its template. Operands that are tied
    to others do not count, and neither do blocks without instructions, which only keep values alive, and
    operands that are read and written (`"+r"`), which order the block after earlier uses of the variable.
    In Triton, only arguments count.

    ## Why it matters
    The block ignores the value of an input that it does not name, and an output that it does not name has
    an arbitrary value. Often another operand is named twice instead. Compilers do not report it.

    ## Example
    ```cuda
    __device__ float largest(float a, float b, float c) {
        float result;
        asm("{\\n\\t.reg .f32 t;\\n\\t"
            "max.f32 t, %1, %2;\\n\\t"
            "max.f32 %0, t, %2;\\n\\t}"
            : "=f"(result) : "f"(a), "f"(b), "f"(c));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ float largest(float a, float b, float c) {
        float result;
        asm("{\\n\\t.reg .f32 t;\\n\\t"
            "max.f32 t, %1, %2;\\n\\t"
            "max.f32 %0, t, %3;\\n\\t}"
            : "=f"(result) : "f"(a), "f"(b), "f"(c));
        return result;
    }
    ```

    ## Fix safety
    There is no fix: the operand may be needless, or the template may be wrong.
    """
    block = checked.block
    if block.text.holes or not block.operands_known or not block_instructions(checked):
        return
    tied = {operand.tied_to for operand in block.operands}
    for operand in block.operands:
        if operand.tied_to is not None or operand.name in tied or operand.access == "both":
            continue
        if block.host == "triton" and not _is_meant(operand):
            continue
        if not names(block, operand):
            effect = "its value is undefined" if operand.access == "write" else "its value is ignored"
            shown = f" (`{operand.expression}`)" if operand.expression else ""
            message = f"`{operand.name}`{shown} is never named by the template: {effect}"
            yield BlockFinding(operand.constraint_span, message)


def _is_meant(operand: Operand) -> bool:
    """Whether an operand is one of the arguments in Triton, which needs an output in any case, and packs
    several elements of an argument.
    """
    return operand.access == "read" and bool(operand.expression)

