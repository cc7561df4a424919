"""Opens containers, and addresses their members: `libfoo.so!3:sm_90`."""

from __future__ import annotations

import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from io import SEEK_END
from pathlib import Path
from typing import Final

from ptx_lsp.containers import formats as package
from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.container import SEPARATOR, Container, Member, OtherCode
from ptx_lsp.containers.entry import PTX, Damage, Entry, Format, Part
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.payload import MOST_TOGETHER, Payload
from ptx_lsp.packages import discovered

_HEAD: Final = 8
_MOST_NESTED: Final = 3
"""An archive has object files, which have fat binaries."""
_MOST_ENTRIES: Final = 200_000
_MOST_WORK: Final = 16 << 30
"""The bytes to decompress for reading all members."""
_MEMBER: Final = re.compile(r"[0-9]+(?::[a-z0-9_]+)?")


def open_container(path: str) -> Container | None:
    """The container at a path, or None if the file has no known format. Raises ContainerError and OSError."""
    if not stat.S_ISREG(Path(path).stat().st_mode):  # opening a FIFO would wait for a writer
        return None
    with Path(path).open("rb") as file:
        whole = ByteRange(file, 0, file.seek(0, SEEK_END))
        form = _format(whole)
        if form is None:
            return None
        return _Collector(path, form).collect(whole)


def read_member(path: str, name: str) -> bytes:
    """The text of a member of a container. Raises ContainerError and OSError."""
    container = open_container(path)
    if container is None:
        raise ContainerError("is not a container of a known format")
    return container.member(name).read()


def read_address(address: str) -> bytes | None:
    """The text that `CONTAINER!MEMBER` addresses; None if the address is that of a file. Raises
    ContainerError and OSError.
    """
    path, name = split_address(address)
    return read_member(path, name) if name is not None else None


def split_address(address: str) -> tuple[str, str | None]:
    """The path and the member, or None, that `PATH!MEMBER` or `PATH` stands for. An existing file wins."""
    if SEPARATOR not in address or Path(address).exists():
        return address, None
    path, member = address, ""
    while SEPARATOR in path:
        path, _, last = path.rpartition(SEPARATOR)
        member = f"{last}{SEPARATOR}{member}" if member else last
        if path and Path(path).exists():
            return path, member
    path, _, member = address.rpartition(SEPARATOR)
    return (path, member) if path and _MEMBER.fullmatch(member) else (address, None)


@cache
def formats() -> tuple[Format, ...]:
    """All formats. They are discovered, not listed."""
    return discovered(package, "FORMAT", Format)


def _format(data: ByteRange) -> Format | None:
    head = data.read(0, _HEAD)
    known = (form for form in formats() if head.startswith(form.magic))
    return next((form for form in known if form.recognises(data)), None)


class _Collector:
    """Collects the members of a container, and numbers them."""

    def __init__(self, path: str, form: Format) -> None:
        self._path = path
        self._form = form
        self._members: list[Member] = []
        self._others = Counter[tuple[str, str]]()
        self._damage: list[str] = []

    def collect(self, whole: ByteRange) -> Container:
        """Collects what is in a file. Raises ContainerError if that is nothing but damage."""
        self._collect(_contents(whole, self._form, "", _MOST_NESTED))
        if self._damage and not self._members:
            raise ContainerError(self._damage[0])
        others = [
            OtherCode(kind, target, number) for (kind, target), number in self._others.items()
        ]
        return Container(
            self._path, self._form.name, tuple(self._members), tuple(others), tuple(self._damage)
        )

    def _collect(self, contents: Iterable[tuple[str, Entry | Damage]]) -> None:
        work = 0
        for number, (part, content) in enumerate(contents):
            if number == _MOST_ENTRIES:
                self._damage.append(
                    f"has more than {_MOST_ENTRIES} entries; the others are left out"
                )
                return
            match content:
                case Damage():
                    self._damage.append(content.line)
                case Entry() if content.kind == PTX:
                    work += min(content.place.start + content.place.size, MOST_TOGETHER)
                    if work > _MOST_WORK:
                        limit = f"{_MOST_WORK >> 30} GiB"
                        self._damage.append(f"has more than {limit} of PTX; the rest is left out")
                        return
                    self._members.append(self._member(content, part))
                case Entry():
                    self._others[content.kind, content.target] += 1

    def _member(self, entry: Entry, part: str) -> Member:
        name = f"{len(self._members) + 1}:{entry.target}"
        payload = Payload(self._path, *entry.place)
        return Member(
            name,
            entry.target,
            entry.version,
            payload,
            _printable(entry.identifier),
            _printable(entry.options).strip(),
            _printable(part),
        )


def _printable(text: str) -> str:
    """A text of a file without control characters, which could be commands for a terminal."""
    return (
        text if text.isprintable() else "".join(one if one.isprintable() else "?" for one in text)
    )


def _contents(
    data: ByteRange, form: Format, part: str, depth: int
) -> Iterator[tuple[str, Entry | Damage]]:
    """The entries of a container and its parts, each with the name of its part."""
    try:
        for content in form.contents(data):
            if not isinstance(content, Part):
                yield part, content
            elif depth and (inner := _format(content.bytes)) is not None:
                yield from _contents(content.bytes, inner, content.name, depth - 1)
    except ContainerError as error:
        where = f"{_printable(part)}: " if part else ""
        yield part, Damage(f"{where}{error}")
