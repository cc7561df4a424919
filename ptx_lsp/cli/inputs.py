"""The files to lint, and their bytes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import BinaryIO

from ptx_lsp.embedded.languages import LANGUAGES
from ptx_lsp.lint.configuration.containment import is_folder, is_inside
from ptx_lsp.named_tuple import NamedTuple

MOST_BYTES = 64 << 20
"""Larger inputs are rejected. The tree and names of a text take about 100 times as much memory."""

_BYTES_BESIDES = 4 << 10
"""The cost of a file besides its text, in bytes of text."""
STDIN = "-"
_HERE = f".{os.sep}"


class InputError(Exception):
    """An input that cannot be read; the message gives the reason, without the path."""


class Input(NamedTuple):
    """A file to lint. `data` is set for standard input, `error` if it is already known to be unreadable."""

    path: str
    data: bytes | None = None
    size: int = 0
    error: str | None = None
    was_found: bool = False
    """Whether the file was found in a folder rather than named."""

    @property
    def cost(self) -> int:
        """The work that it is, in bytes of text."""
        return self.size + _BYTES_BESIDES


def collect(
    paths: Iterable[str],
    stdin_filename: str,
    left_out: Callable[[str], object] = lambda path: None,
) -> Iterator[Input]:
    """The inputs in order. A directory stands for all `*.ptx` below it and all files that may have inline
    PTX, sorted. Each file occurs once.

    An unreadable file is an input with an `error`, so that the others are still linted. `left_out` receives
    the links that lead out of the named directories; these are not followed.
    """
    given, seen = list(paths), set[str]()
    walk = _Walk(_directories(given), seen, left_out)
    for path in given:
        found = [_standard_input(stdin_filename)] if path == STDIN else _files(path, walk)
        for one in found:
            if one.error is not None:  # it may not be a valid path
                yield one
                continue
            identity = STDIN if path == STDIN else os.path.realpath(one.path)
            if identity not in seen:
                seen.add(identity)
                yield one


def links_out(paths: Sequence[str]) -> list[str]:
    """The message about links that `collect` has left out: at most one line."""
    if not paths:
        return []
    many = len(paths) > 1
    links = f"{len(paths)} links" if many else "a link"
    verb = "were" if many else "was"
    return [
        f"warning: {links} out of the given directories {verb} not followed, such as `{min(paths)}`; "
        "name it on the command line to lint it"
    ]


def read(one: Input) -> bytes:
    """The PTX text of an input. Raises InputError."""
    if one.error is not None:
        raise InputError(one.error)
    data = one.data if one.data is not None else _bytes_of(one.path)
    _refuse_other_formats(data)
    return data


def _standard_input(name: str) -> Input:
    if not sys.stdin:  # the interpreter has None where it was closed
        return Input(name, error="standard input is closed")
    try:
        data = _to_the_end(sys.stdin.buffer)
    except InputError as error:
        return Input(name, error=str(error))
    except (OSError, ValueError) as error:
        return Input(name, error=f"cannot read standard input: {_reason(error)}")
    return Input(name, data, len(data))


def _files(path: str, walk: _Walk) -> list[Input]:
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return [Input(path, size=status.st_size)]
    except (OSError, ValueError) as error:
        return [Input(path, error=_reason(error))]
    return sorted(walk.below(path), key=lambda one: one.path.split(os.sep))


def _to_the_end(stream: BinaryIO) -> bytes:
    """Reads in pieces: Ctrl-C works between reads, but possibly not within one."""
    data = bytearray()
    while piece := stream.read(1 << 16):
        data += piece
        _refuse_size(len(data))
    return bytes(data)


def _directories(paths: Iterable[str]) -> tuple[str, ...]:
    """The real paths of the directories among them."""
    return tuple(os.path.realpath(path) for path in paths if path != STDIN and is_folder(path))


_ENDINGS = (".ptx", *(suffix for language in LANGUAGES for suffix in language.suffixes))
"""The endings of the files that are looked for in directories."""


class _Walk(NamedTuple):
    """Walks directories, entering each only once."""

    tops: tuple[str, ...]
    """The walk never leaves these directories, and follows no link out of them."""
    seen: set[str]
    left_out: Callable[[str], object]

    def is_inside(self, identity: str) -> bool:
        return any(is_inside(identity, top) for top in self.tops)

    def below(self, top: str) -> Iterator[Input]:
        """The files to lint below `top`. Links are followed last, so that a file reachable in two ways keeps
        its own path.
        """
        waiting = [top]
        links: list[str] = []
        while waiting or links:
            path = waiting.pop() if waiting else links.pop()
            identity = os.path.realpath(path)
            if not self.is_inside(identity):
                self.left_out(path.removeprefix(_HERE))
                continue
            if identity in self.seen:
                continue
            self.seen.add(identity)
            try:
                with os.scandir(path) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                yield Input(path, error=_reason(error))
                continue
            for entry in entries:
                if _is_directory(entry):
                    (links if entry.is_symlink() else waiting).append(entry.path)
            yield from self._files(reversed(entries))

    def _files(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[Input]:
        for entry in entries:
            if not entry.name.endswith(_ENDINGS) or _is_directory(entry):
                continue
            if entry.is_symlink() and not self.is_inside(os.path.realpath(entry.path)):
                self.left_out(entry.path.removeprefix(_HERE))
            else:
                yield Input(entry.path.removeprefix(_HERE), size=_size(entry), was_found=True)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except OSError:  # reading it reports the error
        return 0


def _bytes_of(path: str) -> bytes:
    try:
        _refuse_kind(os.stat(path).st_mode)  # opening a FIFO would wait for a writer
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            _refuse_kind(status.st_mode)
            _refuse_size(status.st_size)
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(_reason(error)) from error
    _refuse_size(len(data))
    return data


def _refuse_kind(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    for test, name in _KINDS:
        if test(mode):
            raise InputError(f"is a {name}, not a regular file; use `-` for standard input")
    raise InputError("is not a regular file")


_KINDS = (
    (stat.S_ISDIR, "directory"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def _refuse_size(size: int) -> None:
    if size > MOST_BYTES:
        shown = f"{size / (1 << 20):.0f} MiB" if size > MOST_BYTES + 1 else "more"
        raise InputError(f"too large: {shown}; the limit is {MOST_BYTES >> 20} MiB")


def _refuse_other_formats(data: bytes) -> None:
    for start, name in _FORMATS:
        if data.startswith(start):
            raise InputError(f"is {name}; expected ASCII or UTF-8 text")
    text = data.rstrip(b"\0")
    nul = text.find(b"\0")
    if nul < 0:
        return
    head = text[: 1 << 12]
    if max(head[::2].count(0), head[1::2].count(0)) * 4 > len(head):
        raise InputError("appears to be UTF-16 text; expected ASCII or UTF-8")
    line = data.count(b"\n", 0, nul) + 1
    raise InputError(f"is a binary file: NUL byte in line {line}")


_FORMATS = (
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\x7fELF", "an ELF object, such as a cubin"),
    (b"\x50\xed\x55\xba", "a CUDA fat binary"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)


def _reason(error: BaseException) -> str:
    match error:
        case FileNotFoundError(filename=str() as name) if os.path.islink(name):
            return "a link to a file that does not exist"
        case FileNotFoundError():
            return "no such file or directory"
        case PermissionError():
            return "permission denied"
        case OSError(strerror=str() as text):
            return text[:1].lower() + text[1:]
        case _:
            return str(error) or type(error).__name__
