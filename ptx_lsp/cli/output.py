"""The destination of the report: standard output or a file, with or without colour."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager

from ptx_lsp.cli.arguments import Options, UsageError
from ptx_lsp.lint.results.style import Style
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

_COLUMNS = 120
"""The maximum width of source lines without a terminal."""
_MOST_BYTES = 16 << 20
"""Of a report for a file, in memory."""


def keep_apart(outputs: Iterable[str | None], inputs: Iterable[str]) -> None:
    """Raises UsageError where a report would be written over another one, or over what is read."""
    taken = {os.path.realpath(path) for path in inputs}
    for path in outputs:
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):
            continue  # a device or a pipe takes any number
        place = os.path.realpath(path)
        if place in taken:
            raise UsageError(f"`{path}` is already an input or an output; choose another file for the report")
        taken.add(place)


def write(lines: Iterable[str], options: Options, to_stderr: bool = False) -> None:
    """Writes lines to --output, or prints them. Raises UsageError if the file cannot be written.

    If the reader closes the pipe (`| head`), output ends silently. `to_stderr`: standard output is used for
    something else.
    """
    if options.output is not None:
        write_file(lines, options.output)
        return
    if to_stderr:
        sys.stderr.writelines(f"{line}\n" for line in lines)
        return
    print_lines(lines)


def print_lines(lines: Iterable[str]) -> None:
    """Writes lines to standard output. Raises UsageError if that fails."""
    with standard_output() as stream:
        stream.writelines(f"{_encodable(line)}\n" for line in lines)
        stream.flush()


def print_at_once(parts: Iterable[str | bytes]) -> None:
    """Writes lines of text, and bytes unchanged, to standard output as they come. Raises UsageError if that
    fails.
    """
    with standard_output() as stream:
        for part in parts:
            if isinstance(part, str):
                stream.write(f"{_encodable(part)}\n")
                stream.flush()
            else:
                stream.buffer.write(part)
                stream.buffer.flush()


def write_data(data: bytes, options: Options) -> None:
    """Writes bytes unchanged to --output or to standard output."""
    if options.output is not None:
        _to_file([data], options.output)
        return
    write_bytes(data)


def write_bytes(data: bytes) -> None:
    """Writes to standard output, ignoring --output. Raises UsageError if that fails."""
    with standard_output() as stream:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()


@contextmanager
def standard_output() -> Generator[TextIO]:
    """Output ends silently if the reader closes the pipe. Raises UsageError if nothing can be written."""
    if not sys.stdout:  # the interpreter has None where it was closed
        raise UsageError("standard output is closed")
    try:
        yield sys.stdout
    except BrokenPipeError:
        _give_up_standard_output()
    except OSError as error:
        _give_up_standard_output()
        raise UsageError(f"cannot write to standard output: {error.strerror}") from error


def _give_up_standard_output() -> None:
    """The interpreter flushes again at exit, and would report an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_file(lines: Iterable[str], path: str) -> None:
    """Writes lines to a file when the last one has come. Raises UsageError if it cannot be written."""
    with _Gathered() as text:
        for line in lines:
            text.add(f"{line}{os.linesep}".encode("utf-8", "backslashreplace"))
        _to_file(text.pieces(), path)


class _Gathered:
    """Bytes; if there are many, most are in a temporary file."""

    def __init__(self) -> None:
        self._recent = bytearray()
        self._file: BinaryIO | None = None

    def __enter__(self) -> _Gathered:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, data: bytes) -> None:
        self._recent += data
        if len(self._recent) < _MOST_BYTES:
            return
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="ptx-lint.")  # noqa: SIM115
        self._file.write(self._recent)
        self._recent.clear()

    def pieces(self) -> Iterator[bytes]:
        if self._file is not None:
            self._file.seek(0)
            while piece := self._file.read(_MOST_BYTES):
                yield piece
        yield bytes(self._recent)


def _to_file(pieces: Iterable[bytes], path: str) -> None:
    try:
        with open(path, "wb") as file:
            file.writelines(pieces)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise UsageError(f"cannot write `{path}`: {reason}") from error


def _encodable(line: str) -> str:
    """`line` with escapes for what standard output cannot show: odd file names, narrow encodings."""
    encoding = sys.stdout.encoding or "utf-8"
    return line if line.isascii() else line.encode(encoding, "backslashreplace").decode(encoding)


def style(options: Options) -> Style:
    """The style, with colour according to --color, NO_COLOR (no-color.org) and the terminal."""
    if options.color != "auto":
        return Style(options.color == "always")
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Style(not plain and in_terminal(options))


def columns(options: Options) -> int:
    """The maximum width of the report."""
    if not in_terminal(options):
        return _COLUMNS
    import shutil  # it imports all kinds of compression

    return shutil.get_terminal_size().columns


def in_terminal(options: Options) -> bool:
    """Whether the report is printed in a terminal."""
    return options.output is None and bool(sys.stdout) and sys.stdout.isatty()
