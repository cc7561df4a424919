"""The strings of every `.pragma`, with the place where it stands and the instruction behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptx_lsp.facts import fact, of_all
from ptx_lsp.isa.directives import Where
from ptx_lsp.model.directives import Use, directives_of, directives_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes


class PragmaUse(NamedTuple):
    """One string; `text` is without the quotes."""

    text: str
    where: Where
    place: Place
    node: nodes.Statement


def pragmas(module: Module) -> Iterator[PragmaUse]:
    """All of a module, where a `.pragma` can stand."""
    for use in directives_outside(module):
        yield from _of(use)
    yield from of_all(_pragmas_of, module)


@fact
def _pragmas_of(function: Function) -> tuple[PragmaUse, ...]:
    return tuple(found for use in directives_of(function) for found in _of(use))


class Stray(NamedTuple):
    """A pragma about a load, and the statement behind it that is none; None at the end of a block."""

    use: PragmaUse
    behind: nodes.Statement | None


@fact
def stray_masks(function: Function) -> tuple[Stray, ...]:
    """The `used_bytes_mask` strings with no load behind them."""
    masks = {
        id(use.node): found
        for use in directives_of(function)
        for found in _of(use)
        if use.where == "body" and found.text.startswith("used_bytes_mask")
    }
    if not masks:
        return ()
    found: list[Stray] = []
    pending: list[PragmaUse] = []
    for statement in function.body.statements:
        if id(statement) in masks:
            pending.append(masks[id(statement)])
        elif pending and not isinstance(statement, nodes.Location | nodes.Directive):
            if not (isinstance(statement, nodes.Instruction) and statement.opcode.text.startswith("ld")):
                found.extend(Stray(use, statement) for use in pending)
            pending.clear()
    found.extend(Stray(use, None) for use in pending)
    return tuple(found)


def _of(use: Use) -> Iterator[PragmaUse]:
    row = use.row
    if use.name.text != ".pragma" or row is None or use.where not in row.places:
        return
    for argument in use.arguments:
        if isinstance(argument, nodes.String):
            place = Place.of(use.owner, argument)
            yield PragmaUse(argument.text[1:-1], use.where, place, use.node)
