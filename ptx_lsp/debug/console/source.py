"""Places in the program as commands show them: those of the PTX, or of the source that `.loc` names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.groups import Frame
from ptx_lsp.debug.values import text as value_text
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function


@dataclass(frozen=True)
class Spot:
    """A line of a file; `text` is None if the file cannot be read."""

    path: str
    line: int
    text: str | None

    @property
    def file(self) -> str:
        return Path(self.path).name


def spot_of(console: Console, frame: Frame) -> Spot:
    """Where a frame stands."""
    program = console.debuggee.loaded
    if console.debuggee.shows_source and frame.original is not None:
        path = str(program.beside(frame.original.path))
        return spot_at(console, path, frame.original.line)
    return spot_at(console, str(program.path), frame.line)


def kernel_spot(console: Console) -> Spot:
    """Where the kernel begins, which is listed while no thread is in focus."""
    program = console.debuggee.loaded
    first = program.first_line(kernel_of(console).name) or 1
    if console.debuggee.shows_source:
        inside = [line for line, name in program.by_line.items() if name == kernel_of(console).name]
        made = [
            (line, path, number) for path, numbers in program.sources.items()
            for number, lines in numbers.items() for line in lines if line in inside
        ]
        if made:
            _, path, number = min(made)
            return spot_at(console, str(program.beside(path)), number)
    return spot_at(console, str(program.path), first)


def spot_at(console: Console, path: str, line: int) -> Spot:
    """A line of a file."""
    lines = lines_of(console, path)
    return Spot(path, line, lines[line - 1] if lines is not None and 0 < line <= len(lines) else None)


def lines_of(console: Console, path: str) -> list[str] | None:
    """The lines of a file; None if it cannot be read."""
    program = console.debuggee.loaded
    if path == str(program.path):
        return program.module.document.source.text.splitlines()
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return None


def numbered(spot: Spot) -> str:
    """A line with its number, as gdb shows it."""
    if spot.text is None:
        return f"{spot.line}\tin {spot.path}"
    return f"{spot.line}\t{spot.text.strip()}"


def frame_text(console: Console, frame: Frame) -> str:
    """A frame, as in `saxpy<<<(4,1,1),(256,1,1)>>> (n=1000) at saxpy.ptx:12`."""
    spot = spot_of(console, frame)
    return f"{call_text(console, frame)} at {spot.file}:{spot.line}"


def call_text(console: Console, frame: Frame) -> str:
    """The function of a frame with its arguments, a kernel also with its launch."""
    kernel = kernel_of(console)
    if frame.function not in ("", kernel.name):
        return f"{frame.function} ()"
    return f"{launch_text(console)} ({', '.join(f'{name}={value}' for name, value in arguments(console))})"


def launch_text(console: Console) -> str:
    """The kernel with its grid, as in `saxpy<<<(4,1,1),(256,1,1)>>>`."""
    shape = console.debuggee.stopped.launch.shape
    return f"{kernel_of(console).name}<<<{index_text(shape.grid)},{index_text(shape.block)}>>>"


def kernel_of(console: Console) -> Function:
    """The kernel that is launched."""
    return console.debuggee.loaded.kernel


def arguments(console: Console) -> list[tuple[str, str]]:
    """The names and values of the kernel's parameters."""
    view = console.debuggee.stopped
    types = {one.name: one.type for one in kernel_of(console).launched}
    found: list[tuple[str, str]] = []
    for one in view.launch.placed:
        if one.space == ".param" and one.name in types:
            data = view.launch.parameters[one.start : one.start + one.size].tobytes()
            found.append((one.name, parameter_text(data, types[one.name])))
    return found


def parameter_text(data: bytes, type: str) -> str:
    """The value of a parameter: a pointer or an aggregate in hexadecimal."""
    known = TYPES.get(type)
    if known is None or known.width != 8 * len(data):
        return data.hex() if len(data) <= _MOST_BYTES else data[:_MOST_BYTES].hex() + "..."
    value = int.from_bytes(data, "little")
    if type in (".u64", ".b64") and value > _LEAST_POINTER:
        return f"{value:#x}"
    return value_text((value,), type)


def index_text(index: tuple[int, ...]) -> str:
    """An index or a size, as in `(4,1,1)`."""
    return f"({','.join(map(str, index))})"


_MOST_BYTES = 16
_LEAST_POINTER = 0xFFFF
