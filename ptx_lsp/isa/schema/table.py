"""The whole table: found by walking `ptx_lsp.isa.instructions`. A section is loaded when an opcode of its is
first asked for: an index has the sections and the parsed forms of each opcode.
"""

from __future__ import annotations

import marshal
from functools import cache
from importlib import import_module

from ptx_lsp.isa.schema import entry, notation
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.notation import PlainForm
from ptx_lsp.packages import module_names
from ptx_lsp.prepared import modules_in, prepared
from ptx_lsp.static_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_ROWS: Final = "ptx_lsp.isa.instructions"
_Prepared: TypeAlias = tuple[tuple[str, ...], tuple[tuple[str, tuple[PlainForm, ...]], ...]]
"""The sections of an opcode, and the forms of the syntax texts of its rows."""


@cache
def all_entries() -> tuple[Entry, ...]:
    """Every row, in the order of the modules' names and of their lines."""
    for name in _sections():
        import_module(f"{_ROWS}.{name}")
    return _in_order(entry.ENTRIES)


@cache
def entries(opcode: str) -> tuple[Entry, ...]:
    """The rows of an opcode (the word before the first dot); empty when there is none."""
    index = _index()
    if index is None:
        return tuple([row for row in all_entries() if row.opcode == opcode])
    data = index.get(opcode)
    if data is None:
        return ()
    sections, forms = cast(_Prepared, marshal.loads(data))
    for name in sections:
        import_module(f"{_ROWS}.{name}")
    notation.set_known_forms(dict(forms))
    return _in_order([row for row in entry.ENTRIES if row.opcode == opcode])


def load_all() -> None:
    """Parses all rows now instead of each when it is first asked for."""
    for opcode in opcodes():
        entries(opcode)
    for row in all_entries():
        _ = row.forms, row.needs, row.exceptions, row.ends


def opcodes() -> tuple[str, ...]:
    """Every opcode of the table."""
    index = _index()
    return tuple(index if index is not None else dict.fromkeys(row.opcode for row in all_entries()))


def prepare() -> None:
    """Writes the index, for a package that is being built."""
    read_index(import_module(_ROWS).__path__[0], write=True)


@cache
def _index() -> dict[str, bytes] | None:
    return read_index(import_module(_ROWS).__path__[0])


def read_index(folder: str, write: bool | None = None) -> dict[str, bytes] | None:
    """The index by opcode, valid for the sections in `folder`; None and `write` as for `prepared`."""
    sources = [*modules_in(folder), notation.__file__]
    return prepared("table", folder, sources, compute_index, write)


def compute_index() -> dict[str, bytes]:
    """The index, from the rows themselves."""
    rows: dict[str, list[Entry]] = {}
    for row in all_entries():
        rows.setdefault(row.opcode, []).append(row)
    return {opcode: _packed(found) for opcode, found in rows.items()}


def _packed(rows: list[Entry]) -> bytes:
    sections = dict.fromkeys(row.module.rpartition(".")[2] for row in rows)
    forms = tuple([(row.syntax, tuple(map(notation.plain, notation.read(row.syntax)))) for row in rows])
    found: _Prepared = (tuple(sections), forms)
    known: dict[object, object] = {}

    def shared(data: object) -> object:
        """Makes equal parts one object: `marshal` then writes them once."""
        if isinstance(data, tuple):
            data = tuple([shared(part) for part in cast(tuple[object, ...], data)])
        return known.setdefault(data, data)

    return marshal.dumps(cast(_Prepared, shared(found)), 4)


def _sections() -> list[str]:
    return module_names(import_module(_ROWS).__path__)


def _in_order(rows: list[Entry]) -> tuple[Entry, ...]:
    return tuple(sorted(rows, key=lambda row: row.module))
