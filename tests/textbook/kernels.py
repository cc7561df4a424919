"""The kernels of this folder: how each is launched, what it computes, and what finds its mistakes.

Those of `kernels.cu` are in each of the files that `tests.oracle.textbook` compiles of it; those of
`numba_kernels.py.txt` and `triton_kernels.py.txt` in a file each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Argument = Array | int
Size = tuple[int, ...]


@dataclass(frozen=True)
class Mistake:
    """Kinds of findings that `--check` must have, and rules of the linter. Only in code that a compiler has
    optimised do the rules see through all that is computed.
    """

    check: frozenset[str]
    lint: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Kernel:
    """`results` computes what the arguments hold afterwards, by their positions. `mistakes` are those of
    BUG=1, 2 and 3; None where the kernel is the same as without.
    """

    name: str
    grid: Size
    block: Size
    arguments: Callable[[np.random.Generator], list[Argument]]
    results: Callable[[list[Argument]], dict[int, Array]]
    mistakes: tuple[Mistake | None, ...] = (None, None, None)
    shared_bytes: int = 0


RACE = Mistake(frozenset({"race"}))
BARRIER = Mistake(frozenset({"divergent-barrier"}), frozenset({"divergent-barrier"}))
BOUNDS = Mistake(frozenset({"out-of-bounds"}))
UNWRITTEN = Mistake(frozenset({"uninitialized-memory"}))
MASK = Mistake(frozenset({"membermask"}))


def _array(value: Argument) -> npt.NDArray[np.int64]:
    assert isinstance(value, np.ndarray)
    return value.astype(np.int64)


def _ints(random: np.random.Generator, *shape: int) -> Array:
    return random.integers(1, 50, shape).astype(np.int32)


def _floats(random: np.random.Generator, *shape: int) -> Array:
    """Small whole numbers: sums of them are exact in any order."""
    return random.integers(0, 9, shape).astype(np.float32)


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.int32)


def _sums(values: Argument, size: int) -> Array:
    numbers = _array(values)
    return np.add.reduceat(numbers, np.arange(0, numbers.size, size))


def _numba(array: Array) -> list[Argument]:
    """An array as numba passes it: what owns it, its size, address, shape and strides."""
    return [0, 0, array.size, array.itemsize, array, *array.shape, *array.strides]


def _softmax(given: list[Argument]) -> dict[int, Array]:
    powers = np.exp(_array(given[0]))
    return {1: powers / powers.sum(axis=1, keepdims=True)}


def _histogram(given: list[Argument]) -> dict[int, Array]:
    return {1: np.bincount(_array(given[0]) & 63, minlength=64)}


def _compacted(given: list[Argument]) -> dict[int, Array]:
    values = _array(given[0])
    out, count = np.zeros(values.size, np.int64), np.zeros(2, np.int64)
    for block in range(2):
        kept = [one for one in values[96 * block : 96 * block + 96] if one > 0]
        out[96 * block : 96 * block + len(kept)], count[block] = kept, len(kept)
    return {1: out, 2: count}


def _window(given: list[Argument]) -> dict[int, Array]:
    values = np.pad(_array(given[0]), 3)
    return {1: np.lib.stride_tricks.sliding_window_view(values, 7).sum(axis=1)}


def _relaxed(given: list[Argument]) -> dict[int, Array]:
    values = _array(given[0])
    places = np.arange(values.size)
    return {1: np.minimum.accumulate(values - places) + places}


def _shifted(given: list[Argument]) -> dict[int, Array]:
    values, out = _array(given[0]), np.zeros(200, np.int64)
    for first in (0, 64):
        row = values[first : min(first + 64, 100)]
        out[first + 1 : first + row.size] = row[:-1]
    return {1: out}


def _turned(given: list[Argument]) -> dict[int, Array]:
    return {1: np.roll(_array(given[0]), -3), 2: np.full(1, 28)}


CUDA = (
    Kernel(
        "reduce_early_exit", (2,), (128,),
        lambda r: [_floats(r, 200), np.zeros(2, np.float32), 200],
        lambda given: {1: _sums(given[0], 128)},
        (BARRIER, RACE, UNWRITTEN),
    ),
    Kernel(
        "reduce_all_store", (2,), (128,),
        lambda r: [_floats(r, 200), np.zeros(2, np.float32), np.zeros(256, np.float32), 200],
        lambda given: {1: _sums(given[0], 128), 2: np.pad(_array(given[0]), (0, 56))},
        (BARRIER, None, None),
    ),
    Kernel(
        "reduce_exit_in_loop", (2,), (128,),
        lambda r: [_floats(r, 256), np.zeros(2, np.float32)],
        lambda given: {1: _sums(given[0], 128)},
        (RACE, None, None),
    ),
    Kernel(
        "reduce_interleaved", (2,), (128,),
        lambda r: [_ints(r, 256), _zeros(2)],
        lambda given: {1: _sums(given[0], 128)},
        (BARRIER, UNWRITTEN, None),
    ),
    Kernel(
        "reduce_shuffle", (2,), (96,),
        lambda r: [_ints(r, 500), _zeros(1), 500],
        lambda given: {1: _sums(given[0], 500)},
        (RACE, Mistake(MASK.check, frozenset({"wrong-mask"})), UNWRITTEN),
    ),
    Kernel(
        "matvec_warp", (3,), (128,),
        lambda r: [_ints(r, 10, 40), _ints(r, 40), _zeros(10), 10, 40],
        lambda given: {2: _array(given[0]) @ _array(given[1])},
        (BOUNDS, MASK, None),
    ),
    Kernel(
        "dot", (2,), (64,),
        lambda r: [_floats(r, 300), _floats(r, 300), np.zeros(1, np.float32), 300],
        lambda given: {2: _array(given[0]) @ _array(given[1]) * np.ones(1, np.int64)},
        (RACE, BARRIER, None),
    ),
    Kernel(
        "scan_two_buffers", (1,), (128,),
        lambda r: [_ints(r, 128), _zeros(128)],
        lambda given: {1: np.cumsum(_array(given[0]))},
        (RACE, BOUNDS, None),
    ),
    Kernel(
        "scan_tree", (1,), (64,),
        lambda r: [_ints(r, 128), _zeros(128)],
        lambda given: {1: np.cumsum(_array(given[0])) - _array(given[0])},
        (BARRIER, RACE, BOUNDS),
    ),
    Kernel(
        "scan_shuffle", (2,), (128,),
        lambda r: [_ints(r, 200), _zeros(200), 200],
        lambda given: {
            1: np.concatenate([np.cumsum(_array(given[0])[:128]), np.cumsum(_array(given[0])[128:])])
        },
        (Mistake(frozenset({"deadlock"}), frozenset({"wrong-mask"})), None, None),
    ),
    Kernel(
        "matmul", (2, 2), (8, 8),
        lambda r: [_floats(r, 12, 12), _floats(r, 12, 12), np.zeros((12, 12), np.float32), 12],
        lambda given: {2: _array(given[0]) @ _array(given[1])},
        (RACE, RACE, UNWRITTEN),
    ),
    Kernel(
        "transpose", (2, 3), (16, 4),
        lambda r: [_floats(r, 37, 20), np.zeros((20, 37), np.float32), 20, 37],
        lambda given: {1: _array(given[0]).T},
        (RACE, BOUNDS, None),
    ),
    Kernel(
        "histogram", (2,), (64,),
        lambda r: [r.integers(0, 256, 300).astype(np.uint8), _zeros(64), 300],
        _histogram,
        (RACE, UNWRITTEN, RACE),
    ),
    Kernel(
        "compact", (2,), (96,),
        lambda r: [r.integers(-9, 9, 160).astype(np.int32), _zeros(160), _zeros(2), 160],
        _compacted,
        (RACE, MASK, RACE),
    ),
    Kernel(
        "stencil", (3,), (64,),
        lambda r: [_ints(r, 150), _zeros(150), 150],
        _window,
        (RACE, UNWRITTEN, BOUNDS),
    ),
    Kernel(
        "relax", (1,), (128,),
        lambda r: [_ints(r, 100), _zeros(100), 100],
        _relaxed,
        (RACE, BARRIER, None),
    ),
    Kernel(
        "bitonic", (2,), (128,),
        lambda r: [_ints(r, 256)],
        lambda given: {0: np.sort(_array(given[0]).reshape(2, 128)).reshape(-1)},
        (RACE, BARRIER, BOUNDS),
    ),
    Kernel(
        "odd_even", (1,), (64,),
        lambda r: [_ints(r, 64), 64],
        lambda given: {0: np.sort(_array(given[0]))},
        (RACE, BOUNDS, None),
    ),
    Kernel(
        "shift", (2,), (64,),
        lambda r: [_ints(r, 100), _zeros(200), 100],
        _shifted,
        (BARRIER, None, None),
    ),
    Kernel(
        "turn", (1,), (128,),
        lambda r: [_ints(r, 100), _zeros(100), _zeros(1), 100],
        _turned,
        (RACE, None, None),
    ),
)

NUMBA = (
    Kernel(
        "numba_reduce", (2,), (128,),
        lambda r: [*_numba(_floats(r, 200)), *_numba(np.zeros(2, np.float32))],
        lambda given: {11: _sums(given[4], 128)},
    ),
    Kernel(
        "numba_scan", (1,), (64,),
        lambda r: [*_numba(_ints(r, 50)), *_numba(_zeros(50))],
        lambda given: {11: np.cumsum(_array(given[4]))},
    ),
    Kernel(
        "numba_matmul", (2, 2), (8, 8),
        lambda r: [
            *_numba(_floats(r, 12, 9)), *_numba(_floats(r, 9, 11)), *_numba(np.zeros((12, 11), np.float32)),
        ],
        lambda given: {22: _array(given[4]) @ _array(given[13])},
    ),
    Kernel(
        "numba_warps", (2,), (128,),
        lambda r: [*_numba(_ints(r, 192)), *_numba(_zeros(1))],
        lambda given: {11: _sums(given[4], 192)},
    ),
)

TRITON = (
    Kernel(
        "triton_reduce", (2,), (128,),
        lambda r: [_floats(r, 500), np.zeros(2, np.float32), 500, 0, 0],
        lambda given: {1: _sums(given[0], 256)},
        shared_bytes=16,
    ),
    Kernel(
        "triton_softmax", (3,), (128,),
        lambda r: [_floats(r, 3, 100), np.zeros((3, 100), np.float32), 100, 0, 0],
        _softmax,
        shared_bytes=16,
    ),
    Kernel(
        "triton_scan", (1,), (128,),
        lambda r: [_ints(r, 200), _zeros(200), 200, 0, 0],
        lambda given: {1: np.cumsum(_array(given[0]))},
        shared_bytes=32,
    ),
    Kernel(
        "triton_matmul", (2, 2), (128,),
        lambda r: [
            _floats(r, 40, 40).astype(np.float16), _floats(r, 40, 40).astype(np.float16),
            np.zeros((40, 40), np.float32), 40, 0, 0,
        ],
        lambda given: {2: _array(given[0]) @ _array(given[1])},
        shared_bytes=4096,
    ),
    Kernel(
        "triton_sort", (1,), (128,),
        lambda r: [_ints(r, 128), _zeros(128), 0, 0],
        lambda given: {1: np.sort(_array(given[0]))},
        shared_bytes=512,
    ),
)
