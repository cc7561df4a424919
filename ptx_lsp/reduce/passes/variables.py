"""Declarations of variables and registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.reduce.program import Program, names
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span


@reduction_pass("variables", "deletion", 20)
def variables(program: Program) -> Iterator[Step]:
    """Deletes each declaration of variables of the module, with the instructions that name them."""
    users: dict[str, list[Edit]] = {}
    for function, instruction in program.instructions():
        edit = program.delete(function.span(instruction))
        for name in {one.text for one in names(instruction)}:
            users.setdefault(name, []).append(edit)
    for node, span in program.outside:
        if isinstance(node, nodes.Declaration):
            declared = [one.name.text for one in node.declarators]
            yield (
                program.delete(span),
                *(edit for name in declared for edit in users.get(name, ())),
            )


@reduction_pass("unused declarations", "deletion", 50, is_list=True)
def unused_declarations(program: Program) -> Iterator[Step]:
    """Deletes what nothing names: variables, registers, prototypes and lists of targets."""
    used: set[int] = set()
    in_initializers: set[str] = set()
    for node, _ in program.statements():
        if isinstance(node, nodes.Declaration):
            in_initializers |= {
                name.text for one in node.declarators for name in _initial_names(one)
            }
    for function in program.bodies:
        used |= _used_in(function)
    for function in program.bodies:
        for node in function.body.statements:
            if isinstance(node, nodes.Declaration):
                spans = [function.span(one) for one in node.declarators]
                keep = [
                    id(one) in used or one.name.text in in_initializers for one in node.declarators
                ]
                yield from _without(program, function.span(node), spans, keep)
    for item in program.module.document.items:
        node = item.node
        if isinstance(node, nodes.Declaration):
            keep = [id(one) in used or one.name.text in in_initializers for one in node.declarators]
            yield from _without(
                program,
                Span(item.start, item.end),
                [item.span(one) for one in node.declarators],
                keep,
            )


@reduction_pass("labels", "deletion", 51)
def labels(program: Program) -> Iterator[Step]:
    """Deletes labels that nothing names, and with them a prototype or a list of targets."""
    outside = {name.text for node, _ in program.outside for name in names(node)}
    for function in program.bodies:
        used = {
            name.text
            for one in function.body.statements
            if not isinstance(one, nodes.Label | nodes.Block | nodes.Declaration)
            for name in names(one)
        }
        statements = function.body.statements
        for index, label in enumerate(statements):
            if not isinstance(label, nodes.Label) or label.name.text in used | outside:
                continue
            named = statements[index + 1] if index + 1 < len(statements) else None
            edits = [program.delete(function.span(label))]
            if isinstance(named, nodes.CallPrototype | nodes.TargetList):
                edits.append(program.delete(function.span(named)))
            yield tuple(edits)


@reduction_pass("initial values", "deletion", 52)
def initial_values(program: Program) -> Iterator[Step]:
    """Deletes the initial values of variables."""
    for item in program.module.document.items:
        if isinstance(item.node, nodes.Declaration):
            for one in item.node.declarators:
                if one.initializer is not None:
                    span = item.span(one.initializer)
                    start = program.data.rfind(b"=", 0, span.start)
                    yield (program.replace(Span(start, span.end), ""),)


def _used_in(function: Function) -> set[int]:
    """The declarators of the registers and variables that the statements of a function name."""
    found: set[int] = set()
    for statement in function.body.statements:
        if isinstance(statement, nodes.Declaration | nodes.Block | nodes.Label):
            continue
        for name in names(statement):
            symbol = function.resolve(name)
            if isinstance(symbol, Register | Variable):
                found.add(id(symbol.declarator))
    return found


def _initial_names(declarator: nodes.Declarator) -> Iterator[nodes.Name]:
    for part in (declarator.initializer, *declarator.dimensions):
        if part is not None:
            yield from names(part)


def _without(
    program: Program, whole: Span, parts: Sequence[Span], keep: Sequence[bool]
) -> Iterator[Step]:
    """Deletes the parts of a declaration that are not kept; the comma after a part belongs to it."""
    if not any(keep):
        yield (program.delete(whole),)
        return
    for index, part in enumerate(parts):
        if not keep[index]:
            last = index + 1 == len(parts)
            yield (
                program.replace(Span(part.start, part.end if last else parts[index + 1].start), ""),
            )
