"""The functions of a module, each at its current position."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from ptx_lsp.model.function import Function
from ptx_lsp.model.module_scope import Home
from ptx_lsp.static_typing import overload
from ptx_lsp.syntax.items import Items


class Functions(Sequence[Function]):
    """The functions of one module in text order; each is always the same object.

    Moving the functions after an edit costs nothing until they are requested.
    """

    def __init__(
        self, known: list[Function], places: Sequence[int], items: Items, home: Home
    ) -> None:
        """`known` are the functions, possibly at earlier positions; `places` are the indices of their
        statements among `items`.
        """
        self._functions = known
        self._places = places
        self._items = items
        self._module_ref = home
        self._placed: dict[int, Function] = {}
        """The functions requested so far, by index."""

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
            found = self._placed.setdefault(number, placed)  # another thread may have stored it first
        return found

    def __iter__(self) -> Iterator[Function]:
        return map(self.__getitem__, range(len(self._functions)))

    def anywhere(self) -> Iterator[Function]:
        """The functions, possibly at earlier positions, for results that do not depend on the position."""
        return iter(self._functions)

    def at(self, offset: int) -> Function | None:
        """The function whose text contains `offset`."""
        number = self.number_of(self._items.last_before(offset))
        if number < 0:
            return None
        function = self[number]
        return function if offset < function.item.end else None

    def replaced(self, others: Mapping[int, Function], items: Items, home: Home) -> Functions:
        """The functions of another module with as many statements, some of which are new."""
        known = list(self._functions)
        for number, function in self._placed.copy().items():
            known[number] = function
        for number, function in others.items():
            known[number] = function
        return Functions(known, self._places, items, home)

    def number_of(self, item: int) -> int:
        """The index of the function at statement `item`, or of the last function before it."""
        return bisect_right(self._places, item) - 1

    def of_item(self, item: int) -> Function | None:
        """The function at statement `item`."""
        number = self.number_of(item)
        return self[number] if number >= 0 and self._places[number] == item else None

    def item_of(self, number: int) -> int:
        """The index of a function's statement."""
        return self._places[number]

    def clear(self) -> None:
        self._functions.clear()
        self._placed.clear()


class Definitions(Mapping[str, Function]):
    """The functions with a body, by name; the first of each name."""

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
