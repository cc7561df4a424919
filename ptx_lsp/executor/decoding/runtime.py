"""The functions that every device provides to CUDA programs: `malloc`, `free`, `vprintf`, `__assertfail`.

They have no body in PTX. Their behaviour is specified by the CUDA C++ Programming Guide ("Dynamic Global
Memory Allocation and Operations", "Formatted Output", "Assertion") and by the declarations that nvcc writes.
"""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave

Words = npt.NDArray[np.uint64]
_HEAP_BYTES = 8 << 20
_ALIGNMENT = 16
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+))?(hh|h|ll|l|j|z|t)?([diouxXcsfFeEgGaAp%])")
_LONG = ("l", "ll", "j", "z", "t")


class Provided:
    """A call of one of them: the registers of its arguments, and of its result if any."""

    def __init__(
        self, name: str, spaces: Spaces, arguments: Sequence[int], result: int | None
    ) -> None:
        self._function = _FUNCTIONS[name]
        self._spaces = spaces
        self._arguments = tuple(arguments)
        self._result = result

    def run(self, wave: Wave, mask: Bools | None) -> None:
        full = wave.full_mask(mask)
        lanes = np.flatnonzero(full)
        given = [
            wave.broadcast(wave.registers[number]).reshape(-1)[lanes].astype(np.uint64)
            for number in self._arguments
        ]
        found = self._function(_Threads(wave, self._spaces, lanes), given)
        if self._result is not None:
            whole: Array = np.zeros(wave.shape, np.uint64)
            whole[full] = found
            dtype = wave.registers[self._result].dtype
            wave.write(self._result, whole.astype(dtype), wave.normal(full))


def is_provided(name: str) -> bool:
    return name in _FUNCTIONS


class _Threads:
    """Lanes of a wave, and how each reads memory."""

    def __init__(self, wave: Wave, spaces: Spaces, lanes: npt.NDArray[np.int64]) -> None:
        self.wave = wave
        self.spaces = spaces
        self.lanes = lanes

    def mask(self, at: int) -> Bools:
        one = np.zeros(self.wave.shape, np.bool_)
        one.reshape(-1)[self.lanes[at]] = True
        return one

    def bytes(self, at: int, address: int, size: int) -> bytes:
        """What the lane with that position reads at a generic address."""
        where = np.array([address], np.uint64)
        ((reach, _),) = self.spaces.resolve(self.wave, where, "", size, self.mask(at), None)
        start = int(reach.offsets[0])
        return reach.data.reshape(-1)[start : start + size].tobytes()

    def text(self, at: int, address: int) -> str:
        """A string that ends with a zero."""
        found = bytearray()
        while True:
            byte = self.bytes(at, address + len(found), 1)
            if byte == b"\0":
                return found.decode(errors="replace")
            found += byte


def _allocate(threads: _Threads, arguments: list[Words]) -> Words:
    """Memory of the heap, 8 MB; a null pointer where it has no more."""
    heap = threads.spaces.memory.heap(_HEAP_BYTES)
    sizes = np.minimum(arguments[0], np.uint64(_HEAP_BYTES)) + np.uint64(_ALIGNMENT - 1)
    sizes = np.maximum(sizes & ~np.uint64(_ALIGNMENT - 1), np.uint64(_ALIGNMENT))
    ends = np.cumsum(sizes) + np.uint64(heap.used)
    fits = ends <= np.uint64(_HEAP_BYTES)
    heap.used = int(ends[fits].max(initial=heap.used))
    return np.where(fits, np.uint64(heap.base) + ends - sizes, np.uint64(0))


def _free(threads: _Threads, arguments: list[Words]) -> Words:
    """Memory is not used again, so that what uses it too late finds what it left."""
    return np.zeros(arguments[0].shape, np.uint64)


def _print(threads: _Threads, arguments: list[Words]) -> Words:
    """To the standard output, thread by thread."""
    counts: list[int] = []
    for at, (format_at, values_at) in enumerate(zip(*(one.tolist() for one in arguments), strict=True)):
        text, count = _formatted(threads, at, threads.text(at, format_at), values_at)
        sys.stdout.write(text)
        counts.append(count)
    return np.array(counts, np.uint64)


def _formatted(threads: _Threads, at: int, form: str, address: int) -> tuple[str, int]:
    """The text, and how many arguments it took: they lie one behind the other, each aligned to its size."""
    count = 0

    def take(size: int) -> bytes:
        nonlocal address, count
        address = -(-address // size) * size + size
        count += 1
        return threads.bytes(at, address - size, size)

    def number(size: int) -> int:
        return int.from_bytes(take(size), "little", signed=True)

    def replaced(found: re.Match[str]) -> str:
        flags, width, precision, length, kind = found.groups(default="")
        if kind == "%":
            return "%"
        width = str(number(4)) if width == "*" else width
        precision = str(number(4)) if precision == "*" else precision
        style = "%" + flags + width + (f".{precision}" if precision else "")
        size = 8 if length in _LONG or kind in "sp" else 4
        if kind in "fFeEgGaA":
            (value,) = struct.unpack("<d", take(8))
            return (style + kind) % value if kind not in "aA" else float(value).hex()
        if kind == "s":
            return (style + "s") % threads.text(at, number(8) % 2**64)
        value = number(size)
        if kind == "p":
            return f"{value % 2**64:#x}"
        if kind == "c":
            return (style + "s") % chr(value & 0xFF)
        return (style + kind) % (value if kind in "di" else value % 2 ** (8 * size))

    return _DIRECTIVE.sub(replaced, form), count


def _fail(threads: _Threads, arguments: list[Words]) -> Words:
    message, file, line, function = (int(one[0]) for one in arguments[:4])
    texts = [threads.text(0, address) for address in (message, file, function)]
    raise ExecutionError(
        f"assertion `{texts[0]}` failed in `{texts[2]}` ({texts[1]}:{line})",
        "trap",
        lanes=threads.wave.thread_ids(threads.mask(0)),
    )


_FUNCTIONS: dict[str, Callable[[_Threads, list[Words]], Words]] = {
    "malloc": _allocate,
    "free": _free,
    "vprintf": _print,
    "__assertfail": _fail,
}
