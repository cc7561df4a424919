"""A table for DuckDB, pandas and others: a row for each file, each kernel and each finding (`table.py`).

The same reports give the same bytes. Rows are written in groups while files are checked, so the memory does
not depend on their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ptx_lsp import __version__
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import binary_reporter
from ptx_lsp.lint.results.table import COLUMNS, SCHEMA_VERSION, ColumnType

if TYPE_CHECKING:
    from typing import BinaryIO

    from ptx_lsp.lint.results import arrow
    from ptx_lsp.lint.results.table_rows import Cell, Part, Row

_BATCH_ROWS: Final = 4_096
_BATCH_CHARACTERS: Final = 8 << 20
"""Rows have long names in common until they are in a batch."""
_GROUP_ROWS: Final = 1 << 16
_GROUP_BYTES: Final = 32 << 20
_LONGEST: Final = 1 << 16
"""Longer texts are shortened in the middle."""
_LARGEST: Final = (1 << 63) - 1
_LONG: Final = "path", "function", "message"
"""The columns that may have long texts in many rows."""
_NUMBERS: Final[tuple[ColumnType, ...]] = "int64", "double", "bool"


@binary_reporter(
    "parquet", "a table of files, kernels and findings, for DuckDB and pandas", "pyarrow", "parquet"
)
def parquet(file: BinaryIO) -> TableWriter:
    """Begins a table. Raises ImportError without pyarrow."""
    return TableWriter(file)


class TableWriter:
    """Writes a table to a file, from its start to its end, so that the file may be a pipe."""

    def __init__(self, file: BinaryIO) -> None:
        from ptx_lsp.lint.results import arrow

        self._arrow, library = arrow.load()
        self._schema = arrow.schema(
            self._arrow, {"ptx-lint.schema": str(SCHEMA_VERSION), "ptx-lint.version": __version__}
        )
        self._types = arrow.data_types(self._arrow)
        self._writer = library.ParquetWriter(_Sink(file), self._schema, compression="zstd")
        self._rows: list[Row] = []
        self._characters = 0
        self._batches: list[arrow.RecordBatch] = []

    def add(self, file: FileReport) -> None:
        """Appends the rows of one file."""
        from ptx_lsp.lint.results.table_rows import rows

        for row in rows(file):
            self._rows.append(row)
            self._characters += sum([len(str(row.get(name) or "")) for name in _LONG])
            if len(self._rows) >= _BATCH_ROWS or self._characters >= _BATCH_CHARACTERS:
                self._end_batch()

    def close(self) -> None:
        """Writes the last rows and the end of the table."""
        self._end_batch()
        self._end_group()
        self._writer.close()

    def _end_batch(self) -> None:
        if not self._rows:
            return
        rows = self._rows
        self._rows = []
        self._characters = 0
        _add_demangled(rows)
        arrays = [self._array([row.get(one.name) for row in rows], one.type) for one in COLUMNS]
        self._batches.append(self._arrow.RecordBatch.from_arrays(arrays, schema=self._schema))
        row_count = sum(batch.num_rows for batch in self._batches)
        if row_count >= _GROUP_ROWS or sum(batch.nbytes for batch in self._batches) >= _GROUP_BYTES:
            self._end_group()

    def _end_group(self) -> None:
        if not self._batches:
            return
        table = self._arrow.Table.from_batches(self._batches, self._schema)
        self._batches = []
        self._writer.write_table(table.unify_dictionaries())

    def _array(self, cells: list[Cell], kind: ColumnType) -> arrow.Array:
        type_ = self._types[kind]
        if kind not in _NUMBERS:
            cells = _shortened(cells)
        try:
            return self._arrow.array(cells, type_)
        except (UnicodeEncodeError, OverflowError):
            return self._arrow.array([_storable(cell) for cell in cells], type_)


def _add_demangled(rows: Sequence[Row]) -> None:
    """Adds the demangled names of their functions to the rows."""
    from ptx_lsp.demangler import demangled  # it starts processes

    names = {name for row in rows if isinstance(name := row.get("function"), str)}
    found = demangled(sorted(names))
    for row in rows if found else ():
        row["demangled"] = found.get(str(row.get("function")))


def _shortened(cells: list[Cell]) -> list[Cell]:
    """The cells of a column with texts, or with lists of them."""
    filled = [cell for cell in cells if cell]
    texts = [cell for cell in filled if isinstance(cell, str)]
    if len(texts) == len(filled):
        is_long = max(map(len, texts), default=0) > _LONGEST
        return [_short(cell) if isinstance(cell, str) else cell for cell in cells] if is_long else cells
    return [_each(cell, _short) if isinstance(cell, tuple) else cell for cell in cells]


def _each(cell: tuple[Part, ...], change: Callable[[str], str]) -> tuple[Part, ...]:
    """A cell with several texts, changed."""
    return tuple([change(one) if isinstance(one, str) else (change(one[0]), one[1]) for one in cell])


def _short(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]}...{text[-half:]}"


def _storable(cell: Cell) -> Cell:
    """A cell that Arrow can store: lone surrogates become escapes, and too large numbers null."""
    if isinstance(cell, str):
        return _encodable(cell)
    if isinstance(cell, tuple):
        return _each(cell, _encodable)
    return None if isinstance(cell, int) and abs(cell) > _LARGEST else cell


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


class _Sink:
    """Arrow asks for the position, which a pipe does not have. It ends even an abandoned table, whose file is
    closed.
    """

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._position = 0

    def write(self, data: bytes) -> int:
        if not self._file.closed:
            self._file.write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        if not self._file.closed:
            self._file.flush()
