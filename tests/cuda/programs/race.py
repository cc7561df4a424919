"""A race in shared memory, in a kernel that is launched twice."""

from __future__ import annotations

import ctypes

import numpy as np

from tests.cuda.programs.kernels import RACE
from tests.cuda.programs.libcuda import call, kernel, on_device, pointers, start

start()
parameters = pointers(ctypes.c_uint64(on_device(np.zeros(128, np.uint32))))
shift = kernel(RACE, "shift")
for _ in range(2):
    call("cuLaunchKernel", shift, 1, 1, 1, 128, 1, 1, 0, 0, parameters, 0)
