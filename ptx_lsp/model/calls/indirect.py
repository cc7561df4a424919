"""Indirect calls with a known callee, and whether the prototype or list that they name describes it.

1. A register holds the address of a function if the body writes it only once, with a `mov` of that function's
   name. Every instruction counts as writing its first operand, which may overestimate the writes.
2. Other addresses are unknown: registers written more than once, addresses from memory or parameters.
3. A `.calltargets` list describes the functions that it names. A `.callprototype` describes functions with as
   many parameters and results, each of the same size and kind. ptxas checks neither against the address.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.argument_match import prototype_mismatch
from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import AliasName, FunctionName, Prototype, TargetTable, defined_name
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class IndirectCall(NamedTuple):
    """A call through an address, and the function that it calls. `described` is the prototype or list that it
    names, `address` the function's name in the `mov`.
    """

    call: Call
    described: Prototype | TargetTable
    callee: FunctionName
    address: nodes.Name


@fact
def indirect_calls(function: Function) -> tuple[IndirectCall, ...]:
    """The indirect calls of one function, in order."""
    through = [
        (call, described)
        for call in calls(function)
        if (described := description(function, call)) is not None
    ]
    if not through:
        return ()
    wanted = {call.target.text for call, _ in through}
    known = dict(_addresses(function, wanted))
    return tuple(
        IndirectCall(call, described, *known[call.target.text])
        for call, described in through
        if call.target.text in known
    )


def description(function: Function, call: Call) -> Prototype | TargetTable | None:
    """The prototype or list of functions that an indirect call names."""
    described = function.resolve(call.table) if call.table is not None else None
    if isinstance(described, TargetTable) and described.node.kind.text != ".calltargets":
        return None
    return described if isinstance(described, Prototype | TargetTable) else None


def undescribed(
    function: Function, described: Prototype | TargetTable, callee: nodes.Function
) -> str | None:
    """Why a prototype or list (3) does not describe `callee`; None if it does, or if that is unknown."""
    if isinstance(described, Prototype):
        return prototype_mismatch(callee, described.node)
    listed = [function.resolve(name) for name in described.node.names]
    names = {defined_name(symbol) for symbol in listed if isinstance(symbol, FunctionName | AliasName)}
    if len(listed) > len([symbol for symbol in listed if symbol is not None]) or callee.name is None:
        return None
    return None if callee.name.text in names else "it is not in the list"


def _addresses(
    function: Function, wanted: set[str]
) -> Iterator[tuple[str, tuple[FunctionName, nodes.Name]]]:
    writes: dict[str, list[nodes.Instruction]] = {name: [] for name in wanted}
    for instruction in function.body.instructions:
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
    """Whether this is a call whose first operand is the callee."""
    return instruction.opcode.text.startswith("call") and isinstance(
        instruction.operands[0], nodes.Name
    )
