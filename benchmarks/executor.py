"""How fast the executor runs kernels, beside the bare NumPy operations of the same arithmetic and beside
numba's CUDA simulator, in one run.

    python -m benchmarks.executor

The simulator is measured where numba is installed, or with the Python that `NUMBA_PYTHON` names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import simulator
from ptx_lsp.executor import launch

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "executor" / "kernels"
_COUNT = 1 << 20
_REPEATS = 9
_SAXPY_STEPS = 20
_RANDOM = np.random.default_rng(1)


def main() -> None:
    """Prints a table: the best of several runs of each, thread-instructions per second, and ratios."""
    x, y = _floats(_COUNT), _floats(_COUNT)
    saxpy = _best(lambda: _saxpy(x, y))
    operations = _best(lambda: _same_operations(x, y))
    plain = _best(lambda: np.float32(0.5) * x + y)
    _report("saxpy, 1M threads", saxpy, _SAXPY_STEPS * _COUNT)
    _report("  the same operations in NumPy", operations)
    _report("  a * x + y in NumPy", plain)
    size = 256
    a, b, c = (_floats(size * size) for _ in range(3))
    matmul = _best(lambda: _matmul(a, b, c, size))
    _report("tiled matmul, 256 x 256", matmul, _matmul_steps(size))
    numbers = np.arange(1, (1 << 16) + 1, dtype=np.uint32)
    steps = np.zeros_like(numbers)
    seconds = _best(lambda: _collatz(numbers, steps), 3)
    _report("divergent loop, 64k threads", seconds, int(steps.sum(dtype=np.int64)) * 8)
    few = np.ones(1 << 16, np.uint32)
    few[::64] = 77031  # 350 steps
    one = _best(lambda: _collatz(few, np.zeros_like(few)), 3)
    _report("  of which one in 64 goes on", one, few.size // 64 * 350 * 8)
    print(f"\nsaxpy takes {saxpy / operations:.1f} times as long as the same operations in NumPy")
    for count in (_COUNT // 16, _COUNT * 4):
        x, y = _floats(count), _floats(count)
        of_count = _best(lambda x=x, y=y: _saxpy(x, y), 3)
        print(f"  {count:8} threads: {of_count / count * 1e9:6.1f} ns a thread")
    print(f"  memory of a launch of {_COUNT * 4} threads: {_peak(lambda: _saxpy(x, y)) >> 20} MB at most")
    _beside_simulator(_SAXPY_STEPS * _COUNT / saxpy, _matmul_steps(size) / matmul)


def _saxpy(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> None:
    launch(
        ROOT / "examples" / "saxpy.ptx", entry="saxpy", grid=x.size // 256, block=256,
        args=[np.uint32(x.size), np.float32(0.5), x, y],
    )


def _matmul(
    a: npt.NDArray[np.float32], b: npt.NDArray[np.float32], c: npt.NDArray[np.float32], size: int
) -> None:
    launch(
        KERNELS / "matmul.ptx", entry="matmul", grid=(size // 16, size // 16), block=(16, 16),
        args=[a, b, c, np.uint32(size)],
    )


def _matmul_steps(size: int) -> int:
    return size * size * (size * 8 + size // 16 * 20 + 28)


def _collatz(numbers: npt.NDArray[np.uint32], steps: npt.NDArray[np.uint32]) -> None:
    launch(
        KERNELS / "collatz.ptx", entry="collatz", grid=numbers.size // 256, block=256,
        args=[numbers, steps, np.uint32(numbers.size)],
    )


def _floats(count: int) -> npt.NDArray[np.float32]:
    return _RANDOM.standard_normal(count).astype(np.float32)


def _peak(function: Callable[[], object]) -> int:
    """The bytes that are allocated at most while it runs."""
    tracemalloc.start()
    function()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def _beside_simulator(saxpy: float, matmul: float) -> None:
    """Compares thread-instructions per second."""
    python = os.environ.get("NUMBA_PYTHON", sys.executable)
    done = subprocess.run(
        [python, "-c", simulator.PROGRAM], capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": ""},
    )
    if done.returncode:
        print("numba's simulator: not installed")
        return
    of_saxpy, of_matmul = (float(line) for line in done.stdout.split())
    ratio = saxpy * of_saxpy / (_SAXPY_STEPS * simulator.SAXPY_THREADS)
    print(f"numba's simulator: saxpy {ratio:.0f} times slower", end=", ")
    print(f"matmul {matmul * of_matmul / _matmul_steps(simulator.MATMUL_SIZE):.0f} times slower")


def _same_operations(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> None:
    """What each thread of saxpy computes: its index, two addresses, two loads, an fma, a store."""
    block = np.arange(_COUNT // 256, dtype=np.uint32).reshape(-1, 1)
    thread = np.arange(256, dtype=np.uint32).reshape(1, -1)
    index = block * np.uint32(256) + thread
    if (index >= np.uint32(_COUNT)).any():
        return
    offset = index.astype(np.uint64) * np.uint64(4)
    from_x, from_y = offset + np.uint64(0x7000), offset + np.uint64(0x9000)
    at = ((from_x - np.uint64(0x7000)) >> np.uint64(2)).view(np.int64)
    to = ((from_y - np.uint64(0x9000)) >> np.uint64(2)).view(np.int64)
    total = np.float64(0.5) * x.take(at).astype(np.float64) + y.take(to).astype(np.float64)
    y[to] = total.astype(np.float32)


def _best(function: Callable[[], object], repeats: int = _REPEATS) -> float:
    """The least time of several runs, in seconds of the processor."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def _report(name: str, seconds: float, instructions: int = 0) -> None:
    rate = f"{instructions / seconds / 1e6:10.0f} M thread-instructions/s" if instructions else ""
    print(f"{name:34} {seconds * 1e3:9.2f} ms {rate}")


if __name__ == "__main__":
    main()
