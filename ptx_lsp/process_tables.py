"""Tables of a process that texts fill. They save time, and may be emptied at any time."""

from __future__ import annotations

from typing import Final, Protocol, TypeVar

_K = TypeVar("_K")
_V = TypeVar("_V")


class _Table(Protocol):
    def clear(self) -> None: ...


_TABLES: Final[list[_Table]] = []


def process_table(table: dict[_K, _V]) -> dict[_K, _V]:
    """Registers a table."""
    _TABLES.append(table)
    return table


def empty_process_tables() -> None:
    for table in _TABLES:
        table.clear()
