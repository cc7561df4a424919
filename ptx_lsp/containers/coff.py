"""Sections of COFF files: Windows object files, and programs and libraries (PE), which have such a part."""

from __future__ import annotations

import struct
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.named_tuple import NamedTuple

_HEADER: Final = struct.Struct("<HHIIIHH")
_SECTION: Final = struct.Struct("<8sIIII16x")
_SYMBOL: Final = 18
_NAMES: Final = (b".nv_fatb", b"__nv_rel")
"""The names of the sections. Programs have only eight bytes of each name."""


class CoffHeader(NamedTuple):
    """The header of a COFF file."""

    offset: int
    machine: int
    sections: int
    time: int
    symbols: int
    """The offset of the symbol table."""
    number_of_symbols: int
    optional_size: int
    flags: int

    @staticmethod
    def read(data: ByteRange, offset: int) -> CoffHeader:
        """The header at an offset. Missing bytes are 0."""
        found = data.read(offset, _HEADER.size).ljust(_HEADER.size, b"\0")
        return CoffHeader(offset, *_HEADER.unpack(found))

    @property
    def table(self) -> int:
        """The offset of the section table."""
        return self.offset + _HEADER.size + self.optional_size

    def has_its_table(self, data: ByteRange) -> bool:
        """Whether the section table is inside the file."""
        return self.table + self.sections * _SECTION.size <= data.size

    def fat_binaries(self, data: ByteRange) -> list[ByteRange]:
        """The sections with fat binaries. Raises ContainerError."""
        if not self.has_its_table(data):
            raise ContainerError("is truncated: its section table is not inside the file")
        table = data.read(self.table, self.sections * _SECTION.size)
        return data.sections(
            [
                (start, min(size, stored) if size else stored)
                for name, size, _, stored, start in _SECTION.iter_unpack(table)
                if self._full_name(data, name).startswith(_NAMES)
            ]
        )

    def _full_name(self, data: ByteRange, name: bytes) -> bytes:
        """The first bytes of a name. `/123` is an offset in the string table, after the symbols."""
        number = name[1:].rstrip(b"\0")
        if not (name.startswith(b"/") and number.isdigit()):
            return name
        strings = self.symbols + self.number_of_symbols * _SYMBOL
        return data.read(strings + int(number), len(_NAMES[0]))
