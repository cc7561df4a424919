"""The memory of this process, at addresses that C passes."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


def host_bytes(address: int, size: int) -> Bytes:
    """`size` bytes from an address on."""
    if not size:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def read_word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def read_words(address: int, count: int) -> list[int]:
    """Numbers of 64 bits."""
    return list((ctypes.c_uint64 * count).from_address(address)) if address else []


def read_ints(address: int, count: int) -> list[int]:
    """Numbers of 32 bits, without a sign."""
    return list((ctypes.c_uint32 * count).from_address(address)) if address else []


def read_text(address: int) -> str:
    """A text that ends with a NUL byte."""
    return ctypes.string_at(address).decode("utf-8", "replace")


def write_word(address: int, value: int) -> None:
    """Writes 64 bits; nothing at address 0."""
    if address:
        ctypes.c_uint64.from_address(address).value = value


def write_int(address: int, value: int) -> None:
    """Writes 32 bits; nothing at address 0."""
    if address:
        ctypes.c_uint32.from_address(address).value = value


def write_float(address: int, value: float) -> None:
    """Writes a float of 32 bits; nothing at address 0."""
    if address:
        ctypes.c_float.from_address(address).value = value


def write_text(address: int, size: int, text: str) -> None:
    """Writes a text and a NUL byte, of which `size` bytes have room."""
    data = text.encode()[: size - 1] + b"\0"
    ctypes.memmove(address, data, len(data))
