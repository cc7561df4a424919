"""Windows object files (COFF, `.obj`) with fat binaries in sections. Archives of them are `.lib` files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.coff import CoffHeader
from ptx_lsp.containers.entry import Content, Format
from ptx_lsp.containers.fat_binaries import fat_binaries

_MACHINES: Final = (b"\x64\x86", b"\x64\xaa")
"""x64 and Arm64: neither is the beginning of a text in UTF-8."""


def _contents(data: ByteRange) -> Iterator[Content]:
    for section in CoffHeader.read(data, 0).fat_binaries(data):
        yield from fat_binaries(section)


def _recognises(data: ByteRange) -> bool:
    header = CoffHeader.read(data, 0)
    return header.optional_size == 0 and header.symbols <= data.size and header.has_its_table(data)


FORMAT: Final = Format("Windows object file", _MACHINES, _contents, _recognises)
