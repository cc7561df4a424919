"""Triton without PyTorch: elementwise, softmax, and a matrix product with its tensor cores."""

from __future__ import annotations

import ctypes

import numpy as np
import triton
import triton.language as tl

from tests.cuda.programs.libcuda import fetch, on_device, start

TYPES = {"float32": "fp32", "float16": "fp16"}


class Tensor:
    """An array on the device, as Triton takes one."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.address, self.dtype = array, on_device(array), TYPES[array.dtype.name]

    def data_ptr(self) -> int:
        return self.address

    def numpy(self) -> np.ndarray:
        return fetch(self.address, self.array)


@triton.jit
def add(x, y, result, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(result + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def softmax(x, result, n, SIZE: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, SIZE)
    values = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(result + row * n + i, powers / tl.sum(powers, axis=0), mask=i < n)


@triton.jit
def product(x, y, result, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    tl.store(result + at, tl.dot(tl.load(x + at), tl.load(y + at)))


start()
random = np.random.default_rng(0)
x, y = random.random((2, 1000), np.float32)
found = Tensor(np.zeros_like(x))
add[(4,)](Tensor(x), Tensor(y), found, 1000, SIZE=256)
np.testing.assert_array_equal(found.numpy(), x + y)

x = random.random((8, 100), np.float32)
found = Tensor(np.zeros_like(x))
softmax[(8,)](Tensor(x), found, 100, SIZE=128)
powers = np.exp(x - x.max(axis=1, keepdims=True))
np.testing.assert_allclose(found.numpy(), powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)

x, y = random.random((2, 64, 64), np.float32).astype(np.float16)
found = Tensor(np.zeros((64, 64), np.float32))
product[(1,)](Tensor(x), Tensor(y), found, SIZE=64)
np.testing.assert_allclose(found.numpy(), x.astype(np.float32) @ y.astype(np.float32), rtol=1e-3)
print("done")
