"""The report of `ptx-run` on a launch: as text with tables, or as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias, cast

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ptx_lsp.cli.launching.buffers import Output
from ptx_lsp.cli.launching.expectations import Difference
from ptx_lsp.cli.launching.request import Request
from ptx_lsp.demangler import readable
from ptx_lsp.executor import ExecutionError, Finding
from ptx_lsp.executor.instrumentation.profile import LineProfile, Profile
from ptx_lsp.executor.instrumentation.trace import Event, Trace
from ptx_lsp.executor.launching.finding_text import finding_json, finding_lines, grouped, of_error
from ptx_lsp.lint.results.style import at_line_start

Json: TypeAlias = (
    "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
)


@dataclass(frozen=True, eq=False)
class Launched:
    """A launch and its result."""

    request: Request
    error: ExecutionError | None
    findings: tuple[Finding, ...]
    outputs: list[Output]
    trace: Trace | None = None
    profile: Profile | None = None
    differences: tuple[Difference, ...] = ()
    """The buffers that differ from what `--expect` names."""
    console: str = ""
    """The output of the kernel, if it is part of the report."""

    @property
    def is_good(self) -> bool:
        if self.error is not None or self.differences:
            return False
        return all(one.severity == "note" for one in self.findings)


def print_text(launched: Launched, out: Console, err: Console) -> None:
    """Buffers and tables go to `out`, errors to `err`."""
    for one in launched.outputs:
        if not one.path and launched.error is None:
            out.print(Text(one.text()), soft_wrap=True)
    if launched.trace is not None:
        out.print(_trace(launched.trace), soft_wrap=True)
    if launched.profile is not None:
        for table in _profile(launched.profile):
            out.print(table)
    path = launched.request.path
    findings = launched.findings
    if not findings and launched.error is not None:
        findings = (of_error(launched.error),)
    lines = [line for one, others in grouped(findings) for line in finding_lines(one, path, others)]
    for line in readable(lines):
        err.print(Text(at_line_start(line)), soft_wrap=True)
    for difference in launched.differences:
        err.print(Text(at_line_start(f"{path}: error[expect] {difference.message}")), soft_wrap=True)


def as_json(launched: Launched) -> Json:
    """The report as JSON."""
    request, error = launched.request, launched.error
    result: dict[str, Json] = {
        "file": request.path,
        "entry": request.entry,
        "grid": list(request.grid),
        "block": list(request.block),
        "cluster": list(request.cluster) or None,
        "status": "failed" if error is not None else "done",
        "error": None if error is None else finding_json(of_error(error)),
        "findings": [finding_json(one) for one in launched.findings],
        "console": launched.console,
        "outputs": [_output_json(one) for one in launched.outputs] if error is None else [],
    }
    if launched.differences:
        result["differences"] = [_difference_json(one) for one in launched.differences]
    if launched.profile is not None:
        result["profile"] = _profile_json(launched.profile)
    if launched.trace is not None:
        result["trace"] = {
            "events": [_event_json(one) for one in launched.trace.events],
            "dropped": launched.trace.dropped,
        }
    return result


# -- buffers ------------------------------------------------------------------------------------


def _output_json(output: Output) -> Json:
    values = None if output.path else [_number(one) for one in output.array.reshape(-1).tolist()]
    return {
        "argument": output.number, "name": output.name, "type": str(output.array.dtype),
        "shape": list(output.array.shape), "values": values, "file": output.path or None,
    }


def _difference_json(one: Difference) -> Json:
    fields = cast("dict[str, Json]", asdict(one))
    fields["largest"] = _number(one.largest)
    return fields


def _number(value: object) -> Json:
    """JSON has no infinities and NaNs: they are texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | bool) else str(value)


# -- traces -------------------------------------------------------------------------------------


def _trace(trace: Trace) -> Table:
    title = "Trace" + (f" ({trace.dropped} more events)" if trace.dropped else "")
    table = Table("#", "line", "block", "thread", "instruction", "reads", "writes", title=title)
    for event in trace.events:
        table.add_row(
            str(event.number), str(event.line), _index(event.lane.block), _index(event.lane.thread),
            Text(event.text), Text((_registers(event.reads) + _address(event) + _fields(event)).strip()),
            Text(_registers(event.writes)),
        )
    return table


def _index(index: tuple[int, int, int]) -> str:
    x, y, z = index
    return str(x) if y == z == 0 else f"{x},{y},{z}"


def _registers(values: Iterable[tuple[str, int]]) -> str:
    return " ".join(f"{name}={value:#x}" for name, value in values)


def _fields(event: Event) -> str:
    return f" ({event.fields})" if event.fields else ""


def _address(event: Event) -> str:
    return "" if event.address is None else f" [{event.space} {event.address:#x}]"


def _event_json(event: Event) -> Json:
    return {
        "number": event.number, "line": event.line, "text": event.text,
        "block": list(event.lane.block), "thread": list(event.lane.thread),
        "reads": dict(event.reads), "writes": dict(event.writes),
        "space": event.space, "use": event.use, "address": event.address,
        **({"fields": event.fields} if event.fields else {}),
    }


# -- profiles -----------------------------------------------------------------------------------


def _profile(profile: Profile) -> Iterator[Table]:
    lines = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), title=f"Profile: {profile.instructions} thread-instructions, "
        f"{profile.active_percent:.1f} % of the lanes of issuing warps active",
    )
    lines.add_column("line", justify="right", min_width=4)
    lines.add_column("instruction", no_wrap=True, min_width=16)
    for name in ("issues", "lanes", "active %", "sectors", "bytes/sector", "passes", "conflicts"):
        lines.add_column(name, justify="right", min_width=min(7, len(name)))
    for one in sorted(profile.lines.values(), key=lambda one: one.line):
        lines.add_row(
            str(one.line), Text(one.text), str(one.issues), str(one.lanes), f"{one.active_percent:.1f}",
            *(_memory(one)),
        )
    yield lines
    opcodes = Table("opcode", title="By opcode", box=SIMPLE_HEAD)
    opcodes.add_column("count", justify="right")
    opcodes.add_column("%", justify="right")
    for name, count in sorted(profile.opcodes.items(), key=lambda one: (-one[1], one[0])):
        opcodes.add_row(name, str(count), f"{100 * count / max(1, profile.instructions):.1f}")
    yield opcodes


def _memory(one: LineProfile) -> tuple[str, str, str, str]:
    if one.passes:
        return "", "", str(one.passes), str(one.conflicts)
    if one.sectors:
        return str(one.sectors), f"{one.bytes / one.sectors:.1f}", "", ""
    return "", "", "", ""


def _profile_json(profile: Profile) -> Json:
    lines: list[Json] = [
        cast("dict[str, Json]", asdict(one)) | {"active_percent": round(one.active_percent, 3)}
        for one in sorted(profile.lines.values(), key=lambda one: one.line)
    ]
    return {
        "instructions": profile.instructions, "issues": profile.issues,
        "active_percent": round(profile.active_percent, 3), "lines": lines,
        "opcodes": dict(sorted(profile.opcodes.items())),
    }

