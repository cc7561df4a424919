"""Keeps launches while a program runs: the first that goes wrong, else the last."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.console import Console, to_standard_output
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.recording.archive import add_outcome, write_recording
from ptx_lsp.executor.recording.outcome import Outcome, outcome_of
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch, record_launch
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.module import Module

Report = Callable[[Sequence[Finding]], None]


def replayed(recorded: RecordedLaunch, console: Console = to_standard_output) -> Outcome:
    """Repeats a launch. Raises RecordingError if it is impossible."""
    launch = recorded.prepared(Module.parse(recorded.text), None, console)
    run = launch.run(Schedule(recorded.seed))
    return outcome_of(launch, recorded.seed, run.findings, run.error)


class LaunchKeeper:
    """Keeps a launch in memory. A `Recorder`."""

    def __init__(self) -> None:
        self.kept: RecordedLaunch | None = None
        self.path = ""
        """The name of the PTX of the next launches."""
        self._is_final = False

    @contextmanager
    def record(
        self, launch: PreparedLaunch, seed: int, *, is_repeated: bool = False
    ) -> Generator[Report]:
        """Surrounds a launch, whose memory is as it begins."""
        if self._is_final:
            yield lambda findings: None
            return
        self.kept = record_launch(launch, self.path, Outcome(seed=seed))
        found: list[Finding] = []
        error: BaseException | None = None
        self.begun()
        try:
            yield found.extend
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._end(launch, seed, found, error, is_repeated=is_repeated)

    def begun(self) -> None:
        """A launch begins; it is kept."""

    def ended(self, outcome: Outcome) -> None:
        """The launch has ended."""

    def _end(
        self, launch: PreparedLaunch, seed: int, found: Sequence[Finding], error: BaseException | None,
        *, is_repeated: bool,
    ) -> None:
        if isinstance(error, ExecutionError):
            found, seed = error.findings, error.seed
        wrong = [one for one in found if one.severity == "error"]
        if wrong and not isinstance(error, ExecutionError):
            seed = wrong[0].seed
        outcome = outcome_of(None if is_repeated else launch, seed, found, error)
        assert self.kept is not None
        self.kept = replace(self.kept, outcome=outcome)
        self._is_final = bool(wrong) or error is not None
        self.ended(outcome)


class RecordingFile(LaunchKeeper):
    """Keeps a launch in a file, from its beginning on: also if its process dies. A `Recorder`."""

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self.file = Path(path)

    def begun(self) -> None:
        assert self.kept is not None
        write_recording(self.kept, self.file)

    def ended(self, outcome: Outcome) -> None:
        add_outcome(self.file, outcome)
