"""The inputs to lint, and their bytes."""

from __future__ import annotations

import os
import stat

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.containers.payload import Payload

MOST_BYTES = 64 << 20
"""Larger inputs are rejected. The tree and names of a text take about 100 times as much memory."""

_BYTES_BESIDES = 4 << 10
"""The cost of a file besides its text, in bytes of text."""
STDIN = "-"
SEPARATOR = "!"
"""Between the path of a container and the name of a member."""


class InputError(Exception):
    """An input that cannot be read; the message gives the reason, without the path."""


class Input(NamedTuple):
    """A file to lint, or a member of a container, with the path `CONTAINER!MEMBER`. `data` is set for
    standard input, `error` if it is already known to be unreadable.
    """

    path: str
    data: bytes | None = None
    size: int = 0
    error: str | None = None
    was_found: bool = False
    """Whether the file was found in a folder rather than named."""
    container: str | None = None
    """The path of the container, for a member of one."""
    payload: Payload | None = None
    """The place of a member in its container."""
    maxrregcount: int | None = None
    """The option that the container has recorded for ptxas, for a member of one."""

    @property
    def file(self) -> str:
        """The path of the file that it is, or is in."""
        return self.container if self.container is not None else self.path

    @property
    def member(self) -> str | None:
        """The name of the member; None for a container as a whole."""
        return self.path[len(self.container) + 1 :] or None if self.container is not None else None

    @property
    def cost(self) -> int:
        """The work that it is, in bytes of text."""
        return self.size + _BYTES_BESIDES


def file_of(address: str) -> str:
    """The file that a path names, or that has the members that `CONTAINER!MEMBER` names."""
    if SEPARATOR not in address:
        return address
    from ptx_lsp.containers.registry import split_address

    return split_address(address)[0]


def read(one: Input) -> bytes:
    """The PTX text of an input. Raises InputError."""
    if one.error is not None:
        raise InputError(one.error)
    if one.data is not None:
        data = one.data
    elif one.payload is not None:
        data = text_of(one.payload)
    else:
        data = _bytes_of(one.path)
    _refuse_other_formats(data)
    return data


def text_of(payload: Payload) -> bytes:
    """The text of a member of a container. Raises InputError."""
    from ptx_lsp.containers.error import ContainerError

    try:
        return payload.read()
    except ContainerError as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(reason(error)) from error


def _bytes_of(path: str) -> bytes:
    try:
        _refuse_kind(os.stat(path).st_mode)  # opening a FIFO would wait for a writer
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            _refuse_kind(status.st_mode)
            refuse_size(status.st_size)
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(reason(error)) from error
    refuse_size(len(data))
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


def refuse_size(size: int) -> None:
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
    (b"\x7fELF", "an ELF file"),
    (b"\x50\xed\x55\xba", "a CUDA fat binary"),
    (b"BC\xc0\xde", "LLVM bitcode"),
)


def reason(error: BaseException) -> str:
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
