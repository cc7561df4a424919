"""How fast the executor runs kernels, beside the bare NumPy operations of the same arithmetic, in one run.

    python -m benchmarks.executor
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor import launch

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "executor" / "kernels"
_COUNT = 1 << 20
_REPEATS = 9


def main() -> None:
    """Prints a table: the best of several runs of each, and thread-instructions per second."""
    random = np.random.default_rng(1)
    x, y = (random.standard_normal(_COUNT).astype(np.float32) for _ in range(2))

    def saxpy() -> None:
        launch(
            ROOT / "examples" / "saxpy.ptx", entry="saxpy", grid=_COUNT // 256, block=256,
            args=[np.uint32(_COUNT), np.float32(0.5), x, y],
        )

    _report("saxpy, 1M threads", _best(saxpy), 20 * _COUNT)
    _report("  the same operations in NumPy", _best(lambda: _same_operations(x, y)), 0)
    _report("  a * x + y in NumPy", _best(lambda: np.float32(0.5) * x + y), 0)

    size = 256
    a, b, c = (random.standard_normal(size * size).astype(np.float32) for _ in range(3))

    def matmul() -> None:
        launch(
            KERNELS / "matmul.ptx", entry="matmul", grid=(size // 16, size // 16), block=(16, 16),
            args=[a, b, c, np.uint32(size)],
        )

    _report("tiled matmul, 256 x 256", _best(matmul), size * size * (size * 8 + size // 16 * 20 + 28))
    numbers = np.arange(1, (1 << 16) + 1, dtype=np.uint32)
    steps = np.zeros_like(numbers)

    def collatz() -> None:
        launch(
            KERNELS / "collatz.ptx", entry="collatz", grid=256, block=256,
            args=[numbers, steps, np.uint32(numbers.size)],
        )

    seconds = _best(collatz, 3)
    _report("divergent loop, 64k threads", seconds, int(steps.sum(dtype=np.int64)) * 8)


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
    """The least time of several runs, in seconds."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def _report(name: str, seconds: float, instructions: int) -> None:
    rate = f"{instructions / seconds / 1e6:10.0f} M thread-instructions/s" if instructions else ""
    print(f"{name:34} {seconds * 1e3:9.2f} ms {rate}")


if __name__ == "__main__":
    main()
