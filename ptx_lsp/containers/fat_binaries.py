"""Fat binaries: what nvcc and `fatbinary` make of the PTX and machine code for several targets.

NVIDIA does not document the format. This is what `fatbinary` 13.5 writes, in all its compression modes, and
`tests/containers` compares with `cuobjdump`. All numbers are little-endian.

A fat binary is a header of 16 bytes (magic, version, size of the header, size of what follows) and entries.
An entry is a header and a payload:

    0x00  u16 kind: 1 PTX, 64 relocatable PTX, 2 and 16 machine code, 8 LTO IR, 128 tile IR,
          256 several entries compressed together
    0x04  u32 size of the header, a multiple of 8 and at least 64
    0x08  u64 size of the payload in the file, with padding
    0x10  u32 size of the payload without padding, if compressed
    0x14  u32 offset of the options for ptxas in the header: u32 offset, u32 length
    0x18  u16 minor and u16 major PTX version
    0x1c  u32 target: 90 for sm_90
    0x20  u32 offset and u32 length of the identifier in the header
    0x28  u64 flags: 0x2000 LZ4 block, 0x8000 zstd, 0x10000 obfuscated, 0x100000 the target ends with `a`,
          0x200000 with `f`
    0x38  u64 size of the decompressed payload, if compressed

Entries that are compressed together (`fatbinary --concat`) have a table in the header of their group: u32
number, u32 size, then the headers of the entries. There, 0x04 is the offset in the decompressed payload.

Fat binaries follow each other in a section, aligned with NUL bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.entry import LTO_IR, MACHINE_CODE, PTX, TILE_IR, Damage, Entry, Place
from ptx_lsp.containers.payload import LZ4, OBFUSCATED, ZSTD
from ptx_lsp.named_tuple import NamedTuple

MAGIC: Final = b"\x50\xed\x55\xba"
_HEADER: Final = struct.Struct("<4sHHQ")
_ENTRY: Final = struct.Struct("<HHIQIIHHIIIQQQ")
_PAIR: Final = struct.Struct("<II")
_GROUP: Final = 256
_KINDS: Final = {
    1: PTX, 2: MACHINE_CODE, 4: MACHINE_CODE, 8: LTO_IR, 16: MACHINE_CODE, 32: "an index", 64: PTX,
    128: TILE_IR,
}  # fmt: skip
_COMPRESSED: Final = 0xF000
_COMPRESSIONS: Final = {0x2000: LZ4, 0x8000: ZSTD}
_OBFUSCATED: Final = 0x1_0000
_SUFFIXES: Final = {0x10_0000: "a", 0x20_0000: "f"}
_READ_AT_ONCE: Final = 512
_LONGEST_HEADER: Final = 1 << 20
_LONGEST_IN_TABLE: Final = 1 << 14
_LONGEST_STRING: Final = 4096
_PIECE: Final = 1 << 16


def fat_binaries(data: ByteRange) -> Iterator[Entry | Damage]:
    """The entries of the fat binaries that follow each other in `data`."""
    offset = 0
    while offset < data.size:
        head = data.read(offset, _HEADER.size)
        if not head.startswith(MAGIC):
            start = _after_padding(data, offset)
            if start < data.size and (start == offset or data.read(start, len(MAGIC)) != MAGIC):
                yield Damage(f"has no fat binary at byte {data.start + start}")
                return
            offset = start
            continue
        if len(head) < _HEADER.size:
            yield _truncated(data, offset)
            return
        _, version, header, size = _HEADER.unpack(head)
        if version != 1 or header < _HEADER.size:
            where = data.start + offset
            yield Damage(f"has a fat binary of an unknown version ({version}) at byte {where}")
            return
        contents = _entries(data.part(offset + header, size))
        if header + size > data.size - offset:
            yield _truncated(data, offset)
            contents = (one for one in contents if isinstance(one, Entry))
        yield from contents
        offset += header + size


def _entries(data: ByteRange) -> Iterator[Entry | Damage]:
    offset = 0
    while offset < data.size:
        raw = _RawEntry.read(data, offset)
        if raw is None or raw.header + raw.padded > data.size - offset:
            yield Damage(f"has no complete entry at byte {data.start + offset}")
            return
        if raw.kind == _GROUP:
            yield from _group(raw, data.start + offset)
        else:
            yield raw.entry(data.start + offset + raw.header)
        offset += raw.header + raw.padded


class _RawEntry(NamedTuple):
    """The header of an entry."""

    bytes: bytes
    kind: int
    version: int
    header: int
    padded: int
    compressed: int
    options: int
    minor: int
    major: int
    target: int
    identifier: int
    identifier_length: int
    flags: int
    reserved: int
    whole: int

    @staticmethod
    def read(data: ByteRange, offset: int) -> _RawEntry | None:
        head = data.read(offset, _READ_AT_ONCE)
        if len(head) < _ENTRY.size:
            return None
        size = _PAIR.unpack_from(head)[1]
        if not _ENTRY.size <= size <= _LONGEST_HEADER:
            return None
        if size > len(head):
            head = data.read(offset, size)
        return _RawEntry.parse(head[:size])

    @staticmethod
    def parse(head: bytes) -> _RawEntry:
        return _RawEntry(head, *_ENTRY.unpack_from(head))

    def entry(self, offset: int) -> Entry:
        """What it stands for, with its payload at an offset of the file."""
        if compression := self.compression:
            place = Place(
                offset, min(self.compressed, self.padded), compression, self.whole, 0, self.whole
            )
        else:
            place = Place(offset, self.padded, "", self.padded, 0, self.padded)
        identifier = self.text(self.identifier, self.identifier_length)
        version = f"{self.major}.{self.minor}"
        return Entry(
            self.kind_name, self.target_name, version, place, identifier, self.options_text
        )

    @property
    def kind_name(self) -> str:
        return _KINDS.get(self.kind, f"code of an unknown kind ({self.kind})")

    @property
    def compression(self) -> str:
        if self.flags & _OBFUSCATED:
            return OBFUSCATED
        flag = self.flags & _COMPRESSED
        return _COMPRESSIONS.get(flag, f"flag {flag:#x}") if flag else ""

    @property
    def target_name(self) -> str:
        suffix = "".join(letter for flag, letter in _SUFFIXES.items() if self.flags & flag)
        return f"sm_{self.target}{suffix}"

    @property
    def options_text(self) -> str:
        if not 0 < self.options <= len(self.bytes) - _PAIR.size:
            return ""
        return self.text(*_PAIR.unpack_from(self.bytes, self.options))

    def text(self, offset: int, length: int) -> str:
        if not offset:
            return ""
        found = self.bytes[offset : offset + min(length, _LONGEST_STRING)]
        return found.partition(b"\0")[0].decode(errors="replace")

    @property
    def size_in_table(self) -> int:
        """The size of the header in the table of a group, which does not state it."""
        end = _ENTRY.size
        if self.identifier:
            end = max(end, self.identifier + _aligned(self.identifier_length + 1))
        if 0 < self.options <= len(self.bytes) - _PAIR.size:
            offset, length = _PAIR.unpack_from(self.bytes, self.options)
            end = max(end, self.options + _PAIR.size, offset + _aligned(length + 1))
        return end


def _group(group: _RawEntry, offset: int) -> Iterator[Entry | Damage]:
    """The entries of a group, whose header is at an offset of the file."""
    head = group.bytes
    whole = group.entry(offset + group.header).place
    number, position = 1, len(head)
    if _ENTRY.size <= group.options <= len(head) - _PAIR.size:
        number = _PAIR.unpack_from(head, group.options)[0]
        position = group.options + _PAIR.size
    end = 0
    while number and position + _ENTRY.size <= len(head):
        raw = _RawEntry.parse(head[position : position + _LONGEST_IN_TABLE])
        start, end = end, raw.header + raw.padded
        if raw.header < start or end > whole.size:
            break
        yield raw.entry(0)._replace(place=whole._replace(start=raw.header, size=raw.padded))
        position += raw.size_in_table
        number -= 1
    if number:
        yield Damage(f"has a damaged table of entries at byte {offset}")


def _aligned(size: int) -> int:
    return -(-size // 8) * 8


def _after_padding(data: ByteRange, offset: int) -> int:
    """The first byte from an offset on that is not NUL."""
    while piece := data.read(offset, _PIECE):
        rest = piece.lstrip(b"\0")
        offset += len(piece) - len(rest)
        if rest:
            return offset
    return data.size


def _truncated(data: ByteRange, offset: int) -> Damage:
    return Damage(f"is truncated: the fat binary at byte {data.start + offset} is not complete")
