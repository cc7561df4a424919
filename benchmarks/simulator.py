"""Numba's CUDA simulator on saxpy and the tiled matrix product, as `benchmarks.executor` runs them.

A program of its own, since numba is no part of the development set-up; it prints seconds, one number a line:

    NUMBA_ENABLE_CUDASIM=1 python -m benchmarks.simulator
"""

SAXPY_THREADS = 2048
MATMUL_SIZE = 32
PROGRAM = f"""
import time
import numpy as np
from numba import cuda, float32

@cuda.jit
def saxpy(n, a, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]

@cuda.jit
def matmul(a, b, c, n):
    left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for tile in range(n // 16):
        left[y, x] = a[row, tile * 16 + x]
        right[y, x] = b[tile * 16 + y, column]
        cuda.syncthreads()
        for k in range(16):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total

def best(function):
    times = []
    for _ in range(3):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)

x, y = (np.ones({SAXPY_THREADS}, np.float32) for _ in range(2))
print(best(lambda: saxpy[{SAXPY_THREADS} // 256, 256]({SAXPY_THREADS}, np.float32(2), x, y)))
size = {MATMUL_SIZE}
a, b, c = (np.ones((size, size), np.float32) for _ in range(3))
print(best(lambda: matmul[(size // 16, size // 16), (16, 16)](a, b, c, size)))
"""

if __name__ == "__main__":
    exec(compile(PROGRAM, "simulator", "exec"))
