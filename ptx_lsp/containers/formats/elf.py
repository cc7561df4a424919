"""ELF files: host objects, libraries and executables with fat binaries in sections, and cubins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, Final, cast

from ptx_lsp.containers.byte_range import ByteRange
from ptx_lsp.containers.entry import MACHINE_CODE, Content, Entry, Format
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.fat_binaries import fat_binaries
from ptx_lsp.containers.payload import missing_package

_SECTIONS: Final = (".nv_fatbin", "__nv_relfatbin")
"""In the order in which cuobjdump lists them, wherever they are in the file."""
_CUDA: Final = 190
_ABI_13: Final = b"\x41"
_MOST_READS: Final = 4 << 20
_MOST_READ: Final = 256 << 20


class _Stream:
    """A part of a file as pyelftools reads it. The number of reads and of bytes is limited: a damaged file
    can name the same bytes any number of times.
    """

    def __init__(self, data: ByteRange) -> None:
        self._data = data
        self._position = 0
        self._reads = _MOST_READS
        self._bytes = _MOST_READ

    def seek(self, offset: int, whence: int = 0) -> int:
        self._position = offset + (0, self._position, self._data.size)[whence]
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, count: int = -1) -> bytes:
        found = self._data.read(self._position, self._data.size if count < 0 else count)
        self._position += len(found)
        self._reads -= 1
        self._bytes -= len(found)
        if self._reads < 0 or self._bytes < 0:
            raise ValueError("its section table is too large")
        return found

    def close(self) -> None:
        """Does nothing: the file belongs to the caller."""


def _contents(data: ByteRange) -> Iterator[Content]:
    sections, cubin = _parse(data)
    if cubin is not None:
        yield Entry(MACHINE_CODE, cubin)
    for section in sections:
        yield from fat_binaries(section)


def _parse(data: ByteRange) -> tuple[list[ByteRange], str | None]:
    """The sections with fat binaries, and the target of a cubin."""
    try:
        from elftools.elf.elffile import ELFFile
    except ImportError:
        raise missing_package("pyelftools") from None
    try:
        elf = ELFFile(cast(IO[bytes], _Stream(data)))
        machine = data.read(18, 2)
        if int.from_bytes(machine, "little") == _CUDA:
            return [], _target_of_cubin(int(elf["e_flags"]), data.read(7, 1))
        if elf.num_sections() * int(elf["e_shentsize"]) > data.size:
            raise ContainerError(
                "is truncated or damaged: its section table is not inside the file"
            )
        found: dict[str, list[ByteRange]] = {name: [] for name in _SECTIONS}
        for section in elf.iter_sections("SHT_PROGBITS"):
            if section.name in found:
                part = data.part(int(section["sh_offset"]), int(section["sh_size"]))
                found[section.name].append(part)
        return list(chain.from_iterable(found.values())), None
    except ContainerError:
        raise
    except Exception as error:  # pyelftools raises much else than ELFError for damaged files
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ContainerError(f"is not a valid ELF file: {reason}") from error


def _target_of_cubin(flags: int, abi: bytes) -> str:
    """The target of a cubin. CUDA 13 has moved it."""
    return f"sm_{flags >> 8 & 0xFF if abi == _ABI_13 else flags & 0xFF}"


FORMAT: Final = Format("ELF file", (b"\x7fELF",), _contents)
