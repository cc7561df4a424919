"""Collects the inputs that paths on the command line stand for."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from ptx_lsp.cli.inputs import SEPARATOR, STDIN, Input, InputError, file_of, reason, refuse_size
from ptx_lsp.embedded.languages import LANGUAGES
from ptx_lsp.lint.configuration.containment import is_folder, is_inside
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

_HERE = f".{os.sep}"


def collect(
    paths: Iterable[str],
    stdin_filename: str,
    left_out: Callable[[str], object] = lambda path: None,
    containers: bool = False,
) -> Iterator[Input]:
    """The inputs in order. A directory stands for all `*.ptx` below it and all files that may have inline
    PTX, sorted; a container for its members. Each occurs once. In directories, only `*.fatbin` are taken for
    containers, unless `containers` requests all.

    An unreadable file is an input with an `error`, so that the others are still linted. `left_out` receives
    the links that lead out of the named directories; these are not followed.
    """
    given, seen = list(paths), set[str]()
    walk = _Walk(_directories(given), seen, left_out, containers)
    for path in given:
        found = _standard_input(stdin_filename) if path == STDIN else _files(path, walk)
        for one in found:
            if one.error is not None:  # it may not be a valid path
                yield one
                continue
            identity = STDIN if path == STDIN else os.path.realpath(one.file)
            identity += f"{SEPARATOR}{one.member}" if one.container is not None else ""
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


def _standard_input(name: str) -> list[Input]:
    if not sys.stdin:  # the interpreter has None where it was closed
        return [Input(name, error="standard input is closed")]
    try:
        data = _to_the_end(sys.stdin.buffer)
        return _members_on_stdin(data, name) or [Input(name, data, len(data))]
    except InputError as error:
        return [Input(name, error=str(error))]
    except (OSError, ValueError) as error:
        return [Input(name, error=f"cannot read standard input: {reason(error)}")]


def members_of(path: str) -> list[Input] | None:
    """The members of a container, or those that `CONTAINER!MEMBER` names; None for any other path."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _addressed(path) if SEPARATOR in path else None
    except (OSError, ValueError):
        return None
    return _members(path) if stat.S_ISREG(status.st_mode) and _begins_binary(path) else None


def _files(path: str, walk: _Walk) -> list[Input]:
    if SEPARATOR in path and not os.path.lexists(path) and is_folder(folder := file_of(path)):
        return _of_kernel(path, folder, walk)
    members = members_of(path)
    if members is not None:
        return members
    try:
        status = os.stat(path)
        if not stat.S_ISDIR(status.st_mode):
            return [Input(path, size=status.st_size)]
    except (OSError, ValueError) as error:
        return [Input(path, error=reason(error))]
    return sorted(walk.below(path), key=lambda one: one.file.split(os.sep))


def _of_kernel(address: str, folder: str, walk: _Walk) -> list[Input]:
    """The files `KERNEL.ptx` below the folder of `FOLDER!KERNEL`: so compilers name them in their caches."""
    name = f"{address[len(folder) + 1 :]}.ptx"
    own = _Walk((os.path.realpath(folder),), set(), walk.left_out, walk.containers)
    found = [one for one in own.below(folder) if one.error is not None or os.path.basename(one.path) == name]
    if not found:
        return [Input(address, error=f"the folder has no file `{name}`")]
    return sorted(found, key=lambda one: one.file.split(os.sep))


def _members(path: str, was_found: bool = False) -> list[Input] | None:
    from ptx_lsp.cli.members import members

    return members(path, was_found=was_found)


def _addressed(address: str) -> list[Input]:
    from ptx_lsp.cli.members import addressed

    return addressed(address)


def _members_on_stdin(data: bytes, name: str) -> list[Input] | None:
    if not _is_binary(data):
        return None
    from ptx_lsp.cli.members import members_in

    return members_in(data, name)


def _begins_binary(path: str) -> bool:
    """Whether a file may be a container. Its reader reports any error."""
    try:
        with open(path, "rb", buffering=0) as file:
            return _is_binary(file.read(_HEAD))
    except OSError:
        return False


_HEAD = 8
"""Bytes."""


def _is_binary(data: bytes) -> bool:
    """Whether the first bytes may be those of a container, which are never those of PTX."""
    head = data[:_HEAD]
    return head == b"!<arch>\n" or any(byte < 9 for byte in head)


def _to_the_end(stream: BinaryIO) -> bytes:
    """Reads in pieces: Ctrl-C works between reads, but possibly not within one."""
    data = bytearray()
    while piece := stream.read(1 << 16):
        data += piece
        refuse_size(len(data))
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
    containers: bool
    """Whether every binary file may be a container."""

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
                yield Input(path, error=reason(error))
                continue
            for entry in entries:
                if _is_directory(entry):
                    (links if entry.is_symlink() else waiting).append(entry.path)
            yield from self._files(reversed(entries))

    def _files(self, entries: Iterable[os.DirEntry[str]]) -> Iterator[Input]:
        for entry in entries:
            is_container = entry.name.endswith(_CONTAINER_ENDING) or self._may_be_container(entry)
            if not (is_container or entry.name.endswith(_ENDINGS)) or _is_directory(entry):
                continue
            path = entry.path.removeprefix(_HERE)
            if entry.is_symlink() and not self.is_inside(os.path.realpath(entry.path)):
                self.left_out(path)
                continue
            members = _members(path, was_found=True) if is_container else None
            if members is not None:
                yield from members
            elif not is_container or not self.containers:
                yield Input(path, size=_size(entry), was_found=True)

    def _may_be_container(self, entry: os.DirEntry[str]) -> bool:
        if not self.containers or entry.name.endswith(_ENDINGS):
            return False
        return _is_regular(entry) and _begins_binary(entry.path)


_CONTAINER_ENDING = ".fatbin"
"""The ending of the containers that are looked for in directories without `containers`: a library that lies
beside sources is rarely meant.
"""


def _is_regular(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


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
