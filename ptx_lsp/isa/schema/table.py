"""The whole table: found by walking `ptx_lsp.isa.instructions`, loaded when it is first asked for."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from ptx_lsp.isa.schema import entry
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.packages import module_names

_ROWS = "ptx_lsp.isa.instructions"


@lru_cache(maxsize=1)
def _by_opcode() -> dict[str, tuple[Entry, ...]]:
    rows: dict[str, list[Entry]] = {}
    for row in all_entries():
        rows.setdefault(row.opcode, []).append(row)
    return {opcode: tuple(found) for opcode, found in rows.items()}


@lru_cache(maxsize=1)
def all_entries() -> tuple[Entry, ...]:
    """Every row, in the order of the modules' names and of their lines."""
    for name in module_names(import_module(_ROWS).__path__):
        import_module(f"{_ROWS}.{name}")
    return tuple(sorted(entry.ENTRIES, key=lambda row: row.module))


def entries(opcode: str) -> tuple[Entry, ...]:
    """The rows of an opcode (the word before the first dot); empty when there is none."""
    return _by_opcode().get(opcode, ())


def opcodes() -> tuple[str, ...]:
    """Every opcode of the table."""
    return tuple(_by_opcode())
