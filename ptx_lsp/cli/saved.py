"""Reads a report that `ptx-lint --format json` wrote earlier, as far as a comparison needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict, cast

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.report import (
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
    """The files in a report. Raises UsageError where it is none."""
    try:
        whole = cast(Whole, json.loads(Path(path).read_text(encoding="utf-8")))
        if whole["tool"]["name"] != "ptx-lint":
            raise ValueError
        return [_file(one) for one in whole["files"]]
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(f"`{path}` is no report of `ptx-lint --format json`") from error


class Tool(TypedDict):
    name: str


class FindingRow(TypedDict):
    rule: str
    code: str
    severity: Severity
    message: str
    function: str | None


class RegistersRow(TypedDict):
    estimate: int | None
    low: int | None
    high: int | None
    peak_live: int | None
    measured: int | None
    limit: int | None


class OccupancyRow(TypedDict):
    percent: float | None
    registers_source: RegistersSource | None


class BranchesRow(TypedDict):
    uniform: int | None
    divergent: int | None
    unknown: int | None


class MeasuredRow(TypedDict):
    shared_bytes: int | None
    stack_bytes: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None


class KernelRow(TypedDict):
    name: str
    line: int
    target: str | None
    registers: RegistersRow
    shared_bytes: int | None
    local_bytes: int | None
    threads_per_block: int | None
    occupancy: OccupancyRow
    branches: BranchesRow
    measured: MeasuredRow | None
    instructions: dict[str, int]


class FileRow(TypedDict):
    path: str
    diagnostics: list[FindingRow]
    kernels: list[KernelRow]


class Whole(TypedDict):
    tool: Tool
    files: list[FileRow]


def _file(row: FileRow) -> FileReport:
    return FileReport(
        row["path"],
        diagnostics=tuple(_finding(one) for one in row["diagnostics"]),
        kernels=tuple(_kernel(one) for one in row["kernels"]),
    )


_NOWHERE = Mark(Point(1, 1), Point(1, 1), Excerpt(1, "", more=False))


def _finding(row: FindingRow) -> Reported:
    return Reported(
        row["rule"], row["code"], row["severity"], row["message"], _NOWHERE,
        function=row["function"] or "",
    )


def _kernel(row: KernelRow) -> Kernel:
    occupancy, measured = row["occupancy"], row["measured"]
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
