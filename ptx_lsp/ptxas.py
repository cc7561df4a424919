"""NVIDIA's ptxas: finds it, runs it, and reads its messages and its resource report.

The output formats were determined by running versions 12.9, 13.0 and 13.5; see docs/ptxas.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["fatal", "error", "warning", "info"]

INPUT = "input.ptx"
"""The name of the text in the folder in which ptxas runs."""
_NAME = "ptxas.exe" if os.name == "nt" else "ptxas"
_PACKAGES = ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc-cu12")
_ROOTS = ("CUDA_HOME", "CUDA_PATH")
# `<macro util>, line 2` refers to a text inside ptxas, not to the user's.
_MESSAGE = re.compile(
    r"ptxas (?:<[^>]*>, line \d+; |.*, line (?P<line>\d+); )?"
    r"(?P<severity>fatal|error|warning|info)\s*: ?(?P<text>.*)"
)
_LINE_IN_TEXT = re.compile(r"Unexpected (?:non-ASCII character|EOF) encountered on line (\d+)")
_ABORTED = "Ptx assembly aborted due to errors"
_COMPILING = re.compile(r"Compiling entry function '([^']*)' for '([^']*)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(.*)")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack size")
_CONSTANT = re.compile(r"(\d+) bytes cmem\[(\d+)\]")
_TARGET = re.compile(rb"^(?:[^/\n]*\s)?\.target\s+([\w,\s]+)", re.MULTILINE)
_TARGET_NAME = re.compile(r"\b(?:sm|compute)_(\d+[af]?)\b")
_RENAMED = {"sm_101": "sm_110", "sm_101a": "sm_110a", "sm_101f": "sm_110f"}
_NOT_OPTIMISED = "Optimized debugging not supported"
_NOT_WHOLE = "Unresolved extern function"


class PtxasError(Exception):
    """ptxas could not be run, or did not end normally."""


@dataclass(frozen=True, slots=True)
class Message:
    """One line that ptxas printed. `line` counts from 1; None if the message concerns the whole file."""

    severity: Severity
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that ptxas reports for one kernel or function; None if not reported. Sizes are in bytes.
    """

    registers: int | None = None
    barriers: int | None = None
    shared_bytes: int | None = None
    stack_bytes: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    cumulative_stack_bytes: int | None = None
    """Including the frames of callees."""
    constant_bytes: dict[int, int] = field(default_factory=dict[int, int])
    """Bytes per constant bank."""


@dataclass(frozen=True, slots=True)
class Report:
    """The output of ptxas for one file. `aborted`: a fatal error at a line ended the run, and the lines after
    it were not checked.
    """

    messages: tuple[Message, ...]
    kernels: dict[str, Resources]
    functions: dict[str, Resources]
    """The functions that were compiled separately, not merged into their callers."""
    accepted: bool
    aborted: bool


class Outcome(NamedTuple):
    """How one run of ptxas ended, and what it printed."""

    status: int
    output: str


Judging: TypeAlias = Generator[list[str], Outcome, Report]
"""The runs of ptxas that judge a text. It yields the options of each run, receives its outcome, and returns
the report. The runs take place in a folder that contains the text as `INPUT`.
"""


def find(explicit: Path | None = None) -> Path | None:
    """The ptxas to use: `explicit`, on PATH, in CUDA_HOME or CUDA_PATH, or in a PyPI package of NVIDIA's.

    Relative entries of PATH are skipped: they would lead into the folder that the user works in. Raises
    PtxasError if `explicit` is given and is not a program.
    """
    if explicit is not None:
        program = explicit / _NAME if explicit.is_dir() else explicit
        if not os.access(program, os.X_OK) or program.is_dir():
            raise PtxasError(f"`{explicit}` is not a program that can be run")
        return program
    roots = [os.environ.get(variable) for variable in _ROOTS]
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    folders += [str(Path(root, "bin")) for root in roots if root]
    for folder in filter(os.path.isabs, folders):
        found = shutil.which(str(Path(folder, _NAME)))
        if found is not None:
            return Path(found)
    return in_packages(_PACKAGES, _NAME)


@cache
def in_packages(packages: tuple[str, ...], name: str) -> Path | None:
    """The program `name` of the first of these PyPI packages that has it."""
    from importlib.metadata import PackageNotFoundError, files

    for package in packages:
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        for path in listed:
            if path.name == name:
                found = Path(str(path.locate()))
                if os.access(found, os.X_OK):
                    return found
    return None


@cache
def version(ptxas: Path) -> str:
    """The release, such as `13.5`. Raises PtxasError if the program is not ptxas."""
    return read_version(ptxas, _run([str(ptxas), "--version"], timeout_s=30).output)


def read_version(ptxas: Path, output: str) -> str:
    """The release in the output of `ptxas --version`. Raises PtxasError if there is none."""
    match = re.search(r"release (\d+\.\d+)", output)
    if match is None:
        raise PtxasError(f"`{ptxas}` is not ptxas: `--version` printed {output[:60]!r}")
    return match[1]


@cache
def architectures(ptxas: Path) -> tuple[str, ...]:
    """The `sm_...` targets that this ptxas supports for code generation, lowest first."""
    return read_architectures(_run([str(ptxas), "--help"], timeout_s=30).output)


def read_architectures(help_text: str) -> tuple[str, ...]:
    """The `sm_...` targets in the output of `ptxas --help`, lowest first."""
    names = set(re.findall(r"'(sm_\d+[af]?)'", help_text))
    return tuple(sorted(names, key=lambda name: (_number(name), name)))


def judge(
    source: bytes,
    *,
    ptxas: Path,
    arch: str | None = None,
    optimise: str = "-O3",
    timeout_s: float = 60,
    maxrregcount: int | None = None,
) -> Report:
    """Compiles `source` with ptxas and returns its report.

    If `arch` is None, the target is the file's own, raised to the lowest that this ptxas supports. An `arch`
    such as `compute_90` checks without code generation, in about 10 ms. If ptxas accepts a file only without
    optimisation (`.target debug`), or only as a part of a program (it calls `.extern` functions), the
    necessary options are passed. Raises PtxasError if ptxas cannot be run, crashes, does not support `arch`,
    or takes longer than `timeout_s` seconds.
    """
    work = judging(ptxas, arch or architecture(source, ptxas), optimise, maxrregcount)
    with tempfile.TemporaryDirectory(prefix="ptx-lsp-") as folder:
        Path(folder, INPUT).write_bytes(source)
        options = next(work)
        while True:
            outcome = _run([str(ptxas.absolute()), *options], timeout_s, folder)
            try:
                options = work.send(outcome)
            except StopIteration as done:
                return done.value


def judging(
    ptxas: Path,
    arch: str,
    optimise: str = "-O3",
    maxrregcount: int | None = None,
    output: str | None = None,
) -> Judging:
    """The runs that `judge` makes for `arch`. The machine code is kept as `output`, if that is given, with
    line information. Raises PtxasError.
    """
    limit = ["-maxrregcount", str(maxrregcount)] if maxrregcount is not None else []

    def compiling(options: list[str]) -> Judging:
        made = ["-v", *options, *limit, "-arch", arch, "-o", output or os.devnull, INPUT]
        return _report(ptxas, arch, (yield made))

    options = [optimise, "-lineinfo"] if output is not None else [optimise]
    report = yield from compiling(options)
    if _says(report, _NOT_OPTIMISED):
        options = ["-g", "-O0"]
        report = yield from compiling(options)
    if _says(report, _NOT_WHOLE):
        report = yield from compiling([*options, "-c"])
    return report


def architecture(source: bytes, ptxas: Path) -> str:
    """The `-arch` to check `source` against, among those of `ptxas`. Raises PtxasError."""
    return architecture_among(source, architectures(ptxas))


def architecture_among(source: bytes, known: tuple[str, ...]) -> str:
    """The `-arch` to check `source` against: its own target, raised to a known one.

    ptxas uses the last of several targets in one list. Raises PtxasError if none is known.
    """
    if not known:
        raise PtxasError("`ptxas --help` lists no target")
    directive = _TARGET.search(source)
    names = _TARGET_NAME.findall(directive[1].decode("ascii", "replace")) if directive else []
    if not names:
        return known[0]
    own = f"sm_{names[-1]}"
    if own in known:
        return own
    if _RENAMED.get(own) in known:
        return _RENAMED[own]
    plain = [name for name in known if name[-1].isdigit()]
    return next((name for name in plain if _number(name) >= _number(own)), plain[-1])


def _report(ptxas: Path, arch: str, outcome: Outcome) -> Report:
    """The report of one run. Raises PtxasError if the run did not end normally."""
    report = read(outcome.output, accepted=outcome.status == 0)
    if outcome.status < 0:
        raise PtxasError(f"`{ptxas}` was ended by signal {-outcome.status}")
    if _says(report, "is not defined for option") or (outcome.status and not report.messages):
        said = report.messages[0].text if report.messages else f"ended with {outcome.status}"
        raise PtxasError(f"`{ptxas} -arch {arch}`: {said}")
    return report


def _says(report: Report, words: str) -> bool:
    return any(words in message.text for message in report.messages)


def read(output: str, *, accepted: bool) -> Report:
    """Parses the output of `ptxas -v`; see `judge`."""
    messages: list[Message] = []
    figures: dict[str, Resources] = {}
    entries: set[str] = set()
    name = ""
    for line in output.splitlines():
        match = _MESSAGE.match(line)
        text = match["text"].strip() if match else line
        if found := _COMPILING.match(text):
            name = found[1]
            entries.add(name)
        elif found := _PROPERTIES.match(text):
            name = found[1]
        elif found := _STACK.search(text):
            stack, stores, loads = map(int, found.groups())
            figures[name] = replace(
                figures.get(name, Resources()),
                stack_bytes=stack,
                spill_store_bytes=stores,
                spill_load_bytes=loads,
            )
        elif found := _USED.match(text):
            figures[name] = _with_used(figures.get(name, Resources()), found)
        elif match and not _is_progress(text):
            messages.append(_message(match, text))
    return Report(
        tuple(messages),
        {name: what for name, what in figures.items() if name in entries},
        {name: what for name, what in figures.items() if name not in entries},
        accepted,
        any(m.severity == "fatal" and m.line is not None for m in messages),
    )


def _with_used(known: Resources, used: re.Match[str]) -> Resources:
    rest = used[2]
    return replace(
        known,
        registers=int(used[1]),
        barriers=_first(_BARRIERS, rest),
        shared_bytes=_first(_SHARED, rest),
        cumulative_stack_bytes=_first(_CUMULATIVE, rest),
        constant_bytes={int(bank): int(size) for size, bank in _CONSTANT.findall(rest)},
    )


def _message(match: re.Match[str], text: str) -> Message:
    line = match["line"]
    inside = _LINE_IN_TEXT.match(text)
    if inside:
        line = inside[1]
    return Message(severity(match["severity"]), int(line) if line else None, text)


def _is_progress(text: str) -> bool:
    """Whether a line is part of the resource report, or of the end; it is not about the program."""
    if text.startswith("Overriding ") and "maxrregcount" in text:  # which limit holds: the registers tell
        return True
    return text.startswith("Compile time = ") or " bytes gmem" in text or text == _ABORTED


def severity(word: str) -> Severity:
    """The severity for a word of a message."""
    match word:
        case "fatal" | "error" | "warning":
            return word
        case _:
            return "info"


def _first(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    return int(match[1]) if match else 0


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))


def _run(command: list[str], timeout_s: float, folder: str | None = None) -> Outcome:
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout_s,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired as error:
        raise PtxasError(f"`{command[0]}` took longer than {timeout_s:g} s") from error
    except OSError as error:
        raise PtxasError(f"`{command[0]}` cannot be run: {error.strerror}") from error
    return Outcome(done.returncode, done.stdout)
