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
_OFFSET: Final = struct.Struct("<I")
_HEADER: Final = struct.Struct("<4sHHIIIHH")
_SECTION: Final = struct.Struct("<8sIIII16x")


def _contents(data: ByteRange) -> Iterator[Content]:
    offset = _OFFSET.unpack(data.read(0x3C, _OFFSET.size).ljust(_OFFSET.size, b"\0"))[0]
    head = data.read(offset, _HEADER.size)
    if len(head) < _HEADER.size or not head.startswith(b"PE\0\0"):
        raise ContainerError("is not a valid Windows program")
    _, _, number, _, _, _, optional, _ = _HEADER.unpack(head)
    table = data.read(offset + _HEADER.size + optional, number * _SECTION.size)
    if len(table) < number * _SECTION.size:
        raise ContainerError("is truncated: its section table is not inside the file")
    for name, size, _, stored, start in _SECTION.iter_unpack(table):
        if name in _SECTIONS:
            yield from fat_binaries(data.part(start, min(size, stored) if size else stored))


FORMAT: Final = Format("Windows program or library", (b"MZ",), _contents)
