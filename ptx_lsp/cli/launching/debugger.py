"""`ptx-run --debug`: the debugger at the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from ptx_lsp.cli.launching.recorded import recording_of
from ptx_lsp.cli.launching.request import Request, requests
from ptx_lsp.cli.launching.run_options import Options
from ptx_lsp.debug.program import Program, Settings
from ptx_lsp.debug.recorded_program import program_of
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.terminal.session import serve
from ptx_lsp.executor.launching.launch import LIMIT
from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.lint.results.style import printable
from ptx_lsp.model.module import Module

_OTHER_OPTIONS = {
    "--seeds": "seeds", "--out": "out", "--expect": "expect", "--weak": "weak", "--benign": "benign",
    "--profile": "profile", "--trace": "trace", "--trace-lines": "trace_lines",
    "--trace-threads": "trace_threads", "--ptxas": "ptxas", "--seconds": "seconds", "--record": "record",
}
"""The options that have no meaning while a kernel is debugged, and their names in `Options`."""


def debug(options: Options) -> int:
    """Debugs a kernel, or a recording from its error on. Returns 1 if it fails or has findings. Raises
    SpecError, RecordingError and OSError as a run does.
    """
    for option, name in _OTHER_OPTIONS.items():
        if getattr(options, name):
            raise SpecError(f"`{option}` cannot be combined with `--debug`")
    recorded = recording_of(options)
    if recorded is not None:
        return debug_recorded(recorded, check=options.check)
    request, *others = requests(options)
    if others:
        _notice(f"debugging `{request.entry}` of line {request.line}; choose another kernel with --entry")
    try:
        return 0 if serve(_program(request, options), _notice) else 1
    except RequestError as error:
        raise SpecError(str(error)) from None


def debug_recorded(recorded: RecordedLaunch, *, check: bool = False) -> int:
    """Debugs a recorded launch from its error on. Raises SpecError."""
    try:
        return 0 if serve(program_of(recorded, check=check), _notice, "run") else 1
    except RequestError as error:
        raise SpecError(str(error)) from None


def _program(request: Request, options: Options) -> Program:
    path = Path(request.path)
    settings = Settings(
        path, request.entry, request.grid, request.block, request.cluster, request.shared_bytes,
        request.specs, request.bound, request.seed, options.check, folder=Path(),
        limit=LIMIT if request.limit is None else request.limit, device=request.device,
        cooperative=request.cooperative,
    )
    return Program(path, Module.parse(request.source), settings)


def _notice(text: str) -> None:
    print(f"ptx-run: {printable(text)}", file=sys.stderr)
