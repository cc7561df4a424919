"""Windows programs and libraries (PE) with fat binaries in sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.coff import CoffHeader
from ptx_lsp.containers.entry import Content, Format
from ptx_lsp.containers.fat_binaries import fat_binaries

_MAGIC: Final = b"PE\0\0"


def _contents(data: ByteRange) -> Iterator[Content]:
    for section in CoffHeader.read(data, _offset(data) + len(_MAGIC)).fat_binaries(data):
        yield from fat_binaries(section)


def _offset(data: ByteRange) -> int:
    """The offset of the header."""
    return int.from_bytes(data.read(0x3C, 4), "little")


def _recognises(data: ByteRange) -> bool:
    return data.read(_offset(data), len(_MAGIC)) == _MAGIC


FORMAT: Final = Format("Windows program", (b"MZ",), _contents, _recognises)
