"""The linker: PTX texts become one text. There is no machine code to link."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from pathlib import Path

from ptx_lsp.cuda.device_runtime import PTX
from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Int, Pointer, Size, UInt, driver_function
from ptx_lsp.cuda.host_memory import host_bytes, read_text, write_word
from ptx_lsp.cuda.modules import text_of
from ptx_lsp.cuda.results import DriverError, Result

_PTX, _FAT_BINARY = 1, 2
_DEVICE_RUNTIME = "cudadevrt"
_HEAD = re.compile(r"^[ \t]*\.(version|target|address_size)\b.*$", re.MULTILINE)
_VERSION = re.compile(r"^[ \t]*\.version[ \t]+(\d+)\.(\d+)", re.MULTILINE)


@dataclass
class Linker:
    """Texts to be linked, and the result."""

    texts: list[str] = field(default_factory=list[str])
    linked: ctypes.Array[ctypes.c_char] | None = None


@driver_function("cuLinkCreate_v2")
def create(driver: Driver, count: UInt, options: Pointer, values: Pointer, result: Pointer) -> None:
    del count, options, values
    write_word(result, driver.add(Linker()))


@driver_function("cuLinkAddData_v2")
def add_data(driver: Driver, linker: Size, kind: Int, data: Pointer, size: Size, name: Pointer) -> None:
    _add(driver, linker, kind, host_bytes(data, size).tobytes(), read_text(name) if name else "")


@driver_function("cuLinkAddFile_v2")
def add_file(driver: Driver, linker: Size, kind: Int, path: Pointer) -> None:
    name = read_text(path)
    try:
        data = Path(name).read_bytes()
    except OSError as error:
        raise DriverError(Result.FILE_NOT_FOUND, f"{error}") from error
    _add(driver, linker, kind, data, name)


@driver_function("cuLinkComplete")
def complete(driver: Driver, linker: Size, result: Pointer, size: Pointer) -> None:
    found = driver.get(linker, Linker)
    text = linked(found.texts).encode()
    found.linked = ctypes.create_string_buffer(text)
    write_word(result, ctypes.addressof(found.linked))
    write_word(size, len(text) + 1)


@driver_function("cuLinkDestroy", is_deferred=True)
def destroy(driver: Driver, linker: Size) -> None:
    driver.remove(linker, Linker)


def linked(texts: list[str]) -> str:
    """One module of several: the head of the first, with the newest version of PTX."""
    if len(texts) < 2:
        return "".join(texts)
    versions = [(int(one[1]), int(one[2])) for text in texts for one in _VERSION.finditer(text)]
    major, minor = max(versions, default=(0, 0))
    first = _VERSION.sub(f".version {major}.{minor}", texts[0], count=1)
    return "\n".join([first, *(_HEAD.sub("", one) for one in texts[1:])])


def _add(driver: Driver, linker: int, kind: int, data: bytes, name: str) -> None:
    found = driver.get(linker, Linker)
    if _DEVICE_RUNTIME in name:
        found.texts.append(PTX)
        return
    if kind not in (_PTX, _FAT_BINARY):
        raise DriverError(Result.NOT_SUPPORTED, f"`{name}` is not PTX, and only PTX can be linked")
    found.texts.append(text_of(data))
