"""The rule `immediate-address`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import evaluated
from ptx_lsp.model.instructions.features import ADDRESS, PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes


def _may_be_constant(shape: Shape) -> bool:
    """Whether an address may have no register or variable."""
    return shape.features & PREDEFINED != 0 or any(
        one.kind == "address" and len(one.parts) == 1 and one.parts[0].kind in _NOT_NAMES
        for one in shape.arguments
    )


def _is_elsewhere(spelling: str) -> bool:
    return ".local" not in spelling


_NOT_NAMES = frozenset({"integer", "float", "single", "unknown"})
_WAKE = InstructionWake(features=ADDRESS, spelled=_is_elsewhere, where=_may_be_constant)


@instruction_rule("immediate-address", code="E172", wake=_WAKE)
def immediate_address(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A constant address in a state space other than `.local`.

    ## What it does
    Reports addresses such as `[16]`, without a register or variable, in instructions that do not access
    `.local`.

    ## Why it matters
    ptxas rejects them, although the manual allows absolute addresses in any state space.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r;
        mov.b32 %r, 1;
        st.shared.b32 [16], %r;
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
        .shared .b32 cells[8];
        .reg .b32 %r;
        mov.b32 %r, 1;
        st.shared.b32 [cells+16], %r;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended variable is unknown.
    """
    for operand in instruction.operands:
        if isinstance(operand, nodes.Address) and len(operand.items) == 1 and _is_constant(operand):
            place, related = operand_or_line(function, instruction, operand)
            message = (
                "a constant address is only allowed in `.local` memory; use a register or variable"
            )
            yield Finding(place, message, related)


def _is_constant(address: nodes.Address) -> bool:
    value = address.items[0]
    if isinstance(value, nodes.Name):
        return value.text == "WARP_SZ"
    if evaluated(value) is not None:
        return True
    while isinstance(value, nodes.Unary | nodes.Cast):
        value = value.value
    is_number = isinstance(value, nodes.Number | nodes.Binary)
    return is_number and not any(True for _ in names_in(value))
