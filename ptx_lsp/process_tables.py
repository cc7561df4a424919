"""Tables of a process that texts fill. They save time, and may be emptied at any time."""

from __future__ import annotations

from collections.abc import Callable

from ptx_lsp.static_typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing import Final

_K = TypeVar("_K")
_V = TypeVar("_V")

_CLEAR: Final[list[Callable[[], None]]] = []


def process_table(table: dict[_K, _V]) -> dict[_K, _V]:
    """Registers a table."""
    _CLEAR.append(table.clear)
    return table


def register_process_table(clear: Callable[[], None]) -> None:
    """Registers a table that is not a dictionary, by a function that empties it."""
    _CLEAR.append(clear)


def empty_process_tables() -> None:
    for clear in _CLEAR:
        clear()
