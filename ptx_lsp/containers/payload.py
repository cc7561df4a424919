"""The bytes of members: where they are in a file, and how they are decompressed, up to a limit."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import IO, Final, Protocol, cast

from ptx_lsp.containers.byte_range import ByteRange, Stream
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.named_tuple import NamedTuple

MOST_BYTES: Final = 64 << 20
"""Larger members are rejected, as larger files are (`cli/inputs.py`)."""
LZ4: Final = "lz4"
ZSTD: Final = "zstd"
OBFUSCATED: Final = "obfuscated"
MOST_TOGETHER: Final = 1 << 30
"""The limit for members that are compressed together. Only one of them is kept."""
_PIECE: Final = 1 << 20
_INSTALL: Final = "pip install 'ptx-lsp[containers]'"


class Payload(NamedTuple):
    """Where the bytes of a member are, and how they are compressed."""

    path: str
    offset: int
    stored: int
    """The bytes in the file."""
    compression: str = ""
    """`lz4`, `zstd`, or nothing for plain bytes."""
    whole: int = 0
    """The decompressed size as stated. 0 if nothing states it."""
    start: int = 0
    """Its first byte within what is decompressed: several members may be compressed together."""
    size: int = 0
    """The bytes of the member as stated, with padding."""

    def read(self) -> bytes:
        """The text of a member, without the NUL bytes at its end. Raises ContainerError and OSError."""
        _refuse_size(self.size, MOST_BYTES)
        with Path(self.path).open("rb") as file:
            stored = ByteRange(file, self.offset, self.stored)
            match self.compression:
                case "":
                    data = stored.read(0, self.stored)
                    if len(data) < self.stored:
                        raise ContainerError("is truncated")
                case "lz4":
                    data = _from_lz4(stored, self)
                case "zstd":
                    data = _from_zstd(stored, self)
                case "obfuscated":
                    raise ContainerError("is obfuscated: only the driver can read it")
                case other:
                    raise ContainerError(f"is compressed in an unknown way ({other})")
        return data.rstrip(b"\0")


def missing_package(name: str) -> ContainerError:
    """The error that a package of the extra is not installed."""
    return ContainerError(f"needs the package `{name}`; install it with `{_INSTALL}`")


def _refuse_size(size: int, limit: int) -> None:
    if size > limit:
        shown = f"{size / (1 << 20):.0f} MiB"
        raise ContainerError(f"too large: {shown}; the limit is {limit >> 20} MiB")


class _Lz4Block(Protocol):
    def decompress(self, source: bytes, uncompressed_size: int) -> bytes: ...


def _from_lz4(stored: ByteRange, payload: Payload) -> bytes:
    """An LZ4 block has no checksum and no size: the size comes from the entry."""
    _refuse_size(payload.whole, MOST_BYTES)
    _refuse_size(payload.stored, MOST_BYTES)
    try:
        block = cast(_Lz4Block, import_module("lz4.block"))
    except ImportError:
        raise missing_package("lz4") from None
    try:
        data = block.decompress(stored.read(0, payload.stored), payload.whole)
    except Exception as error:  # LZ4BlockError has no other base
        raise ContainerError("is damaged: LZ4 cannot decompress it") from error
    if len(data) < payload.whole:
        raise _wrong_size(payload)
    return data[payload.start : payload.start + payload.size]


def _from_zstd(stored: ByteRange, payload: Payload) -> bytes:
    """Decompressed piece by piece up to the end of the member; what precedes it is dropped."""
    _refuse_size(payload.whole, MOST_TOGETHER)
    try:
        from zstandard import ZstdDecompressor, ZstdError
    except ImportError:
        raise missing_package("zstandard") from None
    source = cast(IO[bytes], Stream(stored, payload.stored + 1, payload.stored))
    data = bytearray()
    try:
        with ZstdDecompressor(max_window_size=MOST_BYTES).stream_reader(source) as reader:
            left = payload.start
            while left and (piece := reader.read(min(_PIECE, left))):
                left -= len(piece)
            while piece := reader.read(min(_PIECE, payload.size - len(data))):
                data += piece
            is_last = payload.start + payload.size == payload.whole
            is_longer = is_last and reader.read(1) != b""
    except ZstdError as error:
        raise ContainerError("is damaged: zstd cannot decompress it") from error
    if len(data) < payload.size or is_longer:
        raise _wrong_size(payload)
    return bytes(data)


def _wrong_size(payload: Payload) -> ContainerError:
    return ContainerError(f"is damaged: it does not decompress to the stated {payload.whole} bytes")
