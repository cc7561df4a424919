"""Findings and errors of launches as lines of text, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TypeAlias, cast

from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane

FindingValue: TypeAlias = "str | int | dict[str, list[int]] | list[dict[str, list[int]]] | None"
"""A field of a finding in JSON."""


_MOST_LINES = 6


def grouped(findings: Iterable[Finding]) -> list[tuple[Finding, list[Finding]]]:
    """The findings by their cause: the first of each, and those like it.

    Races have one cause if the same line writes the same variable, others if they are of the same kind and
    come from the same source line.
    """
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for at, one in enumerate(findings):
        cause = one.written_line or one.source or at
        groups.setdefault((one.kind, one.variable, cause), []).append(one)
    return [(first, others) for first, *others in groups.values()]


def finding_lines(finding: Finding, path: str, others: Sequence[Finding] = ()) -> Iterator[str]:
    """A finding in the PTX of `path`: what is wrong, and where and in which threads; `others` are like it."""
    place = f"{path}:{finding.line}" if finding.line else path
    yield f"{place}: {finding.severity}[{finding.kind}] {finding.message}"
    if finding.source:
        yield f"  at {finding.source}"
    for lane in finding.lanes[:1]:
        count = finding.count or len(finding.lanes)
        more = f", and {count - 1} more" if count > 1 else ""
        yield f"  block {lane.block}, thread {lane.thread}{more}"
    if finding.seed:
        yield f"  seed {finding.seed}"
    if others:
        lines = list(dict.fromkeys(one.line for one in others))
        listed = ", ".join(map(str, lines[:_MOST_LINES])) + (", ..." if len(lines) > _MOST_LINES else "")
        yield f"  {len(others)} more like this: line{'' if len(lines) == 1 else 's'} {listed}"


def of_error(error: ExecutionError) -> Finding:
    """The error that stopped a kernel, as a finding."""
    message = str(error).removeprefix(f"line {error.line}: ")
    source = error.findings[-1].source if error.findings else ""
    return Finding(error.kind, message, error.line, source, error.lanes, len(error.lanes))


def finding_json(finding: Finding) -> dict[str, FindingValue]:
    """A finding as a JSON object."""
    fields = cast("dict[str, FindingValue]", asdict(finding))
    fields["severity"] = finding.severity
    fields["lanes"] = [_lane(lane) for lane in finding.lanes]
    fields["other_lane"] = None if finding.other_lane is None else _lane(finding.other_lane)
    return fields


def _lane(lane: Lane) -> dict[str, list[int]]:
    return {"block": list(lane.block), "thread": list(lane.thread)}
