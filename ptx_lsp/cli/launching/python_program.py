"""`ptx-run --python`: runs a Python program whose CUDA device is the executor."""

from __future__ import annotations

import builtins
import runpy
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import FrameType, ModuleType
from zipfile import is_zipfile

from ptx_lsp.cli.launching.debug_on_finding import debug_error
from ptx_lsp.cli.launching.run_options import Options
from ptx_lsp.cuda import LaunchReport, Settings, install, print_report
from ptx_lsp.executor.launching.launch import LIMIT
from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.executor.recording.archive import write_recording
from ptx_lsp.executor.recording.fields import RecordingError
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.executor.recording.recorder import LaunchKeeper
from ptx_lsp.isa.device_limits import limits_of
from ptx_lsp.lint.results.style import printable

_KERNEL_OPTIONS = {
    "FILE": "file", "--entry": "entry", "--grid": "grid", "--block": "block", "--cluster": "cluster",
    "--arg": "arg", "--launch": "launch", "--shared": "shared", "--out": "out", "--expect": "expect",
    "--profile": "profile", "--trace": "trace", "--trace-lines": "trace_lines",
    "--trace-threads": "trace_threads", "--cooperative": "cooperative", "--ptxas": "ptxas",
}
"""The options that describe one launch, and their names in `Options`."""
_DEVICE = Settings().device
_STARTERS = __name__, "runpy", "importlib._bootstrap", "importlib._bootstrap_external"
"""The modules whose frames come before those of the program."""


def run_program(options: Options) -> int:
    """Runs the program. Returns 1 if one of its kernels fails or has findings, 2 if it cannot be started.
    An exception of the program is reported as `python` does; SystemExit and KeyboardInterrupt are raised.
    """
    is_bad = False
    keeper = LaunchKeeper() if options.record is not None or options.debug_on_finding else None
    file = Path(options.record or "").absolute()

    def report(launch: LaunchReport) -> None:
        nonlocal is_bad
        is_bad |= launch.error is not None or any(one.severity == "error" for one in launch.findings)
        print_report(launch)

    try:
        program, *arguments = _program(options)
        if keeper is not None and not file.parent.is_dir():
            raise SpecError(f"`--record {options.record}`: there is no folder `{file.parent}`")
        driver = install(_settings(options), report)
        driver.launches.recorder = keeper
    except (SpecError, OSError, RuntimeError) as error:
        print(f"ptx-run: error: {printable(str(error))}", file=sys.stderr)
        return 2
    try:
        _run(program, arguments)
    except SystemExit as end:
        if end.code not in (None, 0) or not is_bad:
            raise
    except Exception as error:
        _report(error)
        return 1
    finally:
        if not driver.launches.count:
            print("ptx-run: note: the program has launched no CUDA kernel", file=sys.stderr)
        if keeper is not None and keeper.kept is not None:
            _record(keeper.kept, file, options)
    return int(is_bad)


def _record(recorded: RecordedLaunch, file: Path, options: Options) -> None:
    try:
        if options.record is not None:
            write_recording(recorded, file)
        if options.debug_on_finding:
            debug_error(recorded, options)
    except (RecordingError, OSError) as error:
        print(f"ptx-run: error: the launch cannot be recorded: {printable(str(error))}", file=sys.stderr)


def _settings(options: Options) -> Settings:
    return Settings(
        device=options.device or _DEVICE, check=options.check, weak=options.weak, benign=options.benign,
        seed=options.seed or 0, seeds=options.seeds or 0,
        limit=LIMIT if options.limit is None else options.limit,
        seconds=float("inf") if options.seconds is None else options.seconds,
        module_folder=options.save_ptx or "",
    )


def _program(options: Options) -> list[str]:
    """The program and its arguments. Raises SpecError for options that do not go with them."""
    values = vars(options)
    given = [name for name, field in _KERNEL_OPTIONS.items() if values.get(field) not in (None, [], False)]
    if options.format != "text":
        given.append("--format json")
    if given:
        raise SpecError(f"`{given[0]}` is for a kernel, and not allowed with `--python`")
    try:
        limits_of(options.device or _DEVICE)
    except ValueError as error:
        raise SpecError(f"`--device {options.device}`: {error}") from error
    if not options.python or options.python == ["-m"]:
        raise SpecError("`--python` requires a script, or `-m` and a module")
    if options.python[0] != "-m" and not Path(options.python[0]).exists():
        if options.python[0].startswith("-"):
            raise SpecError(f"`--python` requires a script, or `-m` and a module, not `{options.python[0]}`")
        raise SpecError(f"{options.python[0]}: no such file")
    return options.python


def _run(program: str, arguments: list[str]) -> None:
    """Runs a program as `python` does: a module, a folder or archive with `__main__.py`, or a script."""
    if program == "-m":
        sys.argv, sys.path[0] = arguments, str(Path.cwd())
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = [program, *arguments]
    path = Path(program)
    if path.is_dir() or is_zipfile(path):
        del sys.path[0]
        runpy.run_path(program, run_name="__main__")
    else:
        sys.path[0] = str(path.resolve().parent)
        _run_script(str(path.absolute()))


def _run_script(path: str) -> None:
    """Runs a script in a module `__main__` that stays, unlike that of `runpy`, until Python ends."""
    main, loader = ModuleType("__main__"), SourceFileLoader("__main__", path)
    vars(main).update(__file__=path, __loader__=loader, __builtins__=builtins)
    sys.modules["__main__"] = main
    exec(loader.source_to_code(loader.get_data(path), path), vars(main))


def _report(error: Exception) -> None:
    """Reports an exception without the frames of what started the program."""
    trace = error.__traceback__
    while trace is not None and _is_start(trace.tb_frame):
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _is_start(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") in _STARTERS
