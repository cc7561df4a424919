"""How fast the executor runs kernels: with native code and without, beside the bare NumPy operations of the
same arithmetic, and beside numba's CUDA simulator (`pip install 'ptx-lsp[bench]'`), in one run.

    python -m benchmarks.executor
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np
import numpy.typing as npt

from benchmarks import native
from benchmarks.simulator import TILE, Simulator
from ptx_lsp.executor import launch
from ptx_lsp.executor.instrumentation.profile import Profile
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.module import Module

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "executor" / "kernels"
SAXPY = ROOT / "examples" / "saxpy.ptx"
_COUNT = 1 << 20
_REPEATS = 9
_SIZE = 256
_TURNS = 20
_LIMIT = 1 << 24
_RANDOM = np.random.default_rng(1)


@dataclass(frozen=True, eq=False)
class Case:
    """A launch that is timed."""

    name: str
    path: Path
    entry: str
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple[Value, ...]

    def run(self, *, check: bool = False) -> None:
        launch(
            self.path, entry=self.entry, grid=self.grid, block=self.block, args=self.args, check=check,
            native="off",
        )

    def instructions(self, grid: int | tuple[int, ...] | None = None) -> int:
        """The thread-instructions that it executes, or fewer blocks of it would."""
        profile = Profile()
        launch(
            self.path, entry=self.entry, grid=grid or self.grid, block=self.block, args=self.args,
            observers=[profile],
        )
        return profile.instructions


def main() -> None:
    """Prints tables: the best of several runs of each, and thread-instructions per second."""
    saxpy, matmul, collatz = cases = _cases()
    rates: dict[str, float] = {}
    for case in cases:
        count, seconds = case.instructions(), _best(case.run, 3 if case is collatz else _REPEATS)
        rates[case.name] = seconds / count
        print(f"{case.name:34} {seconds * 1e3:9.2f} ms {count / seconds / 1e6:10.0f} M thread-instructions/s")
        checked = _best(lambda one=case: one.run(check=True), 3)
        print(f"  with checks                      {checked * 1e3:9.2f} ms: {checked / seconds:.1f} times")
        _checked_natively(case)
        if case is saxpy:
            _beside_numpy(seconds)
    _growth()
    _memory()
    native.table()
    try:
        simulator = Simulator()
    except ImportError:
        print("\nnumba is not installed (pip install 'ptx-lsp[bench]'): no simulator to compare with")
        return
    print(f"\nnumba {simulator.version}, CUDA simulator, some of the threads; by thread-instructions")
    a, b = matmul.args[0], matmul.args[1]
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    rows = (
        (saxpy, "1024 threads", simulator.saxpy(1024), saxpy.instructions(4)),
        (
            matmul, f"1 block of {TILE}x{TILE}",
            simulator.matmul(a.view(np.float32), b.view(np.float32), _SIZE), matmul.instructions((1, 1)),
        ),
        (collatz, "256 threads", simulator.collatz(256), collatz.instructions(1)),
    )
    for case, what, seconds, count in rows:
        each = seconds / count
        print(
            f"  {case.name:32} {what:18} {seconds * 1e3:9.1f} ms {each * 1e9:9.0f} ns, "
            f"{each / rates[case.name]:8.0f} times as long as here"
        )


def _cases() -> tuple[Case, Case, Case]:
    x, y = (_RANDOM.standard_normal(_COUNT).astype(np.float32) for _ in range(2))
    a, b, c = (_RANDOM.standard_normal(_SIZE * _SIZE).astype(np.float32) for _ in range(3))
    numbers = np.arange(1, (1 << 16) + 1, dtype=np.uint32)
    blocks = _SIZE // TILE
    return (
        Case(
            "saxpy, 1M threads", SAXPY, "saxpy", _COUNT // 256, 256,
            (np.uint32(_COUNT), np.float32(0.5), x, y),
        ),
        Case(
            "tiled matmul, 256 x 256", KERNELS / "matmul.ptx", "matmul", (blocks, blocks), (TILE, TILE),
            (a, b, c, np.uint32(_SIZE)),
        ),
        Case(
            "divergent loop, 64k threads", KERNELS / "collatz.ptx", "collatz", 256, 256,
            (numbers, np.zeros_like(numbers), np.uint32(numbers.size)),
        ),
    )


def _checked_natively(case: Case) -> None:
    """The kernel launched again in native code, without checks and with them, in turns."""
    if find_spec("llvmlite") is None:
        return
    module = Module.parse(case.path.read_text(encoding="utf-8"))
    kernel = module.definitions[case.entry]
    plain, checked = (
        PreparedLaunch(
            module, kernel,
            LaunchOptions(case.grid, case.block, case.args, limit=_LIMIT, check=check, native="always"),
        )
        for check in (False, True)
    )
    times = [
        tuple(_best(lambda one=one: one.run(Schedule()), 1) for one in (plain, checked))
        for _ in range(_TURNS)
    ]
    without, found = (min(one) for one in zip(*times, strict=True))
    print(f"  in native code                   {without * 1e3:9.2f} ms")
    print(f"  in native code, with checks      {found * 1e3:9.2f} ms: {found / without:.1f} times")


def _beside_numpy(seconds: float) -> None:
    x, y = (_RANDOM.standard_normal(_COUNT).astype(np.float32) for _ in range(2))
    same = _best(lambda: _same_operations(x, y))
    print(f"  the same operations in NumPy     {same * 1e3:9.2f} ms: {seconds / same:.1f} times that")
    bare = _best(lambda: np.float32(0.5) * x + y)
    print(f"  a * x + y in NumPy               {bare * 1e3:9.2f} ms: {seconds / bare:.1f} times that")


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


def _growth() -> None:
    """The same time for a thread, however many there are."""
    print("saxpy by threads")
    for count in (1 << 16, 1 << 18, 1 << 20, 1 << 22):
        case = _saxpy(count)
        seconds = _best(case.run, 5)
        print(f"  {count:>9} threads {seconds * 1e3:9.2f} ms {seconds / count * 1e9:8.1f} ns a thread")


def _memory() -> None:
    """What a launch needs besides its buffers, at its highest."""
    print("saxpy: memory besides the buffers, at its highest")
    for count in (1 << 14, 1 << 16, 1 << 20):
        case = _saxpy(count)
        case.run()
        tracemalloc.start()
        case.run()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"  {count:>9} threads {peak / 2**20:9.2f} MiB {peak / count:8.1f} bytes a thread")


def _saxpy(count: int) -> Case:
    x, y = np.ones(count, np.float32), np.ones(count, np.float32)
    return Case(
        "saxpy", SAXPY, "saxpy", count // 256, 256, (np.uint32(count), np.float32(0.5), x, y)
    )


def _best(function: Callable[[], object], repeats: int = _REPEATS) -> float:
    """The least time of several runs, in seconds of the processor."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main()
