"""The parts of pyarrow that tables use. It has no types of its own, and is imported when it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from ptx_lsp.lint.results.table import COLUMNS, ColumnType
from ptx_lsp.lint.results.table_rows import Cell


class DataType(Protocol): ...


class Array(Protocol): ...


class Field(Protocol): ...


class Schema(Protocol):
    def with_metadata(self, metadata: dict[str, str]) -> Schema: ...


class RecordBatch(Protocol):
    nbytes: int
    num_rows: int


class Table(Protocol):
    def unify_dictionaries(self) -> Table: ...


class Batches(Protocol):
    def from_arrays(self, arrays: Sequence[Array], *, schema: Schema) -> RecordBatch: ...


class Tables(Protocol):
    def from_batches(self, batches: Sequence[RecordBatch], schema: Schema) -> Table: ...


class Arrow(Protocol):
    """The module `pyarrow`."""

    RecordBatch: Batches
    Table: Tables

    def array(self, values: Sequence[Cell], type: DataType) -> Array: ...
    def schema(self, fields: Sequence[Field]) -> Schema: ...
    def field(self, name: str, type: DataType, *, metadata: dict[str, str]) -> Field: ...
    def string(self) -> DataType: ...
    def int32(self) -> DataType: ...
    def int64(self) -> DataType: ...
    def float64(self) -> DataType: ...
    def bool_(self) -> DataType: ...
    def dictionary(self, index_type: DataType, value_type: DataType) -> DataType: ...
    def list_(self, value_type: DataType) -> DataType: ...
    def map_(self, key_type: DataType, item_type: DataType) -> DataType: ...


class Sink(Protocol):
    """A file that is written from its start to its end."""

    closed: bool

    def write(self, data: bytes) -> int: ...
    def tell(self) -> int: ...
    def flush(self) -> None: ...


class TableWriter(Protocol):
    """The writer that `ParquetWriter` returns."""

    def write_table(self, table: Table) -> None: ...
    def close(self) -> None: ...


class Parquet(Protocol):
    """The module `pyarrow.parquet`."""

    def ParquetWriter(  # noqa: N802 (its name)
        self, where: Sink, schema: Schema, *, compression: str
    ) -> TableWriter: ...


def load() -> tuple[Arrow, Parquet]:
    """The modules. Raises ImportError."""
    return cast(Arrow, import_module("pyarrow")), cast(Parquet, import_module("pyarrow.parquet"))


def data_types(arrow: Arrow) -> dict[ColumnType, DataType]:
    """The types of columns by their names."""
    string, number = arrow.string(), arrow.int64()
    return {
        "string": string,
        "category": arrow.dictionary(arrow.int32(), string),
        "int64": number,
        "double": arrow.float64(),
        "bool": arrow.bool_(),
        "list<string>": arrow.list_(string),
        "map<string, int64>": arrow.map_(string, number),
    }


def schema(arrow: Arrow, metadata: dict[str, str]) -> Schema:
    """The schema of a table, in which the columns have their descriptions."""
    types = data_types(arrow)
    fields = [
        arrow.field(one.name, types[one.type], metadata={"description": one.summary}) for one in COLUMNS
    ]
    return arrow.schema(fields).with_metadata(metadata)
