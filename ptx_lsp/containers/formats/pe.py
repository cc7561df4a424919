"""Windows libraries and executables (PE) with fat binaries in sections."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.entry import Content, Format
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.fat_binaries import fat_binaries

_SECTIONS: Final = (b".nv_fatb", b"__nv_rel")
"""Names are cut to eight bytes."""
_MAGIC: Final = b"PE\0\0"
_OFFSET: Final = struct.Struct("<I")
_HEADER: Final = struct.Struct("<4sHHIIIHH")
_SECTION: Final = struct.Struct("<8sIIII16x")


def _contents(data: ByteRange) -> Iterator[Content]:
    offset = _offset(data)
    _, _, number, _, _, _, optional, _ = _HEADER.unpack(
        data.read(offset, _HEADER.size).ljust(_HEADER.size, b"\0")
    )
    table = data.read(offset + _HEADER.size + optional, number * _SECTION.size)
    if len(table) < number * _SECTION.size:
        raise ContainerError("is truncated: its section table is not inside the file")
    places = [
        (start, min(size, stored) if size else stored)
        for name, size, _, stored, start in _SECTION.iter_unpack(table)
        if name in _SECTIONS
    ]
    for section in data.sections(places):
        yield from fat_binaries(section)


def _offset(data: ByteRange) -> int:
    """The offset of the header."""
    field = data.read(0x3C, _OFFSET.size).ljust(_OFFSET.size, b"\0")
    return int.from_bytes(field, "little")


def _recognises(data: ByteRange) -> bool:
    return data.read(_offset(data), len(_MAGIC)) == _MAGIC


FORMAT: Final = Format("Windows program", (b"MZ",), _contents, _recognises)
