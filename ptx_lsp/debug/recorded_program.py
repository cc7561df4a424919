"""The program of a recorded launch (`executor/recording`), which is debugged from its first error on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ptx_lsp import __version__
from ptx_lsp.debug.breakpoints import Breakpoints
from ptx_lsp.debug.goals import AtEvent, Goal, Stop
from ptx_lsp.debug.program import Program, Settings
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.errors import Finding
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.recording.archive import read_recording
from ptx_lsp.executor.recording.fields import RecordingError
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.model.module import Module

Print = Callable[[str], None]
_MOST_UTF8 = 4
"""Bytes of a character."""


def recorded_program(path: Path, *, check: bool = False) -> RecordedProgram:
    """The program in a file that `ptx-run --record` has written, with the checks too if `check`. Raises
    RequestError.
    """
    try:
        return program_of(read_recording(path), check=check)
    except OSError as error:
        raise RequestError(f"cannot read `{path}`: {error.strerror or error}") from None
    except RecordingError as error:
        raise RequestError(f"`{path}`: {error}") from None


def program_of(one: RecordedLaunch, *, check: bool = False) -> RecordedProgram:
    """The program of a recorded launch."""
    where = Path(one.path or "kernel.ptx")
    settings = Settings(
        where, one.entry, one.grid, one.block, one.cluster, one.shared_bytes, seed=one.seed,
        is_checked=one.is_checked or check, limit=one.limit, device=one.device,
        cooperative=one.is_cooperative,
    )
    made = RecordedProgram(where, Module.parse(one.text), settings, recorded=one)
    texts = {str(where): one.text, **{str(made.beside(name)): text for name, text in one.sources.items()}}
    made.held = {path: text for path, text in texts.items() if not _has(Path(path), text)}
    return made


def _has(path: Path, text: str) -> bool:
    """Whether the text of a file is this one, so that the file can be shown. A recording may name any path:
    what is no file, such as a device, or has another size is not read.
    """
    try:
        if not path.is_file() or not len(text) - 1 <= path.stat().st_size <= _MOST_UTF8 * len(text):
            return False
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n") == text.rstrip("\n")
    except (OSError, ValueError):
        return False


@dataclass
class RecordedProgram(Program):
    """A recorded launch. `path` is that of its PTX where it was recorded."""

    recorded: RecordedLaunch | None = None

    def prepared(self, observer: Observer | None, console: Callable[[str], None]) -> PreparedLaunch:
        """The launch. Raises RequestError if it is impossible."""
        assert self.recorded is not None
        try:
            return self.recorded.prepared(self.module, observer, console, check=self.settings.is_checked)
        except RecordingError as error:
            raise RequestError(str(error)) from None

    def begin(self, recording: Recording, goal: Goal, report: Print) -> Stop:
        """Runs to the first error, or to the first instruction if the recorded run had none. Breakpoints are
        for what comes after; another goal is reached as always.
        """
        assert self.recorded is not None
        outcome = self.recorded.outcome
        if not isinstance(goal, Breakpoints) or goal.is_off:
            return recording.go_on(goal)
        if outcome.problem is None:
            return recording.go_on(AtEvent(1, "entry"))
        stop = recording.go_on(_ToError())
        if stop.reason == "pause":
            return stop
        if not self._is_checked_more:
            self._report(outcome.problem_difference(stop.problem), report)
        return recording.go_to(1, "entry") if stop.reason == "end" else stop

    def ended(self, recording: Recording, report: Print) -> None:
        """The run has ended: reports whether memory is as the recorded run left it."""
        assert self.recorded is not None
        if not recording.is_changed:
            self._report(self.recorded.outcome.memory_difference(recording.launch), report)

    @property
    def _is_checked_more(self) -> bool:
        return self.recorded is not None and self.settings.is_checked and not self.recorded.is_checked

    def _report(self, difference: str, report: Print) -> None:
        if difference and self.recorded is not None:
            versions = f"it was made by {self.recorded.producer}, this is ptx-lsp {__version__}"
            report(f"The replay of this recording differs: {difference} ({versions}).\n")


@dataclass
class _ToError(Goal):
    """Stops at errors only."""

    @property
    def can_stop(self) -> bool:
        return False

    def ignores(self, finding: Finding) -> bool:
        return finding.severity == "note"
