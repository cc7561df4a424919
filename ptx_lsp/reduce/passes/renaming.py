"""Names: short ones, and registers numbered from 0."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.reduce.program import Program, names
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit

_LETTERS = {".entry": "k", ".func": "f"}


@reduction_pass("numbers of registers", "name", 10)
def register_numbers(program: Program) -> Iterator[Step]:
    """Numbers the registers of each range from 0, in the order of the text, and declares no more."""
    for function in program.bodies:
        for declaration in function.body.statements:
            if isinstance(declaration, nodes.Declaration):
                for declarator in declaration.declarators:
                    if isinstance(declarator.range, nodes.Number):
                        yield _renumbered(program, function, declarator, declarator.range)


@reduction_pass("names", "name", 20)
def short_names(program: Program) -> Iterator[Step]:
    """Gives functions, variables, parameters, labels and registers names of one letter and a number."""
    data = program.data
    places: dict[str, list[Edit]] = {}
    letters: dict[str, str] = {}
    for item in program.module.document.items:
        node = item.node
        if isinstance(node, nodes.Function) and node.name is not None:
            letters.setdefault(node.name.text, _LETTERS.get(node.kind.text, "f"))
            for parameter in (*(node.returns or ()), *(node.parameters or ())):
                letters.update((one.name.text, "p") for one in parameter.declarators)
        elif isinstance(node, nodes.Declaration):
            letters.update((one.name.text, "v") for one in node.declarators)
        for name in names(node):
            span = item.span(name)
            places.setdefault(name.text, []).append(Edit(span.start, span.end, b""))
    for function in program.bodies:
        for statement in function.body.statements:
            if isinstance(statement, nodes.Label):
                letters[statement.name.text] = "L"
            elif isinstance(statement, nodes.Declaration):
                is_register = statement.space is not None and statement.space.text == ".reg"
                for one in statement.declarators:
                    if one.range is None:
                        letters[one.name.text] = (
                            "%" + _register_letter(statement) if is_register else "v"
                        )
    taken = set(places)
    for name, letter in letters.items():
        short, edits = _free(letter, taken), places.get(name, [])
        if len(short) < len(name) and all(
            data[one.start : one.end] == name.encode() for one in edits
        ):
            taken.add(short)
            yield tuple(edit._replace(replacement=short.encode()) for edit in edits)


def _register_letter(declaration: nodes.Declaration) -> str:
    return "p" if any(one.text == ".pred" for one in declaration.modifiers) else "r"


def _free(letter: str, taken: set[str]) -> str:
    number = 0
    while (found := f"{letter}{number or ''}") in taken:
        number += 1
    return found


def _renumbered(
    program: Program, function: Function, declarator: nodes.Declarator, count: nodes.Number
) -> Step:
    numbers: dict[str, int] = {}
    edits: list[Edit] = []
    for statement in function.body.statements:
        if isinstance(statement, nodes.Declaration | nodes.Block | nodes.Label):
            continue
        for name in names(statement):
            symbol = function.resolve(name)
            if isinstance(symbol, Register) and symbol.declarator is declarator:
                number = numbers.setdefault(name.text, len(numbers))
                edits.append(
                    program.replace(function.span(name), f"{declarator.name.text}{number}")
                )
    edits.append(program.replace(function.span(count), str(max(len(numbers), 1))))
    return tuple(edits)
