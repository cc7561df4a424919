"""ELF files: host objects, libraries and executables with fat binaries in sections, and cubins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, Final, cast

from ptx_lsp.containers.byte_range import ByteRange, Stream
from ptx_lsp.containers.entry import MACHINE_CODE, Content, Entry, Format
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.fat_binaries import fat_binaries
from ptx_lsp.containers.payload import missing_package

_SECTIONS: Final = (".nv_fatbin", "__nv_relfatbin")
"""In the order in which cuobjdump lists them, wherever they are in the file."""
_CUDA: Final = (190, "EM_CUDA")
_ABI_13: Final = b"\x41"
_BYTES_PER_READ: Final = 4
"""pyelftools reads a section header field by field."""
_MOST_READS: Final = 2 << 20
_SMALL: Final = 1 << 16
"""Limits are as for a file of this size at least."""


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
    size = max(data.size, _SMALL)
    stream = Stream(data, min(size // _BYTES_PER_READ, _MOST_READS), size * 2)
    try:
        elf = ELFFile(cast(IO[bytes], stream))
        if elf["e_machine"] in _CUDA:
            return [], _target_of_cubin(int(elf["e_flags"]), data.read(7, 1))
        table = int(elf["e_shoff"])
        if table >= data.size or elf.num_sections() * int(elf["e_shentsize"]) > data.size - table:
            raise ContainerError("is truncated: its section table is not inside the file")
        names = elf.get_section(elf.get_shstrndx()).data() if table else b""
        if not any(
            name.encode() in names for name in _SECTIONS
        ):  # archives may have thousands of those
            return [], None
        found: dict[str, list[tuple[int, int]]] = {name: [] for name in _SECTIONS}
        for section in elf.iter_sections("SHT_PROGBITS"):
            if section.name in found:
                found[section.name].append((int(section["sh_offset"]), int(section["sh_size"])))
        return data.sections([*chain.from_iterable(found.values())]), None
    except (ContainerError, OSError):
        raise
    except Exception as error:  # pyelftools raises much else than ELFError for damaged files
        raise ContainerError("is damaged: its ELF headers cannot be read") from error


def _target_of_cubin(flags: int, abi: bytes) -> str:
    """The target of a cubin. CUDA 13 has moved it."""
    return f"sm_{flags >> 8 & 0xFF if abi == _ABI_13 else flags & 0xFF}"


FORMAT: Final = Format("ELF file", (b"\x7fELF",), _contents)
