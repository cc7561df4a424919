"""Indirect calls of which it is certain what they call.

1. A register holds the address of a function where the body writes it in one place only, with a `mov` of
   that function's name. An instruction writes whatever its first operand names, which may be too much.
2. All else is not known: registers written more than once, addresses from memory or parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptx_lsp.facts import fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import FunctionName, Prototype
from ptx_lsp.syntax import nodes


class IndirectCall(NamedTuple):
    """A call through a prototype, and the function that it calls; `address` is its name in the `mov`."""

    call: Call
    prototype: Prototype
    callee: FunctionName
    address: nodes.Name


@fact
def indirect_calls(function: Function) -> tuple[IndirectCall, ...]:
    """Those of one function, in order."""
    through = [
        (call, callee.symbol)
        for call in calls(function)
        if call.table is not None
        for callee in call.callees
        if isinstance(callee.symbol, Prototype)
    ]
    if not through:
        return ()
    wanted = {call.target.text for call, _ in through}
    known = dict(_addresses(function, wanted))
    return tuple(
        IndirectCall(call, prototype, *known[call.target.text])
        for call, prototype in through
        if call.target.text in known
    )


def _addresses(
    function: Function, wanted: set[str]
) -> Iterator[tuple[str, tuple[FunctionName, nodes.Name]]]:
    writes: dict[str, list[nodes.Instruction]] = {name: [] for name in wanted}
    for instruction, _ in function.body.instructions:
        operands = instruction.operands
        if not operands or _only_reads(instruction):
            continue
        for name in names_in(operands[0]):
            if name.text in wanted:
                writes[name.text].append(instruction)
    for register, written in writes.items():
        match written:
            case [nodes.Instruction(guard=None, operands=(nodes.Name(), nodes.Name() as name)) as only]:
                symbol = function.resolve(name)
                if only.opcode.text.startswith("mov.") and isinstance(symbol, FunctionName):
                    yield register, (symbol, name)
            case _:
                pass


def _only_reads(instruction: nodes.Instruction) -> bool:
    """A call whose first operand is what it calls."""
    return instruction.opcode.text.startswith("call") and isinstance(
        instruction.operands[0], nodes.Name
    )
