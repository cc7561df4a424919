"""The kernels of benchmarks/executor.py in numba's CUDA simulator, on few threads: it takes milliseconds a
thread.

What is measured goes by thread-instructions, those that the PTX kernels execute for the same threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib import import_module
from typing import Protocol, cast

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
TILE = 16


class _Index(Protocol):
    x: int
    y: int


class _Kernel(Protocol):
    """A kernel of numba: `kernel[grid, block](arguments)`."""

    def __getitem__(self, launch: tuple[object, object], /) -> Callable[..., None]: ...


class _Shared(Protocol):
    def array(self, shape: tuple[int, int], type: object) -> Floats: ...


class _Cuda(Protocol):
    """What is used of `numba.cuda`, which has no types."""

    threadIdx: _Index  # noqa: N815
    blockIdx: _Index  # noqa: N815
    shared: _Shared

    def jit(self, function: Callable[..., None], /) -> _Kernel: ...
    def grid(self, dimensions: int, /) -> int: ...
    def syncthreads(self) -> None: ...


cuda: _Cuda
"""`numba.cuda`, once there is a Simulator, which looks for it among the globals of a kernel."""


class Simulator:
    """Numba's simulator; ImportError where numba is not installed."""

    def __init__(self) -> None:
        global cuda
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
        cuda = cast("_Cuda", import_module("numba.cuda"))
        self.version = str(import_module("numba").__version__)

    def saxpy(self, threads: int) -> float:
        """The seconds that so many threads take; results are checked, here and below."""

        def kernel(n: int, a: np.float32, x: Floats, y: Floats) -> None:
            i = cuda.grid(1)
            if i < n:
                y[i] = a * x[i] + y[i]

        x, y = np.arange(threads, dtype=np.float32), np.ones(threads, np.float32)
        compiled = cuda.jit(kernel)[threads // 256, 256]
        seconds = _timed(lambda: compiled(threads, np.float32(2), x, y))
        assert np.array_equal(y, 4 * x + 1)  # it ran twice
        return seconds

    def matmul(self, a: Floats, b: Floats, size: int) -> float:
        """One block of a product of square matrices, tile by tile in shared memory."""

        def kernel(a: Floats, b: Floats, c: Floats, n: int) -> None:
            left = cuda.shared.array((TILE, TILE), np.float32)
            right = cuda.shared.array((TILE, TILE), np.float32)
            x, y = cuda.threadIdx.x, cuda.threadIdx.y
            column, row = cuda.blockIdx.x * TILE + x, cuda.blockIdx.y * TILE + y
            total = np.float32(0)
            for tile in range(0, n, TILE):
                left[y, x] = a[row * n + tile + x]
                right[y, x] = b[(tile + y) * n + column]
                cuda.syncthreads()
                for k in range(TILE):
                    total += left[y, k] * right[k, x]
                cuda.syncthreads()
            c[row * n + column] = total

        c = np.zeros(size * size, np.float32)
        seconds = _timed(lambda: cuda.jit(kernel)[(1, 1), (TILE, TILE)](a, b, c, size))
        want = a.reshape(size, size)[:TILE] @ b.reshape(size, size)[:, :TILE]
        assert np.allclose(c.reshape(size, size)[:TILE, :TILE], want, atol=1e-2)
        return seconds

    def collatz(self, count: int) -> float:
        """How many steps it takes from each number to 1, for the first numbers."""

        def kernel(numbers: npt.NDArray[np.uint32], steps: npt.NDArray[np.uint32], n: int) -> None:
            i = cuda.grid(1)
            if i < n:
                number, taken = int(numbers[i]), 0
                while number != 1:
                    number = number * 3 + 1 if number & 1 else number >> 1
                    taken += 1
                steps[i] = taken

        numbers = np.arange(1, count + 1, dtype=np.uint32)
        steps = np.zeros_like(numbers)
        seconds = _timed(lambda: cuda.jit(kernel)[1, count](numbers, steps, count))
        assert steps[26] == 111
        return seconds


def _timed(function: Callable[[], object]) -> float:
    """The least of two times, in seconds of the processor."""
    times: list[float] = []
    for _ in range(2):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)
