"""The rule `constant-overflow`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import OVERFLOW
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import WORD, constant, integer
from ptx_lsp.syntax.walk import children

_WAKE = InstructionWake(features=OVERFLOW)


@instruction_rule("constant-overflow", code="E173", wake=_WAKE)
def constant_overflow(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """An integer that does not fit in 64 bits.

    ## What it does
    Reports integers in instructions that do not fit in 64 bits: as an error if ptxas reports an
    overflow, and as a warning otherwise.

    ## Why it matters
    ptxas truncates `18446744073709551619` to its lowest 64 bits, which are 3, without a warning. It only
    reports an overflow if the value before the last digit has its 64th bit set.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b64 %rd;
        mov.b64 %rd, 0xFFFFFFFFFFFFFFFFF;
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
        .reg .b64 %rd;
        mov.b64 %rd, 0xFFFFFFFFFFFFFFFF;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended number is unknown.
    """
    for number in chain.from_iterable(map(_integers, instruction.operands)):
        value = integer(number.text)
        if value is None or value < WORD:
            continue
        taken = constant(number.text)
        place, related = operand_or_line(function, instruction, number)
        if taken is None:
            yield Finding(place, "the constant does not fit in 64 bits", related)
        else:
            message = f"the constant does not fit in 64 bits: ptxas truncates it to `{taken}`"
            yield Finding(place, message, related, severity="warning")


def _integers(part: nodes.Node) -> Iterator[nodes.Number]:
    if isinstance(part, nodes.Number):
        if part.kind == "integer":
            yield part
    else:
        for inner in children(part):
            yield from _integers(inner)
