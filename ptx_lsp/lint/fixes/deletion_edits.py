"""Fixes that delete part of the text."""

from __future__ import annotations

from ptx_lsp.facts import directive_fact
from ptx_lsp.lint.diagnostic import FixProposal, Replacement
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Owner, Place
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

_BLANK = b" \t"


def delete_directive(function: Function, node: nodes.Directive) -> FixProposal:
    """Deletes a directive, with its line if nothing else is on it."""
    return FixProposal(f"Remove `{node.name.text}`", (deletion(function.place(node)),))


def deletion(place: Place) -> Replacement:
    """Deletes a whole statement or directive, with its line if nothing else is on it."""
    return Replacement(place, "", with_line=True)


def delete_register(function: Function, register: Register, shown: str) -> FixProposal | None:
    """Deletes the declaration of a register, or of a range, from the body of a function."""
    declaration = declarations_in(function).get(id(register.declarator))
    if declaration is None:
        return None
    return _delete_declaration(register.place.owner, declaration, register.declarator, shown)


def delete_variable(variable: Variable) -> FixProposal:
    """Deletes the declaration of a variable that is not a parameter."""
    return _delete_declaration(variable.place.owner, variable.declaration, variable.declarator, variable.name)


def _delete_declaration(
    owner: Owner | None, declaration: nodes.Declaration, declarator: nodes.Declarator, shown: str
) -> FixProposal:
    """The whole declaration where it declares nothing else."""
    every = declaration.declarators
    index = next(number for number, one in enumerate(every) if one is declarator)
    message = f"Remove `{shown}`"
    if len(every) == 1:
        return FixProposal(message, (deletion(Place(owner, declaration.start, declaration.end)),), safe=False)
    if index + 1 < len(every):
        place = Place(owner, declarator.start, every[index + 1].start)
    else:
        place = Place(owner, every[index - 1].end, declarator.end)
    return FixProposal(message, (Replacement(place, ""),), safe=False)


@directive_fact
def declarations_in(function: Function) -> dict[int, nodes.Declaration]:
    """The declarations in the body, by their symbols."""
    return {
        id(declarator): statement
        for statement, _ in function.body.directives
        if isinstance(statement, nodes.Declaration)
        for declarator in statement.declarators
    }


def widened(data: bytes, span: Span) -> Span:
    """The range extended by surrounding blanks, and by the line if nothing else is in it."""
    start, end = span
    first, last = start, end
    while first > 0 and data[first - 1] in _BLANK:
        first -= 1
    while last < len(data) and data[last] in _BLANK:
        last += 1
    line_end = next((word for word in (b"\n", b"\r\n") if data.startswith(word, last)), None)
    if line_end is not None and (first == 0 or data[first - 1 : first] == b"\n"):
        return Span(first, last + len(line_end))
    return Span(first, end) if last == end else Span(start, last)
