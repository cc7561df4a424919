"""Writes fat binaries with plain entries, as `fatbinary --no-compress` does."""

from __future__ import annotations

import struct

_MAGIC = 0xBA55ED50


def fat_binary(*texts: bytes) -> bytes:
    """A fat binary with texts in PTX."""
    content = b"".join(_entry(text) for text in texts)
    return struct.pack("<IHHQ", _MAGIC, 1, 16, len(content)) + content


def machine_code(sm: int) -> bytes:
    """A fat binary without PTX."""
    content = _header(2, 64, 0, 0, sm) + bytes(64)
    return struct.pack("<IHHQ", _MAGIC, 1, 16, len(content)) + content


def _entry(text: bytes) -> bytes:
    data = text + bytes(8 - len(text) % 8)
    words = text.split()
    major, minor = words[words.index(b".version") + 1].split(b".")
    sm = int(words[words.index(b".target") + 1].removeprefix(b"sm_"))
    return _header(1, len(data), int(minor), int(major), sm) + data


def _header(kind: int, size: int, minor: int, major: int, sm: int) -> bytes:
    fields = struct.pack("<HHIQII", kind, 0x0101, 64, size, 0, 0)
    fields += struct.pack("<HHI", minor, major, sm)
    return fields + bytes(64 - len(fields))
