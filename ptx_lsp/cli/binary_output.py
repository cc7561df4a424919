"""Reports that are not text: written while files are checked, whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from ptx_lsp.cli.arguments import Options, UsageError
from ptx_lsp.cli.files import whole_file
from ptx_lsp.cli.inputs import STDIN
from ptx_lsp.cli.output import standard_output
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import BinaryReporter, ReportStream, find


def binary_formats(
    options: Options, formats: Iterable[tuple[str, str | None]]
) -> list[tuple[BinaryReporter, str | None]]:
    """The formats that are not text, and their files. Raises UsageError if one cannot be written."""
    found: list[tuple[BinaryReporter, str | None]] = []
    for name, path in formats:
        if isinstance(reporter := find(name), BinaryReporter):
            _require_package(reporter)
            if path is None and (sys.stdout.isatty() or (options.fix and STDIN in options.paths)):
                raise UsageError(f"--format {name} is not text; use --format {name}=FILE")
            found.append((reporter, path))
    return found


def _require_package(reporter: BinaryReporter) -> None:
    if find_spec(reporter.package) is None:
        raise UsageError(
            f"--format {reporter.name} requires the package {reporter.package}: "
            f"pip install 'ptx-lsp[{reporter.extra}]'"
        )


class BinaryReports:
    """The reports of a run that are not text; None instead of a path stands for standard output.

    A context manager: at its end the reports are complete. After an exception, no file is written.
    """

    def __init__(self, wanted: Sequence[tuple[BinaryReporter, str | None]]) -> None:
        self._wanted = wanted
        self._open: list[_Open] = []

    def __enter__(self) -> BinaryReports:
        try:
            for reporter, path in self._wanted:
                self._open.append(_Open(reporter, path))
        except BaseException as error:
            self._abandon(error)
            raise
        return self

    def add(self, file: FileReport) -> None:
        """Writes the report on one file, now or later. Raises UsageError if that fails."""
        for one in self._open:
            one.add(file)

    def passed_on(self, files: Iterable[FileReport], with_kernels: bool) -> Iterator[FileReport]:
        """The files as they come, each written before it is passed on. Raises UsageError if that fails."""
        for file in files:
            self.add(file)
            yield file if with_kernels else file._replace(kernels=())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._abandon(error)
            return
        try:
            while self._open:
                self._open[0].close()
                del self._open[0]
        except BaseException as failure:
            self._abandon(failure)
            raise

    def _abandon(self, error: BaseException) -> None:
        for one in self._open:
            one.abandon(error)
        self._open.clear()


class _Open:
    """One report and its file."""

    def __init__(self, reporter: BinaryReporter, path: str | None) -> None:
        self._name = f"`{path}`" if path is not None else "standard output"
        with self._explained():
            self._place = _to_standard_output() if path is None else _place(path)
            file = self._place.__enter__()
        try:
            self._stream: ReportStream = reporter.open(file)
        except BaseException as error:
            self.abandon(error)
            if isinstance(error, ImportError):
                raise UsageError(f"--format {reporter.name}: {error}") from error
            raise

    def add(self, file: FileReport) -> None:
        with self._explained():
            self._stream.add(file)

    def close(self) -> None:
        with self._explained():
            self._stream.close()
            self._place.__exit__(None, None, None)

    def abandon(self, error: BaseException) -> None:
        """Leaves no file behind."""
        with suppress(OSError):  # closing a full device fails once more
            self._place.__exit__(type(error), error, error.__traceback__)

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise UsageError(f"cannot write {self._name}: {error.strerror or error}") from error


def _place(path: str) -> AbstractContextManager[BinaryIO]:
    """The file at a path; a link remains a link. A device or a pipe is written directly."""
    place = Path(path)
    if place.exists() and not place.is_file():
        return place.open("wb")
    return whole_file(Path(os.path.realpath(path)))


@contextmanager
def _to_standard_output() -> Generator[BinaryIO]:
    with tempfile.TemporaryFile(prefix="ptx-lint.") as file:
        yield file
        file.seek(0)
        with standard_output() as stream:
            stream.flush()
            shutil.copyfileobj(file, stream.buffer)
            stream.buffer.flush()
