"""The rule `wrong-operand`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import problem_place
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.targets import names_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes


@function_rule("wrong-operand", code="E166", wake=FAILED_CHECKS)
def wrong_operand(function: Function) -> Iterator[Finding]:
    """An operand of the wrong kind, type or size, or a constant that is out of range.

    ## What it does
    Compares each operand with what the instruction expects: a register, constant, address, vector or
    label; the declared type of the register (`.bN` matches every type of its size, and integers match
    integers); the state space of an address; the range of a constant.

    ## Why it matters
    ptxas rejects it with `Arguments mismatch`, but does not name the operand.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.s32 %r1, %rd1, %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.s32 %r1, %r2, %r3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended operand is unknown.
    """
    for instruction, verdict in checks(function):
        wrong = [
            problem
            for problem in verdict.problems
            # the rules `wrong-target` and `call-mismatch` judge what names a target
            if problem.kind == "operand"
            and not problem.style
            and not names_target(function, instruction, problem.index)
        ]
        if wrong:
            first, *others = wrong
            related = [
                *_declaration(function, instruction, first),
                *(
                    (problem_place(function, instruction, other), _unless_same(other, first))
                    for other in others
                ),
            ]
            operand = instruction.operands[first.index]
            place, exact = operand_or_line(function, instruction, operand)
            yield Finding(place, first.message, (*exact, *related))


def _unless_same(other: Problem, first: Problem) -> str:
    return "likewise" if other.message == first.message else other.message


def _declaration(
    function: Function, instruction: nodes.Instruction, problem: Problem
) -> Iterator[tuple[Place, str]]:
    """Where the register or variable is declared that does not fit."""
    operand = instruction.operands[problem.index]
    if isinstance(operand, nodes.Name):
        symbol = function.resolve(operand)
        if isinstance(symbol, Register | Variable):
            yield symbol.place, f"`{operand.text}` is declared here"
