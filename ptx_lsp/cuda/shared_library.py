"""A shared library whose functions jump to addresses in a table, as an ELF file.

Programs load the CUDA driver as `libcuda.so.1`: some open it, some are linked with it, some ask for the
addresses of its functions. A file with that name and those functions serves all of them. Each function is a
few bytes of machine code, so no compiler is needed to make it.

1. Function n jumps to the address in entry n of the table, with its arguments as they are.
2. While the entry is 0 it returns ABSENT, which is also what other processes get that load the file.
3. The table is the symbol TABLE.
4. Loaders read the program headers, and linkers the section headers.
"""

from __future__ import annotations

import platform
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

TABLE = "ptx_lsp_functions"
ABSENT = 100
"""CUDA_ERROR_NO_DEVICE."""

_PAGE = 0x1_0000
_STUB_BYTES = 32
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<QQ")
_FUNCTION, _OBJECT = 0x12, 0x11  # of global symbols


class _Section(NamedTuple):
    name: str
    type: int
    flags: int
    data: bytes
    link: int = 0
    info: int = 0
    entry_size: int = 0


def is_supported() -> bool:
    """Whether this machine can load such a library."""
    return platform.system() == "Linux" and platform.machine() in _MACHINES


def shared_library(name: str, functions: Sequence[str], machine: str) -> bytes:
    """The file of the library `name` for a machine, as `platform.machine()` calls it."""
    number, stub = _MACHINES[machine]
    strings, offsets = b"\0", list[int]()
    for one in (name, *functions, TABLE):
        offsets.append(len(strings))
        strings += one.encode() + b"\0"
    count = len(functions) + 2  # and the symbol without a name, and the table
    chain = struct.pack(f"<{count + 3}I", 1, count, 1, 0, *range(2, count), 0)
    hash_at = _HEADER.size + 4 * _PROGRAM_HEADER.size
    symbols_at = _aligned(hash_at + len(chain), 8)
    strings_at = symbols_at + _SYMBOL.size * count
    code_at = _aligned(strings_at + len(strings), _STUB_BYTES)
    code_end = code_at + _STUB_BYTES * len(functions)
    dynamic_at = _aligned(code_end, _PAGE)
    dynamic = b"".join(_DYNAMIC.pack(*one) for one in (
        (14, offsets[0]), (4, hash_at), (5, strings_at), (6, symbols_at), (10, len(strings)),
        (11, _SYMBOL.size), (0, 0),
    ))
    table_at = dynamic_at + len(dynamic)
    end = table_at + 8 * len(functions)
    symbols, code = bytes(_SYMBOL.size), b""
    for n, offset in enumerate(offsets[1:-1]):
        at = code_at + _STUB_BYTES * n
        symbols += _SYMBOL.pack(offset, _FUNCTION, 0, _CODE, at, _STUB_BYTES)
        code += stub(table_at + 8 * n - at).ljust(_STUB_BYTES, b"\0")
    symbols += _SYMBOL.pack(offsets[-1], _OBJECT, 0, _DATA, table_at, 8 * len(functions))
    sections = (
        (hash_at, _Section(".hash", 5, 2, chain, link=2, entry_size=4)),
        (symbols_at, _Section(".dynsym", 11, 2, symbols, link=3, info=1, entry_size=_SYMBOL.size)),
        (strings_at, _Section(".dynstr", 3, 2, strings)),
        (code_at, _Section(".text", 1, 6, code)),
        (dynamic_at, _Section(".dynamic", 6, 3, dynamic, link=3, entry_size=_DYNAMIC.size)),
        (table_at, _Section(".data", 1, 3, bytes(8 * len(functions)))),
    )
    programs = b"".join(
        _PROGRAM_HEADER.pack(kind, flags, at, at, at, size, size, alignment)
        for kind, flags, at, size, alignment in (
            (1, 5, 0, code_end, _PAGE),  # loaded, to be read and executed
            (1, 6, dynamic_at, end - dynamic_at, _PAGE),  # loaded, to be read and written
            (2, 6, dynamic_at, len(dynamic), 8),
            (0x6474E551, 6, 0, 0, 16),  # the stack is not executable
        )
    )
    file = bytearray(end)
    for at, section in sections:
        file[at : at + len(section.data)] = section.data
    headers, section_names = bytes(_SECTION_HEADER.size), b"\0"
    for at, one in (*sections, (end, _Section(".shstrtab", 3, 0, b""))):
        size = len(one.data) or len(section_names) + len(one.name) + 1
        headers += _SECTION_HEADER.pack(
            len(section_names), one.type, one.flags, at if one.flags else 0, at, size, one.link, one.info, 8,
            one.entry_size,
        )
        section_names += one.name.encode() + b"\0"
    identity = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    headers_at = _aligned(end + len(section_names), 8)
    file[: hash_at] = _HEADER.pack(
        identity, 3, number, 1, 0, _HEADER.size, headers_at, 0, _HEADER.size, _PROGRAM_HEADER.size, 4,
        _SECTION_HEADER.size, len(sections) + 2, len(sections) + 1,
    ) + programs
    return bytes(file + section_names.ljust(headers_at - end, b"\0") + headers)


_CODE, _DATA = 4, 6
"""The numbers of sections."""


def _aligned(offset: int, size: int) -> int:
    return -(-offset // size) * size


def _x86_64(distance: int) -> bytes:
    """A function whose entry is so many bytes after its start."""
    return (
        b"\xf3\x0f\x1e\xfa"  # endbr64
        + b"\x48\x8b\x05" + struct.pack("<i", distance - 11)  # mov rax, [rip + ...]
        + b"\x48\x85\xc0\x74\x02\xff\xe0"  # test rax, rax; jz +2; jmp rax
        + b"\xb8" + struct.pack("<I", ABSENT) + b"\xc3"  # mov eax, ABSENT; ret
    )


def _aarch64(distance: int) -> bytes:
    return struct.pack(
        "<6I",
        0xD503245F,  # bti c
        0x58000010 | (distance - 4) // 4 << 5,  # ldr x16, ...
        0xB4000050,  # cbz x16, +8
        0xD61F0200,  # br x16
        0x52800000 | ABSENT << 5,  # mov w0, ABSENT
        0xD65F03C0,  # ret
    )


_MACHINES: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "x86_64": (62, _x86_64), "aarch64": (183, _aarch64),
}
