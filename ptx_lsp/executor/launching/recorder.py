"""Keeps a launch, so that it can be repeated later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.errors import Finding

Findings = tuple[Finding, ...]
Report = Callable[[Sequence[Finding]], object]
"""Receives the findings of a launch that has ended without an error."""


class Recorder(Protocol):
    """Keeps launches."""

    path: str
    """The name of the PTX of the next launches."""

    def record(
        self, launch: PreparedLaunch, seed: int, *, is_repeated: bool
    ) -> AbstractContextManager[Report]:
        """Surrounds a launch, whose memory is as it begins; with `is_repeated` it runs in several orders, in
        other memory.
        """
        ...


def run_recorded(
    recorder: Recorder | None, launch: Callable[[], PreparedLaunch], seed: int, run: Callable[[], Findings],
    *, is_repeated: bool = False,
) -> Findings:
    """Runs a launch within a recorder, if there is one."""
    if recorder is None:
        return run()
    with recorder.record(launch(), seed, is_repeated=is_repeated) as report:
        findings = run()
        report(findings)
    return findings
