"""A barrier is missing between the copy to shared memory and the sum."""

from __future__ import annotations

import numpy as np
from numba import cuda, float32


@cuda.jit(lineinfo=True)
def block_sum(x, sums):
    line = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    line[t] = x[cuda.grid(1)]
    step = 64
    while step > 0:
        if t < step:
            line[t] += line[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = line[0]


block_sum[4, 128](np.ones(512, np.float32), np.zeros(4, np.float32))
