"""The strings of every `.pragma`, with their place and the instruction after it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.isa.directives import Where
from ptx_lsp.isa.pragmas import number, split
from ptx_lsp.model.directives.directives import Use, directives_of, directives_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes


class PragmaUse(NamedTuple):
    """One string; `text` is without the quotes."""

    text: str
    where: Where
    place: Place
    node: nodes.Statement


def pragmas(module: Module) -> Iterator[PragmaUse]:
    """All pragma strings of a module in valid places."""
    for use in directives_outside(module):
        yield from _of(use)
    yield from collect_over_functions(_pragmas_of, module)


@directive_fact
def _pragmas_of(function: Function) -> tuple[PragmaUse, ...]:
    return tuple(found for use in directives_of(function) for found in _of(use))


class Stray(NamedTuple):
    """A pragma about a load, and the statement after it, which is not a load; None at the end of a block."""

    use: PragmaUse
    behind: nodes.Statement | None


@fact
def stray_masks(function: Function) -> tuple[Stray, ...]:
    """The `used_bytes_mask` strings that no load follows."""
    found = ((use, _behind(function, use.node)) for use in masks(function))
    return tuple(Stray(use, behind) for use, behind in found if not _is_load(behind))


@directive_fact
def masks(function: Function) -> tuple[PragmaUse, ...]:
    """The `used_bytes_mask` strings in a body."""
    return tuple(
        one
        for one in _pragmas_of(function)
        if one.where == "body" and one.text.startswith("used_bytes_mask")
    )


@fact
def used_bytes(function: Function) -> Mapping[int, int]:
    """The masks of the bytes that `ld` instructions use, by their starts."""
    found: dict[int, int] = {}
    for use in masks(function):
        load, mask = _behind(function, use.node), number(split(use.text)[1])
        if mask is not None and isinstance(load, nodes.Instruction) and load.opcode.text.startswith("ld."):
            found[load.start] = mask
    return found


def _behind(function: Function, node: nodes.Statement) -> nodes.Statement | None:
    """The next statement, ignoring `.loc` and other pragmas."""
    statements, offset = function.body.statements, function.item.offset
    index = bisect_right(statements, offset(node.start), key=lambda one: offset(one.start))
    while index < len(statements) and isinstance(statements[index], nodes.Location | nodes.Directive):
        index += 1
    return statements[index] if index < len(statements) else None


def _is_load(statement: nodes.Statement | None) -> bool:
    return isinstance(statement, nodes.Instruction) and statement.opcode.text.startswith("ld")


def _of(use: Use) -> Iterator[PragmaUse]:
    row = use.row
    if use.name.text != ".pragma" or row is None or use.where not in row.places:
        return
    for argument in use.arguments:
        if isinstance(argument, nodes.String):
            place = Place.of(use.owner, argument)
            yield PragmaUse(argument.text[1:-1], use.where, place, use.node)
