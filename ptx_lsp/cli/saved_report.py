"""Reads a report written by `ptx-lint --format json`, as far as a comparison needs it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NotRequired, TypedDict, cast

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.report import (
    Branches,
    Excerpt,
    FileReport,
    Kernel,
    Mark,
    Measured,
    Occupancy,
    Point,
    Registers,
    RegistersSource,
    Reported,
)


def read(path: str) -> list[FileReport]:
    """The files in a report. Raises UsageError if it is not a report."""
    try:
        whole = cast(_Whole, json.loads(Path(path).read_text(encoding="utf-8")))
        if whole["tool"]["name"] != "ptx-lint":
            raise ValueError
        return [_file(one) for one in whole["files"]]
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"`{path}` is not a report of `ptx-lint --format json`") from error


class _Tool(TypedDict):
    name: str


class _FindingRow(TypedDict):
    rule: str
    code: str
    severity: Severity
    message: str
    function: str | None


class _RegistersRow(TypedDict):
    estimate: int | None
    low: int | None
    high: int | None
    peak_live: int | None
    measured: int | None
    limit: int | None


class _OccupancyRow(TypedDict):
    percent: float | None
    registers_source: RegistersSource | None


class _BranchesRow(TypedDict):
    uniform: int | None
    divergent: int | None
    unknown: int | None


class _MeasuredRow(TypedDict):
    shared_bytes: int | None
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None


class _KernelRow(TypedDict):
    name: str
    line: int
    target: str | None
    registers: _RegistersRow
    shared_bytes: int | None
    local_bytes: int | None
    threads_per_block: int | None
    occupancy: _OccupancyRow
    branches: _BranchesRow
    measured: _MeasuredRow | None
    instructions: dict[str, int]


class _FileRow(TypedDict):
    path: str
    container: NotRequired[str]
    diagnostics: list[_FindingRow]
    kernels: list[_KernelRow]


class _Whole(TypedDict):
    tool: _Tool
    files: list[_FileRow]


def _file(row: _FileRow) -> FileReport:
    return FileReport(
        row["path"],
        diagnostics=tuple(_finding(one) for one in row["diagnostics"]),
        kernels=tuple(_kernel(one) for one in row["kernels"]),
        container=row.get("container"),
    )


_NOWHERE = Mark(Point(1, 1), Point(1, 1), Excerpt(1, "", more=False))


def _finding(row: _FindingRow) -> Reported:
    return Reported(
        row["rule"], row["code"], row["severity"], row["message"], _NOWHERE,
        function=row["function"] or "",
    )


def _kernel(row: _KernelRow) -> Kernel:
    occupancy, measured = row["occupancy"], row["measured"]
    own = (row["shared_bytes"], row["local_bytes"], row["threads_per_block"], occupancy["percent"])
    rows = (row["registers"], row["branches"], measured or dict[str, int](), row["instructions"])
    _numbers((*own, *(value for one in rows for value in one.values())))
    return Kernel(
        row["name"], row["line"], row["target"],
        Registers(**row["registers"]),
        row["shared_bytes"],
        row["local_bytes"],
        threads_per_block=row["threads_per_block"],
        occupancy=Occupancy(
            percent=occupancy["percent"], registers_source=occupancy["registers_source"]
        ),
        branches=Branches(**row["branches"]),
        measured=Measured(**measured) if measured is not None else None,
        instructions=tuple(row["instructions"].items()),
    )


def _numbers(values: Iterable[object]) -> None:
    """Raises TypeError for what cannot be a figure."""
    for value in values:
        if value is not None and not isinstance(value, int | float):
            raise TypeError(value)
