"""Instructions, blocks of them, and the branches between."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.reduce.program import Program, names
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span


@reduction_pass("basic blocks", "deletion", 30)
def basic_blocks(program: Program) -> Iterator[Step]:
    """Deletes the instructions of each basic block, the last first, with its label and the branches to it."""
    for function in program.bodies:
        branches: dict[str, list[Edit]] = {}
        for statement in function.body.statements:
            if isinstance(statement, nodes.Instruction | nodes.Label):
                for name in {one.text for one in names(statement)}:
                    branches.setdefault(name, []).append(program.delete(function.span(statement)))
        for block in reversed(cfg(function).blocks):
            nodes_ = [function.body.instructions[number] for number in block.instructions]
            edits = [program.delete(function.span(one)) for one in nodes_]
            edits += (edit for label in block.labels for edit in branches.get(label, ()))
            if edits:
                yield tuple(edits)


@reduction_pass("scopes", "deletion", 35)
def scopes(program: Program) -> Iterator[Step]:
    """Deletes each `{ ... }` in a function with its contents."""
    for function in program.bodies:
        for statement in function.body.statements:
            if isinstance(statement, nodes.Block):
                yield (program.delete(function.span(statement)),)


@reduction_pass("braces", "deletion", 36)
def braces(program: Program) -> Iterator[Step]:
    """Deletes the braces of each `{ ... }` in a function, but not its contents."""
    for function in program.bodies:
        for statement in function.body.statements:
            if isinstance(statement, nodes.Block):
                span = function.span(statement)
                first = (
                    span.start if statement.guard is None else function.span(statement.guard).start
                )
                opening = program.data.index(b"{", span.start) + 1
                yield (
                    program.delete(Span(first, opening)),
                    program.delete(Span(span.end - 1, span.end)),
                )


@reduction_pass("instructions", "deletion", 40)
def instructions(program: Program) -> Iterator[Step]:
    """Deletes each instruction, the last first, so that a result is unused when its instruction is tried."""
    for function, instruction in reversed(list(program.instructions())):
        yield (program.delete(function.span(instruction)),)


@reduction_pass("guards", "simplification", 10)
def guards(program: Program) -> Iterator[Step]:
    """Deletes the guard of each instruction: a branch becomes unconditional."""
    for function, instruction in program.instructions():
        if instruction.guard is not None:
            yield (program.replace(function.span(instruction.guard), ""),)
