"""Containers made byte by byte, for what no tool of NVIDIA writes."""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Protocol, cast

import zstandard

PTX = b".version 8.8\n.target sm_90\n.address_size 64\n"
LZ4 = 0x2000
ZSTD = 0x8000


def entry(
    payload: bytes = PTX,
    *,
    kind: int = 1,
    flags: int = 0,
    stored: int | None = None,
    whole: int = 0,
    target: int = 90,
) -> bytes:
    """An entry; `stored` is the size that it states for its compressed payload."""
    padded = payload + bytes(-len(payload) % 8)
    size = len(payload) if stored is None and flags else stored or 0
    return (
        struct.pack(
            "<HHIQIIHHIIIQQQ",
            kind,
            0x101,
            64,
            len(padded),
            size,
            0,
            8,
            8,
            target,
            0,
            0,
            flags,
            0,
            whole,
        )
        + padded
    )


def fat_binary(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def zstd_entry(text: bytes, whole: int | None = None) -> bytes:
    return entry(
        zstandard.ZstdCompressor().compress(text),
        flags=ZSTD,
        whole=len(text) if whole is None else whole,
    )


class _Lz4Block(Protocol):
    def compress(self, source: bytes, *, store_size: bool) -> bytes: ...


def lz4_entry(text: bytes, whole: int) -> bytes:
    block = cast(_Lz4Block, import_module("lz4.block"))
    return entry(block.compress(text, store_size=False), flags=LZ4, whole=whole)


def archive(*files: tuple[bytes, bytes]) -> bytes:
    """An archive of files with these names, of at most sixteen bytes."""
    parts = [
        name.ljust(16) + b"0".ljust(12) + b"0     0     644     " + str(len(data)).encode().ljust(10) + b"`\n"
        + data + b"\n" * (len(data) % 2)
        for name, data in files
    ]  # fmt: skip
    return b"!<arch>\n" + b"".join(parts)


def windows_library(section: bytes, *, name: bytes = b".nv_fatb") -> bytes:
    header = struct.pack("<4sHHIIIHH", b"PE\0\0", 0x8664, 1, 0, 0, 0, 0, 0)
    start = 64 + len(header) + 40
    table = struct.pack("<8sIIII16x", name, len(section), 0x1000, len(section), start)
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + header + table + section


def windows_object(section: bytes, name: bytes = b".nv_fatbin") -> bytes:
    """An object file with one section, whose name is in the string table."""
    start = 20 + 40
    header = struct.pack("<HHIIIHH", 0x8664, 1, 0, start + len(section), 1, 0, 0)
    table = struct.pack("<8sIIII16x", b"/4", 0, 0, len(section), start)
    return header + table + section + bytes(18) + struct.pack("<I", len(name) + 5) + name + b"\0"
