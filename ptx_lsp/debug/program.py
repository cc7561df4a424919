"""The program of a debug session: its PTX, its launch, and the source that it was compiled from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import cast
from zipfile import BadZipFile

from ptx_lsp.containers.registry import split_address
from ptx_lsp.debug.goals import Goal, Stop
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.launching.launch import LIMIT
from ptx_lsp.executor.launching.object_specs import argument, bindings
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.launching.specs import Array, SpecError
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.model.directives.source_line import source_line
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for, shown_names


@dataclass(frozen=True)
class Settings:
    """A launch. `folder` is where the files of SPECs are; None for that of the PTX."""

    path: Path
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] = ()
    shared_bytes: int = 0
    specs: tuple[str, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()
    seed: int = 0
    is_checked: bool = False
    folder: Path | None = None
    limit: int = LIMIT
    device: str | None = None
    cooperative: bool | None = None


@dataclass
class Program:
    """A file of PTX. Lines count from 1."""

    path: Path
    module: Module
    settings: Settings
    by_line: dict[int, str] = field(default_factory=dict[int, str])
    """The functions by the lines of their instructions."""
    sources: dict[str, dict[int, list[int]]] = field(default_factory=dict[str, dict[int, list[int]]])
    """For each source file the lines of PTX that were made from each of its lines."""
    held: dict[str, str] = field(default_factory=dict[str, str])
    """The texts of files that clients cannot read, by their paths: of the PTX and sources in a recording, or
    of a member of a container, whose path is its address.
    """
    opened: dict[str, Path] = field(default_factory=dict[str, Path])
    """For source files that `.file` names by paths that do not exist: files that the client has open."""

    def __post_init__(self) -> None:
        source = self.module.document.source
        for function in self.module.functions:
            for node in function.body.instructions:
                line = source.line_of(function.module.span(function.place(node)).start) + 1
                self.by_line.setdefault(line, function.name)
                original = source_line(function, node)
                if original is not None:
                    self.sources.setdefault(original.path, {}).setdefault(original.line, []).append(line)

    @property
    def folder(self) -> Path:
        """The folder of the file, or of the container."""
        return Path(split_address(str(self.path))[0]).parent

    @cached_property
    def _lines(self) -> list[str]:
        return self.module.document.source.text.split("\n")

    def syntax_errors(self) -> list[int]:
        """The lines with errors of syntax. The kernel stops if it reaches one."""
        items, source = self.module.document.items.broken(), self.module.document.source
        return sorted({source.line_of(item.span(one)[0]) + 1 for item in items for one in item.problems})

    def is_same(self, other: Program) -> bool:
        """Whether it has the text of another program."""
        texts = [one.module.document.source.text for one in (self, other)]
        return self.path == other.path and texts[0] == texts[1]

    @property
    def kernel(self) -> Function:
        """The kernel that is launched. Raises RequestError if it does not exist."""
        return kernel(self.module, self.settings.entry)

    def prepared(self, observer: Observer | None, console: Callable[[str], None]) -> PreparedLaunch:
        """The launch. Raises RequestError if it is impossible."""
        settings = self.settings
        found = kernel(self.module, settings.entry)
        try:
            arguments = [argument(spec, settings.seed, file=self._file) for spec in settings.specs]
            options = LaunchOptions(
                settings.grid, settings.block, arguments, settings.shared_bytes, settings.limit,
                cluster=settings.cluster or None, check=settings.is_checked,
                observers=() if observer is None else (observer,),
                bind=bindings(settings.bound, settings.seed), console=console,
                device=settings.device, cooperative=settings.cooperative,
            )
            return PreparedLaunch(self.module, found, options, is_fine=settings.seed != 0)
        except (SpecError, ExecutionError, OSError) as error:
            raise RequestError(str(error)) from None

    def begin(self, recording: Recording, goal: Goal, report: Callable[[str], None]) -> Stop:
        """Runs to where a session begins: to a goal. `report` shows texts to the user."""
        return recording.go_on(goal)

    def ended(self, recording: Recording, report: Callable[[str], None]) -> None:
        """The run has ended."""

    def line_text(self, line: int) -> str:
        """A line of the PTX, without its indentation."""
        return self._lines[line - 1].strip()

    def line_after(self, line: int) -> int | None:
        """The first line from this one on that has an instruction."""
        return min((one for one in self.by_line if one >= line), default=None)

    def lines_at(self, path: str, line: int) -> tuple[list[int], int | None]:
        """The lines of PTX of a breakpoint at a line of a file, and the line at which it is shown; none and
        None if there is no instruction.
        """
        if self.is_ptx(path):
            found = self.line_after(line)
            return ([] if found is None else [found]), found
        lines = self.source_of(path)
        if lines is None:
            return [], None
        shown = min((one for one in lines if one >= line), default=None)
        return (_starts(lines[shown]) if shown is not None else []), shown

    def is_ptx(self, path: str) -> bool:
        """Whether a path is that of the PTX."""
        return path == str(self.path) or Path(path).resolve() == self.path.resolve()

    def functions_named(self, text: str) -> list[str]:
        """The functions with instructions that a name stands for, which can be demangled."""
        return names_for(text, dict.fromkeys(self.by_line.values()))

    def first_line(self, function: str) -> int | None:
        """The line of the first instruction of a function."""
        return min((line for line, name in self.by_line.items() if name == function), default=None)

    def source_of(self, path: str) -> dict[int, list[int]] | None:
        """The lines of PTX by those of a source file; None if `.file` does not name it, or names several that
        may be it. Of files with its name that is the one in the most similar folder.
        """
        wanted = Path(path).resolve()
        for name, lines in self.sources.items():
            if self.beside(name).resolve() == wanted:
                return lines
        similar = [(_common_end(_parts(name), wanted.parts), name) for name in self.sources]
        most = max(similar, default=(0, ""))
        if not most[0] or sum(one == most[0] for one, _ in similar) > 1 or _is_file(self.beside(most[1])):
            return None
        self.opened[most[1]] = wanted
        return self.sources[most[1]]

    def sources_ending_with(self, name: str) -> list[str]:
        """The paths of the source files whose last folders and name are those of a name, as `hist.cu`."""
        parts = _parts(name)
        return sorted({str(self.beside(one)) for one in self.sources if _parts(one)[-len(parts) :] == parts})

    def beside(self, name: str) -> Path:
        """The path of a source file: where `.file` says, else where the client has a file that may be it,
        else where the PTX is.
        """
        path = Path(name)
        for one in (self.folder / path, self.opened.get(name), self.folder / path.name):
            if one is not None and _is_file(one):
                return one
        return self.folder / path

    def _file(self, name: str) -> Array:
        import numpy as np

        folder = self.folder if self.settings.folder is None else self.settings.folder
        try:
            found: object = np.load(folder / name, allow_pickle=False)
        except (ValueError, EOFError, BadZipFile) as error:
            raise SpecError(f"`{name}` is not a .npy or .npz file of numbers") from error
        if not isinstance(found, np.ndarray):
            raise SpecError(f"`@{name}` is not a single array")
        return cast(Array, found)


def checked_path(text: str) -> str:
    """A text that can be a path. Raises RequestError if it cannot."""
    try:
        if "\0" in text:
            raise ValueError("embedded null byte")
        text.encode()
    except ValueError as error:
        raise RequestError(f"cannot read `{text}`: {error}") from None
    return text


def _is_file(path: Path) -> bool:
    """Whether a file exists: `.file` may name any path, also one that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the name of a source file, which may be of another system."""
    return PureWindowsPath(name).parts if "\\" in name else PurePosixPath(name).parts


def _common_end(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """With how many equal parts two paths end."""
    found = 0
    while found < min(len(one), len(other)) and one[-1 - found] == other[-1 - found]:
        found += 1
    return found


def _starts(lines: list[int]) -> list[int]:
    """The first of each run of lines."""
    known = sorted(set(lines))
    return [one for at, one in enumerate(known) if not at or known[at - 1] < one - 1]


def kernel(module: Module, entry: str) -> Function:
    """The kernel with a name, or the only one. Raises RequestError."""
    kernels = [one for one in module.functions if one.is_kernel and one.node.body is not None]
    known = [one.name for one in kernels]
    named = names_for(entry, known) if entry else known
    if len(named) == 1:
        return next(one for one in kernels if one.name == named[0])
    if entry and named:
        raise RequestError(f"`{entry}` is ambiguous: {shown_names(named)}")
    wanted = f"kernel `{entry}` does not exist" if entry else "`entry` is missing"
    raise RequestError(f"{wanted}; the kernels are {shown_names(known) or 'none'}")
