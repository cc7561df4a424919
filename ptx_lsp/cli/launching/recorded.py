"""Launches in files: `--record`, and recordings that are run again."""

from __future__ import annotations

import sys
from pathlib import Path

from ptx_lsp.cli.launching.run_options import Options
from ptx_lsp.executor.launching.finding_text import finding_lines
from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.executor.recording.archive import is_recording, read_recording
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.executor.recording.recorder import LaunchKeeper, RecordingFile, replayed
from ptx_lsp.lint.results.style import at_line_start, printable

_OF_A_LAUNCH = {
    "--entry": "entry", "--grid": "grid", "--block": "block", "--cluster": "cluster", "--arg": "arg",
    "--launch": "launch", "--shared": "shared", "--device": "device", "--seed": "seed", "--seeds": "seeds",
    "--out": "out", "--expect": "expect", "--record": "record", "--trace": "trace", "--profile": "profile",
    "--limit": "limit", "--weak": "weak", "--benign": "benign",
}
"""The options that a recording has values for, or that need the inputs, and their names in `Options`."""


def recorder_of(options: Options) -> LaunchKeeper | None:
    """Keeps launches as the options say."""
    if options.record is not None:
        return RecordingFile(options.record)
    return LaunchKeeper() if options.debug_on_finding else None


def recording_of(options: Options) -> RecordedLaunch | None:
    """The recording that the options name; None if they name none. Raises SpecError, RecordingError and
    OSError.
    """
    if options.file is None or not is_recording(Path(options.file)):
        return None
    given = [option for option, name in _OF_A_LAUNCH.items() if getattr(options, name)]
    if given:
        raise SpecError(f"`{given[0]}` cannot be combined with a recording, which has its own launch")
    return read_recording(Path(options.file))


def replay(options: Options) -> int | None:
    """Runs the recording that the options name, and reports errors and whether the run differs from the
    recorded one; None if they name none. Raises SpecError, RecordingError and OSError.
    """
    recorded = recording_of(options)
    if recorded is None:
        return None
    outcome = replayed(recorded)
    findings = outcome.findings or tuple(one for one in (outcome.error,) if one is not None)
    for finding in findings:
        for line in finding_lines(finding, recorded.path):
            print(at_line_start(line), file=sys.stderr)
    difference = recorded.outcome.difference(outcome)
    if difference:
        text = f"the replay differs from the run that {recorded.producer} recorded: {difference}"
        print(printable(f"ptx-run: {text}"), file=sys.stderr)
    return int(bool(difference) or outcome.problem is not None)
