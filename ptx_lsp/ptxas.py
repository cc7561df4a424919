"""NVIDIA's ptxas: finds it, runs it, and reads its messages and its resource report.

The forms of its output were learnt by running versions 12.9, 13.0 and 13.5; see docs/ptxas.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["fatal", "error", "warning", "info"]

_PACKAGES = ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc-cu12")
_ROOTS = ("CUDA_HOME", "CUDA_PATH")
_MESSAGE = re.compile(
    r"ptxas (?:(?P<file>.*), line (?P<line>\d+); )?(?P<severity>fatal|error|warning|info)\s*: ?(?P<text>.*)"
)
_ABORTED = "Ptx assembly aborted due to errors"
_COMPILING = re.compile(r"Compiling entry function '([^']*)' for '([^']*)'")
_PROPERTIES = re.compile(r"Function properties for (\S+)")
_STACK = re.compile(
    r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads"
)
_USED = re.compile(r"Used (\d+) registers(.*)")
_BARRIERS = re.compile(r"used (\d+) barriers")
_SHARED = re.compile(r"(\d+)(?:\+\d+)? bytes smem")
_CONSTANT = re.compile(r"(\d+) bytes cmem\[(\d+)\]")
_TARGET = re.compile(rb"^\s*\.target\s+(?:sm|compute)_(\d+)([af]?)", re.MULTILINE)


class PtxasError(Exception):
    """ptxas could not be run, or did not end as it should."""


@dataclass(frozen=True, slots=True)
class Message:
    """One line that ptxas printed. `line` counts from 1; None where it speaks of the whole file."""

    severity: Severity
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Resources:
    """What ptxas measured of one kernel or function; None where it did not say. Sizes in bytes."""

    registers: int | None = None
    barriers: int | None = None
    shared_bytes: int | None = None
    stack_bytes: int | None = None
    spill_store_bytes: int | None = None
    spill_load_bytes: int | None = None
    constant_bytes: dict[int, int] = field(default_factory=dict[int, int])
    """By constant bank."""


@dataclass(frozen=True, slots=True)
class Report:
    """What ptxas said of one file. `aborted`: a fatal error ended the run, and nothing that came after
    it was judged.
    """

    messages: tuple[Message, ...]
    kernels: dict[str, Resources]
    accepted: bool
    aborted: bool


def find(explicit: Path | None = None) -> Path | None:
    """The ptxas to use: `explicit`, on PATH, in CUDA_HOME or CUDA_PATH, or in a PyPI package of NVIDIA's.

    Raises PtxasError when `explicit` is given and is no program.
    """
    if explicit is not None:
        program = explicit / "ptxas" if explicit.is_dir() else explicit
        if not os.access(program, os.X_OK) or program.is_dir():
            raise PtxasError(f"`{explicit}` is not a program that can be run")
        return program
    on_path = shutil.which("ptxas")
    if on_path is not None:
        return Path(on_path)
    for variable in _ROOTS:
        root = os.environ.get(variable)
        if root and os.access(Path(root, "bin", "ptxas"), os.X_OK):
            return Path(root, "bin", "ptxas")
    return _in_packages()


@cache
def _in_packages() -> Path | None:
    from importlib.metadata import PackageNotFoundError, files

    for package in _PACKAGES:
        try:
            listed = files(package) or []
        except PackageNotFoundError:
            continue
        for path in listed:
            if path.name in ("ptxas", "ptxas.exe"):
                found = Path(str(path.locate()))
                if os.access(found, os.X_OK):
                    return found
    return None


@cache
def version(ptxas: Path) -> str:
    """The release, such as `13.5`. Raises PtxasError when the program is no ptxas."""
    output = _run([str(ptxas), "--version"], timeout_s=30).stdout
    match = re.search(r"release (\d+\.\d+)", output)
    if match is None:
        raise PtxasError(f"`{ptxas}` is not ptxas: `--version` printed {output[:60]!r}")
    return match[1]


@cache
def architectures(ptxas: Path) -> tuple[str, ...]:
    """The `sm_...` targets that this ptxas makes code for, lowest first."""
    help_text = _run([str(ptxas), "--help"], timeout_s=30).stdout
    names = set(re.findall(r"'(sm_\d+[af]?)'", help_text))
    return tuple(sorted(names, key=lambda name: (_number(name), name)))


def judge(
    source: bytes,
    *,
    ptxas: Path,
    arch: str | None = None,
    optimise: str = "-O3",
    timeout_s: float = 60,
) -> Report:
    """Has ptxas compile `source` and returns what it said.

    `arch` None takes the file's own target, or the lowest that this ptxas makes code for where that is
    higher. An `arch` such as `compute_90` judges without making code, in some 10 ms. Raises PtxasError
    when ptxas cannot be run, crashes, or takes longer than `timeout_s` seconds.
    """
    with tempfile.TemporaryDirectory(prefix="ptx-lsp-") as folder:
        file = Path(folder, "input.ptx")
        file.write_bytes(source)
        chosen = arch or _architecture(source, ptxas)
        command = [str(ptxas), "-v", optimise, "-arch", chosen, "-o", os.devnull, str(file)]
        done = _run(command, timeout_s)
    report = read(done.stdout + done.stderr, accepted=done.returncode == 0)
    if done.returncode != 0 and not report.messages:
        raise PtxasError(
            f"`{ptxas}` ended with status {done.returncode} and no message for `-arch {chosen}`"
        )
    return report


def read(output: str, *, accepted: bool) -> Report:
    """Reads what `ptxas -v` printed; see `judge`."""
    messages: list[Message] = []
    kernels: dict[str, dict[str, int | None]] = {}
    constants: dict[str, dict[int, int]] = {}
    aborted = False
    compiled, described = "", ""
    for line in output.splitlines():
        match = _MESSAGE.match(line)
        text = match["text"] if match else line
        if found := _COMPILING.search(text):
            compiled = described = found[1]
        elif found := _PROPERTIES.search(text):
            described = found[1]
        elif found := _STACK.search(text):
            stack, stores, loads = map(int, found.groups())
            kernels.setdefault(described, {}).update(
                stack_bytes=stack, spill_store_bytes=stores, spill_load_bytes=loads
            )
        elif found := _USED.search(text):
            kernels.setdefault(compiled, {}).update(
                registers=int(found[1]),
                barriers=_first(_BARRIERS, found[2]),
                shared_bytes=_first(_SHARED, found[2]),
            )
            constants[compiled] = {int(b): int(n) for n, b in _CONSTANT.findall(found[2])}
        elif match and not _is_progress(text):
            severity = _severity(match["severity"])
            aborted = aborted or severity == "fatal"
            if text.strip() != _ABORTED:
                number = int(match["line"]) if match["line"] else None
                messages.append(Message(severity, number, text.strip()))
    resources = {
        name: Resources(**figures, constant_bytes=constants.get(name, {}))
        for name, figures in kernels.items()
    }
    syntax = any(m.severity == "fatal" for m in messages)
    return Report(tuple(messages), resources, accepted, aborted and syntax)


def _is_progress(text: str) -> bool:
    """Part of the resource report, not a message."""
    return text.startswith(("Compile time = ", "Used ")) or "bytes gmem" in text


def _severity(word: str) -> Severity:
    match word:
        case "fatal" | "error" | "warning":
            return word
        case _:
            return "info"


def _first(pattern: re.Pattern[str], text: str) -> int:
    match = pattern.search(text)
    return int(match[1]) if match else 0


def _architecture(source: bytes, ptxas: Path) -> str:
    known = architectures(ptxas)
    match = _TARGET.search(source)
    if match is None or not known:
        return known[0] if known else "sm_75"
    name = f"sm_{match[1].decode()}{match[2].decode()}"
    if name in known or _number(name) > _number(known[0]):
        return name
    return known[0]


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))


def _run(command: list[str], timeout_s: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, capture_output=True, timeout=timeout_s, text=True, errors="replace",
            stdin=subprocess.DEVNULL, check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PtxasError(f"`{command[0]}` took longer than {timeout_s:g} s") from error
    except OSError as error:
        raise PtxasError(f"`{command[0]}` cannot be run: {error.strerror}") from error
