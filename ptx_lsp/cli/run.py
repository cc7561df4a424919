"""The command `ptx-run`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptx_lsp.cli.launching.run_options import Options, parse

if TYPE_CHECKING:
    from ptx_lsp.cli.launching.request import Request
    from ptx_lsp.cli.launching.run_report import Launched
    from ptx_lsp.executor.instrumentation.trace import Trace
    from ptx_lsp.executor.recording.recorder import LaunchKeeper

DONE, FAILED, TROUBLE = 0, 1, 2
"""The exit statuses: the kernel ran; it failed; the command line or a file is invalid."""

_WIDTH = 120
"""Columns of output to a file or another program."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    try:
        options = parse(argv)
    except SystemExit as done:  # --help, --version or a usage error, already reported
        return done.code if isinstance(done.code, int) else TROUBLE
    if options.explain is not None:
        return _explain(options.explain)
    try:
        from ptx_lsp.cli.launching.request import requests
        from ptx_lsp.executor.launching.specs import SpecError
        from ptx_lsp.executor.recording.fields import RecordingError
    except ImportError as error:
        from ptx_lsp.unbuilt import report_unbuilt

        return report_unbuilt("ptx-run", error)
    if options.python is not None:
        from ptx_lsp.cli.launching.python_program import run_program

        return run_program(options)
    try:
        if options.debug:
            from ptx_lsp.cli.launching.debugger import debug

            return debug(options)
        from ptx_lsp.cli.launching.recorded import recorder_of, replay

        status = replay(options)
        if status is not None:
            return status
        recorder = recorder_of(options)
        launched = [_launched(one, options, recorder) for one in requests(options)]
        _report(launched, options)
        if options.debug_on_finding and recorder is not None:
            from ptx_lsp.cli.launching.debug_on_finding import debug_error

            debug_error(recorder.kept, options)
    except (SpecError, RecordingError, OSError) as error:
        from ptx_lsp.lint.results.style import printable

        print(f"ptx-run: error: {printable(_reason(error))}", file=sys.stderr)
        return TROUBLE
    except MemoryError:
        print("ptx-run: error: not enough memory for the arguments", file=sys.stderr)
        return TROUBLE
    except KeyboardInterrupt:
        return FAILED
    return max((_status(one) for one in launched), default=DONE)


def _explain(name: str) -> int:
    """Prints the description of a kind of finding, or of anything that `ptx-lint --explain` describes."""
    from ptx_lsp.cli.arguments import UsageError
    from ptx_lsp.cli.explanations.explain import explain
    from ptx_lsp.cli.output import print_lines
    from ptx_lsp.lint.results.style import Style

    try:
        print_lines(explain(name, Style(sys.stdout.isatty() and "NO_COLOR" not in os.environ)))
    except UsageError as error:
        print(f"ptx-run: error: {error}", file=sys.stderr)
        return TROUBLE
    return DONE


def _reason(error: Exception) -> str:
    """The message of an error, without the number that the system has for it."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    reason = error.strerror or str(error)
    return f"`{os.fsdecode(error.filename)}`: {reason[:1].lower()}{reason[1:]}"


def _launched(request: Request, options: Options, recorder: LaunchKeeper | None) -> Launched:
    from ptx_lsp.cli.launching.buffers import argument, bindings, outputs, save
    from ptx_lsp.cli.launching.expectations import differences, expectations
    from ptx_lsp.cli.launching.measured import measured_registers
    from ptx_lsp.cli.launching.progress import progress
    from ptx_lsp.cli.launching.run_report import Launched
    from ptx_lsp.executor import ExecutionError, launch
    from ptx_lsp.executor.instrumentation.profile import Profile
    from ptx_lsp.executor.launching.launch import LIMIT
    from ptx_lsp.executor.machine.console import to_standard_output
    from ptx_lsp.executor.machine.observer import Observer

    arguments = [argument(spec, request.seed) for spec in request.specs]
    bind = bindings(request.bound, request.seed)
    wanted = outputs(request.out, request.names, arguments, bind)
    expected = expectations(options.expect, request.names, arguments, bind)
    trace, profile = _trace(request, options), Profile() if options.profile else None
    observers: list[Observer] = [one for one in (trace, profile) if one is not None]
    printed: list[str] = []
    registers = 0 if options.ptxas is None else measured_registers(request, options.ptxas)
    if recorder is not None:
        recorder.path = request.path
    try:
        with progress(request.entry, options) as advance:
            findings = launch(
                request.source, entry=request.entry, grid=request.grid, block=request.block, args=arguments,
                cluster=request.cluster or None, shared_bytes=request.shared_bytes, seed=request.seed,
                seeds=options.seeds or 0, jobs=options.jobs, check=options.check, weak=options.weak,
                benign=options.benign,
                limit=LIMIT if request.limit is None else request.limit,
                seconds=float("inf") if request.seconds is None else request.seconds,
                observers=observers, progress=advance, bind=bind, native=options.native,
                device=request.device, cooperative=request.cooperative, registers=registers,
                recorder=recorder,
                console=printed.append if options.format == "json" else to_standard_output,
            )
    except ExecutionError as error:
        text = "".join(printed)
        return Launched(request, error, error.findings, wanted, trace, profile, console=text)
    save(wanted)
    found = differences(expected, options.rtol, options.atol)
    return Launched(request, None, findings, wanted, trace, profile, tuple(found), "".join(printed))


def _trace(request: Request, options: Options) -> Trace | None:
    if options.trace is None and options.trace_lines is None and options.trace_threads is None:
        return None
    from ptx_lsp.executor.instrumentation.trace import Trace
    from ptx_lsp.executor.machine.errors import Lane

    limit = 1000 if options.trace is None else options.trace
    if options.trace_threads is None:
        return Trace(limit=limit, lines=options.trace_lines)
    lanes = [
        Lane(_index(block, request.grid), _index(thread, request.block))
        for block, thread in options.trace_threads
    ]
    return Trace(limit=limit, lines=options.trace_lines, lanes=lanes)


def _index(flat: int, sizes: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, _ = (*sizes, 1, 1)[:3]
    return flat % x, flat // x % y, flat // (x * y)


def _report(launched: list[Launched], options: Options) -> None:
    from rich.console import Console

    from ptx_lsp.cli.launching.run_report import as_json, print_text

    if options.format == "json":
        import json

        found = [as_json(one) for one in launched]
        print(json.dumps(found[0] if len(found) == 1 else found, indent=2, allow_nan=False))
        return
    out, err = Console(highlight=False), Console(stderr=True, highlight=False)
    if not out.is_terminal:
        out.width = _WIDTH
    for one in launched:
        if len(launched) > 1:
            out.print(f"{one.request.entry} (line {one.request.line})", style="bold")
        print_text(one, out, err)


def _status(launched: Launched) -> int:
    if launched.error is not None and launched.error.kind == "launch":
        return TROUBLE
    return DONE if launched.is_good else FAILED


if __name__ == "__main__":
    sys.exit(main())
