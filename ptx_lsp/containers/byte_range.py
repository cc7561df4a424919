"""Parts of a file that are read piece by piece, never whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from ptx_lsp.containers.error import ContainerError


class ByteRange(NamedTuple):
    """`size` bytes of a file from `start`. All reads stay inside. The file is read, not mapped: a mapped file
    that another process truncates would end this one.
    """

    file: BinaryIO
    start: int
    size: int

    def read(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer at the end."""
        count = min(count, self.size - offset)
        if offset < 0 or count <= 0:
            return b""
        self.file.seek(self.start + offset)
        return self.file.read(count)

    def part(self, offset: int, size: int) -> ByteRange:
        """A part of it, cut at its end."""
        offset = min(max(offset, 0), self.size)
        return ByteRange(self.file, self.start + offset, min(max(size, 0), self.size - offset))

    def sections(self, places: Sequence[tuple[int, int]]) -> list[ByteRange]:
        """Parts at these offsets with these sizes. Raises ContainerError if they overlap or are outside."""
        end = 0
        for offset, size in sorted(places):
            if offset < end:
                raise ContainerError("is damaged: its sections overlap")
            end = offset + size
        if end > self.size:
            raise ContainerError("is truncated: a section with fat binaries is not inside the file")
        return [self.part(offset, size) for offset, size in places]


class Stream:
    """A part of a file for libraries that read files. The numbers of reads and bytes are limited: a damaged
    file can name the same bytes any number of times.
    """

    def __init__(self, data: ByteRange, most_reads: int, most_bytes: int) -> None:
        self._data = data
        self._position = 0
        self._reads = most_reads
        self._bytes = most_bytes

    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = offset + (0, self._position, self._data.size)[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, count: int = -1) -> bytes:
        found = self._data.read(self._position, self._data.size if count < 0 else count)
        self._position += len(found)
        self._reads -= 1
        self._bytes -= len(found)
        if self._reads < 0 or self._bytes < 0:
            raise ContainerError("is damaged: reading it takes too many steps")
        return found

    def close(self) -> None:
        """Does nothing: the file belongs to the caller."""
