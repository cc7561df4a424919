"""Source locations: the function around a place, and the source line that `.loc` gives for it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.scope import integer
from ptx_lsp.syntax import nodes


class SourceLocations:
    """The origins in one module; a function is analysed on first use."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._locations: dict[int, tuple[list[int], list[nodes.Location]]] = {}

    def of(self, offset: int) -> tuple[str, Origin | None]:
        """The name of the function around a byte offset, and its source line; "" and None if absent.

        A `.loc` applies to the text after it, up to the next one.
        """
        function = self._module.function_at(offset)
        if function is None:
            return "", None
        starts, locations = self._of_function(function)
        index = bisect_right(starts, offset) - 1
        return function.name, self._origin(locations[index]) if index >= 0 else None

    def _of_function(self, function: Function) -> tuple[list[int], list[nodes.Location]]:
        key = id(function.node)
        found = self._locations.get(key)
        if found is None:
            body = function.node.body
            locations = list(_locations(body.statements)) if body is not None else []
            starts = [function.item.offset(one.start) for one in locations]
            found = self._locations[key] = starts, locations
        return found

    def _origin(self, location: nodes.Location) -> Origin | None:
        file, line, column = (
            integer(part.text) if isinstance(part, nodes.Number) else None
            for part in (location.file, location.line, location.column)
        )
        path = self._module.files.get(file) if file is not None else None
        return Origin(path, line, max(1, column or 0)) if path and line else None


def _locations(statements: Iterable[nodes.Statement]) -> Iterator[nodes.Location]:
    """The locations in order; not recursive, because blocks may be nested very deeply."""
    waiting = [iter(statements)]
    while waiting:
        for statement in waiting[-1]:
            if isinstance(statement, nodes.Location):
                yield statement
            elif isinstance(statement, nodes.Block):
                waiting.append(iter(statement.statements))
                break
        else:
            waiting.pop()
