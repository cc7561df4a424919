"""Source locations: the function around a place, and the source lines that `.loc` gives for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_DEEPEST: Final = 64
"""Inlined calls that are followed."""


class SourceLocations:
    """The origins in one module; a function is analysed on first use."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._locations: dict[int, _Locations] = {}

    def of(self, offset: int) -> tuple[str, tuple[Origin, ...]]:
        """The name of the function around a byte offset, and its source lines: the line itself, then each
        that it is inlined at. Both are empty if absent.

        A `.loc` applies to the text after it, up to the next one.
        """
        function = self._module.function_at(offset)
        if function is None:
            return "", ()
        locations = self._of_function(function)
        index = bisect_right(locations.starts, offset) - 1
        return function.name, tuple(self._chain(locations, index))

    def _chain(self, locations: _Locations, index: int) -> Iterator[Origin]:
        """The origin of a location, then those that it is inlined at, which earlier locations have."""
        for _ in range(_DEEPEST):
            origin = self._origin(locations.positions[index]) if index >= 0 else None
            if origin is None:
                return
            yield origin
            caller, index = locations.callers[index]
            if caller is not None and index < 0 and (origin := self._origin(caller)) is not None:
                yield origin  # known without its location

    def _of_function(self, function: Function) -> _Locations:
        key = id(function.node)
        found = self._locations.get(key)
        if found is None:
            nodes_ = list(self._locations_in(function))
            found = self._locations[key] = _Locations([], [], [])
            latest: dict[_Position, int] = {}
            for index, node in enumerate(nodes_):
                position = _numbers(node.file, node.line, node.column)
                caller = _caller(node)
                found.starts.append(function.item.offset(node.start))
                found.positions.append(position)
                found.callers.append((caller, -1 if caller is None else latest.get(caller, -1)))
                latest[position] = index
        return found

    def _locations_in(self, function: Function) -> Iterator[nodes.Location]:
        """The locations of a function. The text of most functions has none."""
        body, item = function.node.body, function.item
        text = self._module.document.source.data
        if body is not None and text.find(b".loc", item.start, item.end) >= 0:
            yield from _locations(body.statements)

    def _origin(self, position: _Position) -> Origin | None:
        file, line, column = position
        path = self._module.files.get(file) if file is not None else None
        return Origin(path, line, max(1, column or 0)) if path and line else None


class _Locations(NamedTuple):
    """The `.loc` of a function, in order."""

    starts: list[int]
    positions: list[_Position]
    callers: list[tuple[_Position | None, int]]
    """The position that each is inlined at, and the index of the latest location before it that has it."""


_Position: TypeAlias = "tuple[int | None, int | None, int | None]"
"""The index of a file, a line and a column."""


def _caller(location: nodes.Location) -> _Position | None:
    for attribute in location.attributes:
        if attribute.name.text == "inlined_at" and len(attribute.values) == 3:
            return _numbers(*attribute.values)
    return None


def _numbers(file: nodes.Node, line: nodes.Node, column: nodes.Node) -> _Position:
    return _number(file), _number(line), _number(column)


def _number(part: nodes.Node) -> int | None:
    return integer(part.text) if isinstance(part, nodes.Number) else None


def _locations(statements: Iterable[nodes.Statement]) -> Iterator[nodes.Location]:
    """The locations in order; not recursive, because blocks may be nested very deeply."""
    waiting = [_iterator(statements)]
    while waiting:
        for statement in waiting[-1]:
            if isinstance(statement, nodes.Location):
                yield statement
            else:
                waiting.append(_iterator(statement.statements))
                break
        else:
            waiting.pop()


def _iterator(statements: Iterable[nodes.Statement]) -> Iterator[nodes.Location | nodes.Block]:
    """The locations and blocks among statements. By far most are neither."""
    return iter([one for one in statements if type(one) is nodes.Location or type(one) is nodes.Block])
