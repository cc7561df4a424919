"""The functions that every device provides to CUDA programs: `malloc`, `free`, `vprintf`, `__assertfail`.

They have no body in PTX. Their behaviour is specified by the CUDA C++ Programming Guide ("Dynamic Global
Memory Allocation and Operations", "Formatted Output", "Assertion") and by the declarations that nvcc writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.decoding.formatted_output import Arguments, formatted
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave

Words = npt.NDArray[np.uint64]
_HEAP_BYTES = 8 << 20
_USUAL_LENGTH = 1 << 12


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

    def read(self, at: int, address: int, size: int) -> bytes:
        """What the lane with that position reads at a generic address."""
        where = np.array([address], np.uint64)
        ((reach, _),) = self.spaces.resolve(self.wave, where, "", size, self.mask(at), None)
        start = int(reach.offsets[0])
        return reach.data.reshape(-1)[start : start + size].tobytes()

    def text(self, at: int, address: int) -> str:
        """A string that ends with a zero."""
        buffer = self.spaces.memory.find(address)
        if buffer is not None:
            first = address - buffer.base
            text, zero, _ = buffer.data[first : first + _USUAL_LENGTH].tobytes().partition(b"\0")
            if zero:
                return text.decode(errors="replace")
        found = bytearray()
        while (byte := self.read(at, address + len(found), 1)) != b"\0":
            found += byte
        return found.decode(errors="replace")


def _allocate(threads: _Threads, arguments: list[Words]) -> Words:
    """Memory of the heap, 8 MB; a null pointer where it has no more."""
    return threads.spaces.memory.heap(_HEAP_BYTES).allocate(arguments[0])


def _free(threads: _Threads, arguments: list[Words]) -> Words:
    heap = threads.spaces.memory.heap(_HEAP_BYTES)
    for at, address in enumerate(arguments[0].tolist()):
        problem = heap.free(address)
        if problem:
            raise ExecutionError(problem, "heap", lanes=threads.wave.thread_ids(threads.mask(at)))
    return np.zeros(arguments[0].shape, np.uint64)


def _print(threads: _Threads, arguments: list[Words]) -> Words:
    """To the console, thread by thread; the numbers of arguments, and -1 for a format that is a null pointer.
    """
    counts: list[int] = []
    formats: dict[int, str] = {}
    for at, (format_at, values_at) in enumerate(zip(*(one.tolist() for one in arguments), strict=True)):
        if not format_at:
            counts.append(-1)
            continue
        if format_at not in formats:
            formats = {format_at: threads.text(at, format_at)}
        given = Arguments(values_at, partial(threads.read, at))
        threads.spaces.console(formatted(formats[format_at], given, partial(threads.text, at)))
        counts.append(given.count)
    return np.array(counts, np.int64).view(np.uint64)


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
