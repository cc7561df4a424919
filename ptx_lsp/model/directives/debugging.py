"""Consistency of `.file`, `.loc` and `.section`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Position: TypeAlias = tuple[int, ...]
"""File index, line and column."""


class Named(NamedTuple):
    """The value of a `function_name`."""

    name: str
    place: Place


class Inlined(NamedTuple):
    """An `inlined_at`, and the position in it."""

    place: Place
    position: Position


def files(module: Module) -> Iterator[tuple[Item, nodes.File]]:
    """Every `.file`."""
    for item in module.outside:
        if isinstance(item.node, nodes.File):
            yield item, item.node


def sections(module: Module) -> Iterator[tuple[Item, nodes.Section]]:
    """Every `.section`."""
    for item in module.outside:
        if isinstance(item.node, nodes.Section):
            yield item, item.node


@fact
def function_names(function: Function) -> tuple[Named, ...]:
    """The `function_name` attributes in the `.loc` of a function."""
    return tuple(
        Named(value.text, function.place(value))
        for node in attributed_locations(function)
        for attribute in node.attributes[:1]
        if attribute.name.text == "function_name"
        for value in attribute.values[:1]
        if isinstance(value, nodes.Name)
    )


@directive_fact
def attributed_locations(function: Function) -> tuple[nodes.Location, ...]:
    """Every `.loc` of a function with attributes."""
    found = (node for node, _ in function.body.directives)
    return tuple(node for node in found if isinstance(node, nodes.Location) and node.attributes)


ATTRIBUTED: Final = having_directives(attributed_locations)
"""A `.loc` with attributes."""


@fact
def unplaced(function: Function) -> tuple[Inlined, ...]:
    """Every `inlined_at` whose position no earlier `.loc` of the function has."""
    if not attributed_locations(function):
        return ()
    seen: set[Position] = set()
    found: list[Inlined] = []
    for node in function.body.statements:
        if not isinstance(node, nodes.Location):
            continue
        for attribute in node.attributes:
            position = _position(attribute.values)
            if attribute.name.text == "inlined_at" and position and position not in seen:
                found.append(Inlined(function.place(attribute), position))
        position = _position((node.file, node.line, node.column))
        if position:
            seen.add(position)
    return tuple(found)


def is_placed_earlier(module: Module, one: Inlined) -> bool:
    """Whether a `.loc` of an earlier function has the position."""
    start = module.span(one.place).start
    before = takewhile(lambda function: function.item.end <= start, module.functions)
    return any(one.position in _positions(function) for function in before)


@fact
def _positions(function: Function) -> frozenset[Position]:
    found = (node for node in function.body.statements if isinstance(node, nodes.Location))
    return frozenset(
        position for node in found if (position := _position((node.file, node.line, node.column)))
    )


def _position(values: tuple[nodes.Expression, ...]) -> Position | None:
    """The position; None unless the values are three whole numbers."""
    known = [whole_number(value) for value in values]
    found = tuple(value for value in known if value is not None)
    return found if len(found) == len(known) == 3 else None


def has_syntax_errors(module: Module) -> bool:
    """Whether ptxas stops before the end of the file, where it reports missing debugging data."""
    return any(item.problems or item.is_unclosed for item in module.document.items)
