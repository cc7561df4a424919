"""The executor with native code (`pip install 'ptx-lsp[native]'`) and without: where few lanes take many
steps, and beside NumPy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

from benchmarks.executor_kernels import LOOP, RECURSION, SWITCH
from ptx_lsp.executor import launch
from ptx_lsp.executor.instrumentation.profile import Profile
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.native.hot import NativeMode
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.module import Module

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "executor" / "kernels"
_RANDOM = np.random.default_rng(1)
_SIZE = 512
_TILE = 16
_COUNT = 1 << 20
_ROUNDS = 100_000
_LOCKED = 2048
_LIMIT = 1 << 24
_TURNS = 30


@dataclass(frozen=True, eq=False)
class Line:
    """A launch, and what counts its thread-instructions without native code and with it."""

    name: str
    text: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[Value, ...]
    counted: Callable[[], tuple[int, int]]

    def prepared(self, native: NativeMode) -> Callable[[], object]:
        """A function that launches the kernel once more, as programs do that launch it often."""
        module = Module.parse(self.text)
        options = LaunchOptions(self.grid, self.block, self.args, limit=_LIMIT, native=native)
        found = PreparedLaunch(module, module.definitions[self.entry], options)

        def again() -> None:
            found.save()
            run = found.run(Schedule(0))
            if run.error is not None:
                raise run.error

        again()
        return lambda: found.run(Schedule(0))


def table() -> None:
    """Prints a line for each kernel: the best of several runs, by the clock and of the processor."""
    if find_spec("llvmlite") is None:
        print("\nllvmlite is not installed (pip install 'ptx-lsp[native]'): no native code to compare with")
        return
    print("\nnative code: launched again, by the clock (and in CPU time), and the rate by the clock")
    for line in _lines():
        without, native = line.counted()
        slow, _ = _best(line.prepared("off"), 2)
        start = time.perf_counter()
        run = line.prepared("always")
        first = time.perf_counter() - start
        clock, cpu = _best(run, 9)
        print(
            f"  {line.name:42} {clock * 1e3:8.2f} ms ({cpu * 1e3:.2f}) {native / clock / 1e6:7.0f} M/s; "
            f"first {first * 1e3:.0f} ms; without {slow * 1e3:.0f} ms, {without / slow / 1e6:.1f} M/s"
        )
        if line.entry in _BESIDE:
            name, function = _BESIDE[line.entry]
            turns = [(_best(run, 1), _best(function, 1)) for _ in range(_TURNS)]
            clock, cpu, bare, bare_cpu = (
                min(one) for one in zip(*((*ours, *bare) for ours, bare in turns), strict=True)
            )
            print(
                f"    {name:40} {bare * 1e3:8.2f} ms ({bare_cpu * 1e3:.2f}): {clock / bare:.1f} times that "
                f"({cpu / bare_cpu:.1f}), in {_TURNS} turns"
            )


def _best(function: Callable[[], object], repeats: int) -> tuple[float, float]:
    """The least time by the clock, and of the processor."""
    clocks: list[float] = []
    processor: list[float] = []
    for _ in range(repeats):
        start, begun = time.process_time(), time.perf_counter()
        function()
        clocks.append(time.perf_counter() - begun)
        processor.append(time.process_time() - start)
    return min(clocks), min(processor)


def _profiled(
    text: str, entry: str, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Value, ...]
) -> int:
    profile = Profile()
    launch(text, entry=entry, grid=grid, block=block, args=args, observers=[profile])
    return profile.instructions


def _lines() -> list[Line]:
    out = np.zeros(1 << 16, np.uint32)
    numbers = [_RANDOM.standard_normal(_SIZE * _SIZE).astype(np.float32) for _ in range(3)]
    long = [_RANDOM.standard_normal(_COUNT).astype(np.float32) for _ in range(2)]
    matmul = (KERNELS / "matmul.ptx").read_text()
    saxpy = (ROOT / "examples" / "saxpy.ptx").read_text()
    lock = (KERNELS / "spin_lock.ptx").read_text()

    def repeated(text: str, entry: str, grid: int, block: int, rounds: int) -> Callable[[], tuple[int, int]]:
        """Of a loop: as much more as it has more rounds, and blocks."""
        def counted() -> tuple[int, int]:
            one, two = (
                _profiled(text, entry, (1,), (block,), (out, np.uint32(count))) for count in (1, 2)
            )
            total = grid * (one + (rounds - 1) * (two - one))
            return total, total

        return counted

    def same(
        text: str, entry: str, grid: tuple[int, ...], block: tuple[int, ...], args: tuple[Value, ...],
        times: int = 1,
    ) -> Callable[[], tuple[int, int]]:
        def counted() -> tuple[int, int]:
            total = times * _profiled(text, entry, grid, block, args)
            return total, total

        return counted

    def locked() -> tuple[int, int]:
        """Native code runs a warp to its end, in which one lane after the other takes the lock."""
        words = (np.zeros(1, np.uint32), np.zeros(1, np.uint32))
        without = _profiled(lock, "add_under_lock", (_LOCKED // 256,), (256,), words)
        return without, _LOCKED // 32 * sum(3 * lanes + 8 for lanes in range(1, 33)) + 2 * _LOCKED

    blocks = (_SIZE // _TILE, _SIZE // _TILE)
    product: tuple[Value, ...] = (*numbers, np.uint32(_SIZE))
    scaled: tuple[Value, ...] = (np.uint32(_COUNT), np.float32(0.5), *long)
    words = (np.zeros(1, np.uint32), np.zeros(1, np.uint32))
    return [
        Line(
            f"loop of {_ROUNDS}, 32 threads", LOOP, "loop", (1,), (32,), (out, np.uint32(_ROUNDS)),
            repeated(LOOP, "loop", 1, 32, _ROUNDS),
        ),
        Line(
            "32-way switch, 64k threads, 64 rounds", SWITCH, "switch", (256,), (256,), (out, np.uint32(64)),
            repeated(SWITCH, "switch", 256, 256, 64),
        ),
        Line(
            f"spin lock, {_LOCKED} threads", lock, "add_under_lock", (_LOCKED // 256,), (256,), words, locked
        ),
        Line(
            "recursion (Fibonacci of 14), 256 threads", RECURSION, "recursion", (1,), (256,),
            (out, np.uint32(14)), same(RECURSION, "recursion", (1,), (32,), (out, np.uint32(14)), 8),
        ),
        Line(
            f"tiled matmul, {_SIZE} x {_SIZE}", matmul, "matmul", blocks, (_TILE, _TILE), product,
            same(matmul, "matmul", (1, 1), (_TILE, _TILE), product, blocks[0] * blocks[1]),
        ),
        Line(
            "saxpy, 1M threads", saxpy, "saxpy", (_COUNT // 256,), (256,), scaled,
            same(saxpy, "saxpy", (_COUNT // 256,), (256,), scaled),
        ),
    ]


def _product() -> object:
    return _A @ _B


def _scaled() -> object:
    return np.float32(0.5) * _X + _Y


_A, _B = (_RANDOM.standard_normal((_SIZE, _SIZE)).astype(np.float32) for _ in range(2))
_X, _Y = (_RANDOM.standard_normal(_COUNT).astype(np.float32) for _ in range(2))
_BESIDE: dict[str, tuple[str, Callable[[], object]]] = {
    "matmul": ("NumPy's product, one thread", _product), "saxpy": ("a * x + y in NumPy", _scaled),
}

if __name__ == "__main__":
    table()
