"""Parameters of kernels and functions."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.reduce.program import Program, names
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit


@reduction_pass("parameters", "deletion", 60, is_list=True)
def parameters(program: Program) -> Iterator[Step]:
    """Deletes each parameter from all declarations of a function, with the arguments of direct calls and the
    instructions that name it.
    """
    found = [(caller, call) for caller in program.bodies for call in calls(caller)]
    for name, declared in _by_name(program).items():
        most = max(len(one.node.parameters or ()) for one in declared)
        for index in range(most):
            edits: list[Edit] = []
            for function in declared:
                if index < len(function.node.parameters or ()):
                    edits += _parameter(program, function, (function.node.parameters or ())[index])
            for caller, call in found:
                if call.target.text == name and call.argument_list is not None:
                    edits += _argument(program, caller, call, index)
            yield tuple(edits)


@reduction_pass("results of functions", "deletion", 61)
def function_results(program: Program) -> Iterator[Step]:
    """Deletes the return parameters of each function, with what receives them."""
    found = [(caller, call) for caller in program.bodies for call in calls(caller)]
    for name, declared in _by_name(program).items():
        edits: list[Edit] = []
        for function in declared:
            if function.node.returns is None or function.node.name is None:
                continue
            start, end = (
                function.span(function.node.kind).end,
                function.span(function.node.name).start,
            )
            edits.append(Edit(start, end, b" "))
            for one in function.node.returns:
                edits += _users(program, function, one)
        for caller, call in found:
            if call.target.text == name and call.return_list is not None:
                edits.append(
                    Edit(caller.span(call.return_list).start, caller.span(call.target).start, b"")
                )
        if edits:
            yield tuple(edits)


def _by_name(program: Program) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for function in program.module.functions:
        found.setdefault(function.name, []).append(function)
    return found


def _parameter(
    program: Program, function: Function, declaration: nodes.Declaration
) -> Iterator[Edit]:
    yield program.replace(function.span(declaration), "")
    yield from _users(program, function, declaration)


def _users(program: Program, function: Function, declaration: nodes.Declaration) -> Iterator[Edit]:
    declared = {one.name.text for one in declaration.declarators}
    for instruction in function.body.instructions:
        if declared & {one.text for one in names(instruction)}:
            yield program.delete(function.span(instruction))


def _argument(program: Program, caller: Function, call: Call, index: int) -> Iterator[Edit]:
    if call.argument_list is None or index >= len(call.arguments):
        return
    if len(call.arguments) == 1:
        yield Edit(caller.span(call.target).end, caller.span(call.argument_list).end, b"")
    else:
        yield program.replace(caller.span(call.arguments[index]), "")
