"""The rule `not-an-array`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import argument
from ptx_lsp.model.instructions.features import ELEMENT
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

_WAKE = InstructionWake(features=ELEMENT)


@instruction_rule("not-an-array", code="E104", wake=_WAKE)
def not_an_array(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """An index after a name that is not an array, most often because a comma is missing.

    ## What it does
    Reports `name[index]` if the name is a register, a variable without dimensions or anything else that
    is not an array, and an index that is not an integer.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        .shared .b32 buffer;
        ld.shared.b32 %r0 [buffer];
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
        .reg .b32 %r<2>;
        .shared .b32 buffer;
        ld.shared.b32 %r0, [buffer];
        ret;
    }
    ```

    ## Fix safety
    After a register, the fix inserts the comma, which is the only valid reading.
    """
    for operand in instruction.operands:
        if not isinstance(operand, nodes.Element):
            continue
        symbol = function.resolve(operand.array)
        yield from _index(function, operand)
        name = operand.array
        if isinstance(symbol, Register):
            behind = function.place(nodes.Missing(name.end, name.end))
            remedy = FixProposal("Insert `,`", (Replacement(behind, ","),))
            message = f"`{name.text}` is a register, not an array; is a `,` missing after it?"
            yield Finding(function.place(name), message, fix=remedy)
        elif isinstance(symbol, Variable) and not symbol.declarator.dimensions:
            message = f"`{name.text}` is not an array"
            related = ((symbol.place, f"`{name.text}` is declared without dimensions"),)
            yield Finding(function.place(name), message, related)
        elif symbol is not None and not isinstance(symbol, Variable) and name.text != "WARP_SZ":
            yield Finding(function.place(name), f"`{name.text}` is a {symbol.kind}, not an array")


def _index(function: Function, element: nodes.Element) -> Iterator[Finding]:
    """A name as an index, or before its `+`: it is an integer, or the address of a variable."""
    index = element.indices[0]
    while isinstance(index, nodes.Binary):
        index = index.left
    if not isinstance(index, nodes.Name):
        return
    given = argument(function, index)
    type = TYPES.get(given.type.partition("|")[0])
    is_register = given.kind in ("register", "special") and type is not None
    if given.kind == "function" or given.parts or (is_register and not _is_integer(type)):
        yield Finding(function.place(index), f"an index must be an integer, not `{index.text}`")


def _is_integer(type: Type | None) -> bool:
    return type is not None and (type.is_integer or type.kind is Kind.BITS)
