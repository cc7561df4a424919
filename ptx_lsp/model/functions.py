"""The functions of a module, each where it is now."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from ptx_lsp.model.function import Function
from ptx_lsp.model.module_scope import Home
from ptx_lsp.syntax.items import Items


class Functions(Sequence[Function]):
    """Those of one module in the order of the text; each is always the same object.

    That those behind an edit have moved costs nothing until somebody asks for them.
    """

    def __init__(
        self, known: list[Function], places: Sequence[int], items: Items, home: Home
    ) -> None:
        """`known` are the functions, which may stand where they stood once; `places` are the numbers of
        their statements among `items`.
        """
        self._functions = known
        self._places = places
        self._items = items
        self._module_ref = home
        self._placed: dict[int, Function] = {}
        """Those asked for so far, by their numbers among the functions."""

    def __len__(self) -> int:
        return len(self._functions)

    @overload
    def __getitem__(self, index: int) -> Function: ...
    @overload
    def __getitem__(self, index: slice) -> list[Function]: ...
    def __getitem__(self, index: int | slice) -> Function | list[Function]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        found = self._placed.get(number)
        if found is None:
            if number < 0:
                raise IndexError(index)
            placed = self._functions[number].moved_to(self._items[self._places[number]], self._module_ref)
            found = self._placed.setdefault(number, placed)  # another thread may have been faster
        return found

    def __iter__(self) -> Iterator[Function]:
        return map(self.__getitem__, range(len(self._functions)))

    def anywhere(self) -> Iterator[Function]:
        """Those functions, where they stand now or stood once: for what does not depend on that."""
        return iter(self._functions)

    def at(self, offset: int) -> Function | None:
        """The one whose text holds `offset`."""
        number = self.number_of(self._items.last_before(offset))
        if number < 0:
            return None
        function = self[number]
        return function if offset < function.item.end else None

    def replaced(self, others: Mapping[int, Function], items: Items, home: Home) -> Functions:
        """Those of another module with as many statements, where some are new."""
        known = list(self._functions)
        for number, function in self._placed.copy().items():
            known[number] = function
        for number, function in others.items():
            known[number] = function
        return Functions(known, self._places, items, home)

    def number_of(self, item: int) -> int:
        """Which function the statement with the number `item` is, or the last one before it."""
        return bisect_right(self._places, item) - 1

    def of_item(self, item: int) -> Function | None:
        """The one that the statement with the number `item` is."""
        number = self.number_of(item)
        return self[number] if number >= 0 and self._places[number] == item else None

    def item_of(self, number: int) -> int:
        """The number of the statement that a function is."""
        return self._places[number]

    def clear(self) -> None:
        self._functions.clear()
        self._placed.clear()


class Definitions(Mapping[str, Function]):
    """The functions that have a body, by name; the first of each."""

    def __init__(self, functions: Functions, by_name: Mapping[str, int]) -> None:
        self._functions = functions
        self._by_name = by_name

    def __getitem__(self, name: str) -> Function:
        return self._functions[self._by_name[name]]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)
