"""The command `ptx-reduce`."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptx_lsp.cli.reducing.reduce_options import Options, parse

if TYPE_CHECKING:
    from ptx_lsp.reduce.conditions import Assembler, Condition
    from ptx_lsp.reduce.examination import Examination
    from ptx_lsp.reduce.legality import Legality
    from ptx_lsp.reduce.processes import Outcome
    from ptx_lsp.reduce.verdicts import Verdicts

DONE, FAILED, TROUBLE = 0, 1, 2
_LEAST_TIMEOUT_S: Final = 10.0
_JUDGING_S: Final = 600.0


class ReductionError(Exception):
    """The reduction cannot begin. `status` is the exit status."""

    def __init__(self, message: str, status: int = TROUBLE) -> None:
        super().__init__(message)
        self.status = status


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    try:
        options = parse(argv)
    except SystemExit as done:  # --help, --version or a usage error, already reported
        return done.code if isinstance(done.code, int) else TROUBLE
    try:
        import_module("ptx_lsp.reduce.reducer")
    except ImportError as error:
        from ptx_lsp.unbuilt import report_unbuilt

        return report_unbuilt("ptx-reduce", error)
    from ptx_lsp.parallel.jobs import JobsError
    from ptx_lsp.ptxas import PtxasError

    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # as Ctrl-C: ends what runs, keeps the best
    try:
        return _reduce(options)
    except ReductionError as error:
        return _fail(str(error), error.status)
    except (PtxasError, JobsError) as error:
        return _fail(str(error))
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        return _fail(f"{name}{error.strerror or error}")
    except KeyboardInterrupt:
        return FAILED


def _reduce(options: Options) -> int:
    from ptx_lsp.cli.reducing.reduction_progress import ProgressLine, instruction_count
    from ptx_lsp.reduce.examiner import Examiner
    from ptx_lsp.reduce.reducer import Reducer
    from ptx_lsp.reduce.verdicts import digest

    data = _read(options.file)
    output = _output(options)
    examine, legality, spent = _prepared(data, options)
    verdicts = _verdicts(data, options, output, examine)
    start = time.monotonic()
    is_finished = False
    try:
        with (
            _executor(options.jobs) as (executor, jobs),
            Examiner(examine, verdicts, jobs, executor) as examiner,
            ProgressLine(options.quiet) as line,
        ):
            verdicts.put(digest(data), True)
            _write(output, data)
            reducer = Reducer(
                data,
                examiner,
                legality,
                improved=lambda text: _write(output, text),
                progress=line.show,
            )
            try:
                result = reducer.run()
            except KeyboardInterrupt:
                line.clear()
                folder = _state_folder(options, output)
                print(
                    f"ptx-reduce: interrupted; `{output}` has {len(reducer.program.data)} bytes. "
                    f"Run the same command to go on (`{folder}`).",
                    file=sys.stderr,
                )
                return FAILED
            is_finished = True
            tests, steps = examiner.tests + 1, reducer.steps
        is_certain = examine(result)
    finally:
        verdicts.close(remove=is_finished and options.state is None)
    seconds = time.monotonic() - start + spent
    print(
        f"{output}: {len(result)} bytes (of {len(data)}), {_instructions(instruction_count(result))} "
        f"(of {instruction_count(data)}); {tests} tests, {steps} steps, {seconds:.1f} s"
    )
    if not is_certain:
        print(
            "ptx-reduce: warning: the condition does not hold for the result when it is tested again: the "
            "command is not reliable, or has a time limit",
            file=sys.stderr,
        )
        return FAILED
    return DONE


def _prepared(data: bytes, options: Options) -> tuple[Examination, Legality | None, float]:
    """How candidates are examined, and the seconds that the first run took. Raises ReductionError."""
    from ptx_lsp import ptxas
    from ptx_lsp.reduce.examination import Examination
    from ptx_lsp.reduce.legality import Legality, errors, rejection
    from ptx_lsp.reduce.program import Program

    found = ptxas.find(Path(options.ptxas) if options.ptxas else None)
    if found is not None:
        found = found.absolute()
    condition = _condition(data, options, found)
    begin = time.monotonic()
    holds = Examination(condition, _name(options), options.timeout)(data)
    spent = time.monotonic() - begin
    if not holds:
        raise ReductionError(
            f"`{options.file}`: the condition does not hold for the file itself", FAILED
        )
    timeout = options.timeout or max(_LEAST_TIMEOUT_S, 10 * spent)
    if options.invalid:
        return Examination(condition, _name(options), timeout), None, spent
    allowed = errors(Program(data))
    rejected = rejection(data, found, _JUDGING_S) if found is not None else None
    who = "ptxas"
    if found is None and allowed:
        who, rejected = "ptx-lint", next(iter(allowed.values()))
    is_about_errors = options.finding is not None or options.message is not None
    if rejected is not None and not is_about_errors:
        raise ReductionError(
            f"`{options.file}`: {who} rejects the file itself ({rejected}); --invalid reduces it nevertheless"
        )
    judge = found if rejected is None else None
    legality = (
        Legality(frozenset(allowed)) if rejected is None or options.finding is not None else None
    )
    return Examination(condition, _name(options), timeout, judge), legality, spent


def _condition(data: bytes, options: Options, found: Path | None) -> Condition:
    from ptx_lsp.reduce.conditions import Command, Crash, Finding, Message, crash_signature

    if options.command is not None:
        return Command(options.command)
    if options.finding is not None:
        finding = Finding(options.finding)
        if not finding.rules:
            raise ReductionError(
                f"--finding {options.finding}: no such rule (`ptx-lint --rules` lists them)"
            )
        return finding
    assembler = _assembler(data, options, found)
    if options.message is not None:
        return Message(assembler, options.message)
    signature = crash_signature(_outcome(assembler, data, options))
    if signature is None:
        raise ReductionError(f"`{options.file}`: ptxas does not crash", FAILED)
    return Crash(assembler, signature)


def _assembler(data: bytes, options: Options, found: Path | None) -> Assembler:
    from ptx_lsp import ptxas
    from ptx_lsp.reduce.conditions import Assembler

    if found is None:
        raise ReductionError("no ptxas was found: --ptxas PATH, or pip install 'ptx-lsp[ptxas]'")
    try:
        given = tuple(shlex.split(options.ptxas_options))
    except ValueError as error:
        raise ReductionError(f"--ptxas-options: {error}") from error
    if not any(one.startswith(("-arch", "--gpu-name", "-gpu-name")) for one in given):
        given = ("-arch", ptxas.architecture(data, found), *given)
    return Assembler(str(found), given)


def _outcome(assembler: Assembler, data: bytes, options: Options) -> Outcome:
    import tempfile

    from ptx_lsp.reduce.processes import Stop

    with tempfile.TemporaryDirectory(prefix="ptx-reduce-") as folder:
        path = Path(folder, _name(options))
        path.write_bytes(data)
        return assembler.run(path, options.timeout, Stop())


def _verdicts(data: bytes, options: Options, output: Path, examine: Examination) -> Verdicts:
    """The verdicts of an interrupted reduction of the same text, with the same condition."""
    from ptx_lsp import __version__
    from ptx_lsp.reduce.verdicts import Verdicts, digest

    parts = (
        __version__,
        digest(data),
        examine.condition.identity,
        str(examine.ptxas),
        str(options.invalid),
    )
    found = Verdicts(_state_folder(options, output), "\n".join(parts))
    if found.count:
        print(f"ptx-reduce: going on with {found.count} verdicts", file=sys.stderr)
    return found


def _state_folder(options: Options, output: Path) -> Path:
    return Path(options.state) if options.state else output.with_name(f"{output.name}.state")


def _read(path: str) -> bytes:
    """The text of a file, or of a member of a container. Raises ReductionError and OSError."""
    from ptx_lsp.cli.inputs import InputError, read
    from ptx_lsp.cli.members import addressed, members

    if Path(path).is_file() or "!" not in path:
        data = Path(path).read_bytes()
        found = members(path)
        if found is None:
            return data
    else:
        found = addressed(path)
    if len(found) != 1:
        listed = ", ".join(f"`{one.path}`" for one in found) or "there are none"
        raise ReductionError(f"`{path}` is a container, name one member: {listed}")
    try:
        return read(found[0])
    except InputError as error:
        raise ReductionError(f"`{path}`: {error}") from error


def _output(options: Options) -> Path:
    is_file = Path(options.file).is_file()
    if options.in_place:
        if options.output is not None or not is_file:
            raise ReductionError("--in-place requires a file, and no --output")
        return Path(options.file)
    if options.output is None:
        name = (
            options.file if is_file else Path(options.file).name.replace("!", ".").replace(":", ".")
        )
        output = Path(f"{name.removesuffix('.ptx')}.reduced.ptx")
    else:
        output = Path(options.output)
    if is_file and output.exists() and output.samefile(options.file):
        raise ReductionError("--output is the file itself: --in-place replaces it")
    if output.exists() and not output.is_file():
        raise ReductionError(f"`{output}` is not a file, and cannot be replaced by the result")
    if not output.parent.is_dir():
        raise ReductionError(f"`{output}`: the folder does not exist")
    return output


def _name(options: Options) -> str:
    """The file name of candidates."""
    path = Path(options.file)
    return path.name if path.is_file() else "candidate.ptx"


def _write(output: Path, data: bytes) -> None:
    """Replaces the output at once, so that it is complete at any time. A link stays one."""
    place = output.resolve()
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        try:
            beside.write_bytes(data)
            if place.exists():
                shutil.copymode(place, beside)
            beside.replace(place)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(output)) from error


@contextmanager
def _executor(jobs: int | str) -> Generator[tuple[Executor | None, int]]:
    """The executor of a cluster and the number of its workers; None for threads of this process."""
    if isinstance(jobs, int):
        yield None, jobs
        return
    from ptx_lsp.parallel.executors import executor
    from ptx_lsp.parallel.ordered import workers_of

    with executor(jobs) as found:
        yield found, workers_of(found) or 1


def _instructions(count: int) -> str:
    return f"{count} instruction{'' if count == 1 else 's'}"


def _fail(message: str, status: int = TROUBLE) -> int:
    from ptx_lsp.lint.results.style import printable

    print(f"ptx-reduce: error: {printable(message)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
