"""Numba: shared memory, atomics, reduction, libdevice, streams, memory of the host, and `grid.sync()`."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda, float32

RANDOM = np.random.default_rng(0)
TILE = 8


@cuda.jit
def product(a, b, c):
    tile_a, tile_b = cuda.shared.array((TILE, TILE), float32), cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[y, tx + TILE * k]
        tile_b[ty, tx] = b[ty + TILE * k, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def histogram(values, counts):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(counts, values[i], 1)


@cuda.jit(device=True)
def wave(x):
    return math.sin(x) + math.exp(-x)


@cuda.jit
def waves(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = wave(x[i])


@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@cuda.jit
def total_after_sync(x):
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] += 1
    grid.sync()
    if i == 0:
        for j in range(1, x.size):
            x[0] += x[j]


@cuda.reduce
def add(a, b):
    return a + b


a, b = RANDOM.random((2, 32, 32), np.float32)
c = np.zeros_like(a)
product[(4, 4), (TILE, TILE)](a, b, c)
np.testing.assert_allclose(c, a @ b, rtol=1e-4)

stream, values = cuda.stream(), RANDOM.integers(0, 10, 1000).astype(np.int32)
counts, before, after = cuda.to_device(np.zeros(10, np.int32), stream=stream), cuda.event(), cuda.event()
before.record(stream)
histogram[8, 128, stream](cuda.to_device(values, stream=stream), counts)
after.record(stream)
after.synchronize()
assert cuda.event_elapsed_time(before, after) > 0
np.testing.assert_array_equal(counts.copy_to_host(stream=stream), np.bincount(values, minlength=10))

numbers, found = RANDOM.random(256), np.zeros(256)
np.testing.assert_allclose(add(numbers), numbers.sum())
waves[2, 128](numbers, found)
np.testing.assert_allclose(found, np.sin(numbers) + np.exp(-numbers))

for memory in (cuda.managed_array(100, np.float32), cuda.mapped_array(100, np.float32)):
    memory[:] = 3
    twice[1, 128](memory)
    cuda.synchronize()
    np.testing.assert_array_equal(memory, 6)

ones = np.ones(64, np.int64)
total_after_sync[2, 32](ones)
assert ones[0] == 128
print("done")
