"""cuda.core and NVRTC: CUDA C++ compiled to PTX."""

from __future__ import annotations

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = """
__constant__ float factor = 3;
extern "C" __global__ void scale(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
extern "C" __global__ void beyond(float *x) { x[1 << 20] = 1; }
"""

device = Device()
device.set_current()
stream = device.create_stream()
module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
buffer, x = device.allocate(4000, stream=stream), np.arange(1000, dtype=np.float32)
driver.cuMemcpyHtoD(int(buffer.handle), x.ctypes.data, 4000)
launch(stream, LaunchConfig(grid=8, block=128), module.get_kernel("scale"), buffer, np.int32(1000))
stream.sync()
found = np.zeros_like(x)
driver.cuMemcpyDtoH(found.ctypes.data, int(buffer.handle), 4000)
np.testing.assert_array_equal(found, 3 * x)
try:
    launch(stream, LaunchConfig(grid=1, block=1), module.get_kernel("beyond"), buffer)
except Exception as error:
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in str(error)
    print("done")
