"""The library `libcuda.so.1`: what tools read in its file, and what the loader makes of it."""

from __future__ import annotations

import ctypes
import io
import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from ptx_lsp.cuda.shared_library import ABSENT, TABLE, is_supported, shared_library

FUNCTIONS = [f"cuFunction{number}_v{number % 3}" for number in range(100)]


@pytest.mark.parametrize(("machine", "number"), [("x86_64", "EM_X86_64"), ("aarch64", "EM_AARCH64")])
@pytest.mark.parametrize("functions", [[], FUNCTIONS[:1], FUNCTIONS], ids=len)
def test_tools_can_read_the_file(machine: str, number: str, functions: list[str]) -> None:
    elffile = pytest.importorskip("elftools.elf.elffile")
    data = shared_library("libshift.so.1", functions, machine)
    elf = elffile.ELFFile(io.BytesIO(data))
    assert (elf["e_type"], elf["e_machine"], elf.elfclass) == ("ET_DYN", number, 64)
    tags = {one.entry.d_tag: one for one in elf.get_section_by_name(".dynamic").iter_tags()}
    assert tags["DT_SONAME"].soname == "libshift.so.1"
    for tag, name in (("DT_HASH", ".hash"), ("DT_STRTAB", ".dynstr"), ("DT_SYMTAB", ".dynsym")):
        assert tags[tag].entry.d_ptr == elf.get_section_by_name(name)["sh_addr"]
    assert tags["DT_STRSZ"].entry.d_val == elf.get_section_by_name(".dynstr")["sh_size"]
    symbols = elf.get_section_by_name(".dynsym")
    assert [one.name for one in symbols.iter_symbols()] == ["", *functions, TABLE]
    for one in list(symbols.iter_symbols())[1:]:
        section = elf.get_section(one["st_shndx"])
        start = one["st_value"] - section["sh_addr"]
        assert section.name == (".data" if one.name == TABLE else ".text")
        assert 0 <= start <= start + one["st_size"] <= section["sh_size"]
    for section in elf.iter_sections():
        assert section["sh_offset"] + section["sh_size"] <= len(data)


def test_no_segment_can_be_both_written_and_executed() -> None:
    elffile = pytest.importorskip("elftools.elf.elffile")
    elf = elffile.ELFFile(io.BytesIO(shared_library("libshift.so.1", FUNCTIONS, "x86_64")))
    loaded = [one["p_flags"] for one in elf.iter_segments("PT_LOAD")]
    assert loaded == [5, 6]  # read and execute, read and write
    assert [one["p_flags"] for one in elf.iter_segments("PT_GNU_STACK")] == [6]


@pytest.mark.skipif(not is_supported(), reason=f"no driver for {platform.platform()}")
def test_functions_jump_to_the_table(tmp_path: Path) -> None:
    """With an entry of 0 they return ABSENT; else the arguments and the result pass through."""
    path = tmp_path / "libshift.so.1"
    path.write_bytes(shared_library(path.name, FUNCTIONS, platform.machine()))
    library = ctypes.CDLL(str(path))
    assert {library[name]() for name in FUNCTIONS} == {ABSENT}
    table = (ctypes.c_void_p * len(FUNCTIONS)).in_dll(library, TABLE)
    signature = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint64] * 9)  # registers and the stack
    got: list[tuple[int, ...]] = []
    callbacks = [signature(_remember(got, number)) for number in range(len(FUNCTIONS))]
    for number, callback in enumerate(callbacks):
        table[number] = ctypes.cast(callback, ctypes.c_void_p).value
    arguments = tuple(1 << 63 | one for one in range(9))
    for number, name in enumerate(FUNCTIONS):
        function = signature(ctypes.cast(library[name], ctypes.c_void_p).value or 0)
        assert function(*arguments) == number
    assert got == [arguments] * len(FUNCTIONS)
    table[0] = 0
    assert (library[FUNCTIONS[0]](), library[FUNCTIONS[1]](*[ctypes.c_uint64(0)] * 9)) == (ABSENT, 1)


def _remember(got: list[tuple[int, ...]], number: int) -> Callable[..., int]:
    def call(*arguments: int) -> int:
        got.append(arguments)
        return number

    return call
