"""`ptx-run --debug-on-finding`."""

from __future__ import annotations

import sys
from pathlib import Path

from ptx_lsp.cli.launching.debugger import debug_recorded
from ptx_lsp.cli.launching.run_options import Options
from ptx_lsp.debug.terminal.session import is_interactive
from ptx_lsp.executor.recording.archive import SUFFIX, write_recording
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.lint.results.style import printable


def debug_error(recorded: RecordedLaunch | None, options: Options) -> None:
    """Debugs a launch that went wrong, at the terminal. If nobody is there, records it and says how to debug
    it. Raises SpecError, OSError and RecordingError.
    """
    if recorded is None or recorded.outcome.problem is None:
        return
    if is_interactive():
        debug_recorded(recorded)
        return
    file = Path(options.record) if options.record is not None else _unused(recorded.entry)
    if options.record is None:
        write_recording(recorded, file)
    text = f"`{recorded.entry}` is recorded: `ptx-run --debug {file}` opens it at the error"
    print(printable(f"ptx-run: {text}"), file=sys.stderr)


def _unused(entry: str) -> Path:
    """A name in the current folder that no file has."""
    name = "".join(one if one.isalnum() or one in "_$" else "-" for one in entry)[:_MOST_LETTERS]
    file, number = Path(f"{name}{SUFFIX}"), 2
    while file.exists():
        file, number = Path(f"{name}-{number}{SUFFIX}"), number + 1
    return file


_MOST_LETTERS = 60
