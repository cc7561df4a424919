"""The rule `invalid-constant`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import faults
from ptx_lsp.model.instructions.features import (
    ADDRESS,
    BINARY,
    CAST,
    CONDITIONAL,
    ELEMENT,
    EXACT_FLOAT,
    FLOAT,
    UNARY,
)
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes


def _may_be_invalid(shape: Shape) -> bool:
    """`0f3F800000` is valid except in an expression and as an address."""
    return shape.features & (_INVALID | ADDRESS) != 0


_INVALID = FLOAT | BINARY | UNARY | CAST | CONDITIONAL | ELEMENT
_WAKE = InstructionWake(features=_INVALID | EXACT_FLOAT, where=_may_be_invalid)


@instruction_rule("invalid-constant", code="E188", wake=_WAKE)
def invalid_constant(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A constant expression without a value.

    ## What it does
    Reports divisions by zero, casts to types other than `.s64` and `.u64`, floats where a whole number
    is required (in an address or index, and as an operand of `?:`, `!`, `~`, `%`, shifts and logic),
    operators between an integer and a float, and operators on `0f3F800000`. `invalid-initializer`
    reports initial values.

    ## Why it matters
    ptxas rejects them, and stops at a division by zero.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r;
        mov.b32 %r, (.u32) 5;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r;
        mov.b32 %r, (.u64) 5;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended expression is unknown.
    """
    for operand in instruction.operands:
        if _is_plain(operand):
            continue
        for fault in faults(operand):
            place, related = operand_or_line(function, instruction, fault.part)
            yield Finding(place, fault.message, related)
            return


def _is_plain(operand: nodes.Operand) -> bool:
    """Whether there is no expression in an operand, as in most; only a shortcut."""
    if isinstance(operand, nodes.Address) and len(operand.items) == 1:
        operand = operand.items[0]
        if isinstance(operand, nodes.Number):
            return operand.kind == "integer"
        if isinstance(operand, nodes.Binary):
            right = operand.right
            is_offset = isinstance(right, nodes.Number) and right.kind == "integer"
            return is_offset and operand.operator == "+" and isinstance(operand.left, nodes.Name)
    return isinstance(operand, nodes.Name) or (isinstance(operand, nodes.Number) and operand.kind != "float")
