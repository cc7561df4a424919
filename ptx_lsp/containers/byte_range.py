"""A part of a file that is read piece by piece, never whole."""

from __future__ import annotations

from typing import BinaryIO, NamedTuple


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
