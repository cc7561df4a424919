"""The rule `branch-index`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.symbols import TargetTable
from ptx_lsp.syntax import nodes

_WAKE = InstructionWake(opcodes=("brx",))


@instruction_rule("branch-index", code="W220", wake=_WAKE)
def branch_index(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A constant `brx.idx` index that is out of range for its list of labels.

    ## What it does
    Compares a constant index of `brx.idx` with the number of labels in its `.branchtargets`.

    ## Why it matters
    The behaviour of the branch is undefined. ptxas does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
    targets: .branchtargets first, second;
        brx.idx 2, targets;
    first:
        ret;
    second:
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
    targets: .branchtargets first, second;
        brx.idx 1, targets;
    first:
        ret;
    second:
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended label is unknown.
    """
    if not instruction.opcode.text.startswith("brx.idx"):
        return
    match instruction.operands:
        case (index, nodes.Name() as name):
            table, number = function.resolve(name), literal(index)
        case _:
            return
    if number is None or not isinstance(table, TargetTable) or table.node.kind.text != ".branchtargets":
        return
    count = len(table.node.names)
    if 0 <= number < count:
        return
    labels = "1 label" if count == 1 else f"{count} labels"
    yield Finding(
        function.place(index),
        f"index {number} is out of range: `{table.name}` has {labels}, counted from 0",
        ((table.place, "the list of targets"),),
    )
