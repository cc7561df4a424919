"""The rule `constraint-type`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_REGISTERS: Final = {
    ".b16": "a 16-bit integer", ".b32": "a 32-bit integer", ".b64": "a 64-bit integer or a pointer",
    ".b128": "a 128-bit integer", ".f32": "a `float`", ".f64": "a `double`",
}  # fmt: skip


@block_rule("constraint-type", code="E194")
def constraint_type(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """An operand whose type does not fit its constraint.

    ## What it does
    Reports operands of inline assembly whose type is evident from the expression (a literal, a cast,
    `sizeof`, an address, an intrinsic) and has another size or kind than the constraint. The types of
    variables are not checked.

    ## Why it matters
    nvcc rejects it, in templates only when they are instantiated. It does not convert operands: `"r"` takes
    neither a `float` nor a `short`, and nothing takes a `char` or a `bool`.

    ## Example
    ```cuda
    __device__ float twice(float x) {
        float result;
        asm("mul.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(2.0));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ float twice(float x) {
        float result;
        asm("mul.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(2.0f));
        return result;
    }
    ```

    ## Fix safety
    There is no fix: the expression or the constraint may be wrong.
    """
    for operand in checked.block.operands:
        given, wanted = operand.host_type, _REGISTERS.get(operand.type or "")
        if given is None or wanted is None or given.register == operand.type:
            continue
        message = (
            f"`{operand.expression}` is a `{given.name}`, but the constraint `{operand.constraint}` takes "
            f"{wanted}"
        )
        yield BlockFinding(operand.expression_span, message.replace("`pointer`", "pointer"))
