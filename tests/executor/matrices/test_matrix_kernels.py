"""Whole kernels that multiply matrices with tensor cores, or quantise: by hand, from nvcc and Triton."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import launch

CORPUS = Path(__file__).parents[2] / "oracle" / "corpus"
KERNELS = Path(__file__).parents[1] / "kernels"
RANDOM = np.random.default_rng(11)
TYPES = import_module("ml_dtypes")  # it has no types
NVCC = CORPUS / "nvcc135_wmma.sm100a.ptx"


def quarters(*shape: int) -> npt.NDArray[np.float16]:
    """Numbers whose products add up exactly."""
    return (RANDOM.integers(-4, 5, shape) / 4).astype(np.float16)


@pytest.mark.parametrize(
    "source", [CORPUS / "triton_matmul_f16_64x64x32.sm80.ptx", KERNELS / "triton_wgmma_matmul.ptx"],
    ids=["mma", "wgmma"],
)
def test_triton(source: Path) -> None:
    """By `mma` with `ldmatrix` and `cp.async`; for sm_90 by `wgmma` with a swizzled B."""
    m, n, k = 128, 192, 160
    a, b, c = quarters(m, k), quarters(k, n), np.zeros((m, n), np.float16)
    sizes = [np.uint32(size) for size in (m, n, k, k, n, n)]
    scratch = np.zeros(8, np.uint8)
    launch(
        source, entry="matmul_k", grid=(m // 64) * (n // 64), block=128,
        args=[a, b, c, *sizes, scratch, scratch], shared_bytes=65536,
    )
    assert np.array_equal(c, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16))


def test_brain_floats_by_hand() -> None:
    m, n, k = 48, 40, 64
    a, b = (quarters(*shape).astype(TYPES.bfloat16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    launch(
        KERNELS / "mma_matmul.ptx", entry="matmul", grid=(n // 8, m // 16), block=32,
        args=[a.view(np.uint16), b.view(np.uint16), c, np.uint32(n), np.uint32(k)],
    )
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("depth", [16, 48, 128])
def test_nvcc_fragments(depth: int) -> None:
    a, b, c = quarters(16, depth), quarters(16, depth), np.zeros((16, 20), np.float32)
    sizes = [np.uint32(size) for size in (depth, depth, depth, 20)]
    launch(NVCC, entry="wmma_f16", grid=1, block=32, args=[a, b, c, *sizes])
    assert np.array_equal(c[:, :16], a.astype(np.float32) @ b.astype(np.float32).T)
    assert not c[:, 16:].any()


def test_nvcc_integers() -> None:
    a, b = (RANDOM.integers(-128, 128, (16, 16)).astype(np.int8) for _ in range(2))
    c = np.zeros((16, 16), np.int32)
    launch(NVCC, entry="wmma_s8", grid=1, block=32, args=[a, b, c])
    assert np.array_equal(c.T, a.astype(np.int32) @ b.astype(np.int32).T)


def test_nvcc_doubles() -> None:
    a, b, c = RANDOM.standard_normal((8, 4)), RANDOM.standard_normal((8, 4)), np.zeros((8, 8))
    launch(NVCC, entry="wmma_f64", grid=1, block=32, args=[a, b, c])
    assert np.allclose(c, a @ b.T, rtol=1e-14)


def test_nvcc_ldmatrix() -> None:
    a, b, c = quarters(16, 16), quarters(16, 8), np.zeros((32, 4), np.float32)
    launch(NVCC, entry="mma_ldm", grid=1, block=32, args=[a, b, c])
    want = a.astype(np.float32) @ b.astype(np.float32)
    for lane in range(32):
        for i in range(4):
            assert c[lane, i] == want[lane // 4 + (8 if i >= 2 else 0), lane % 4 * 2 + i % 2]


def test_quantized() -> None:
    count = 1024
    x = (RANDOM.standard_normal(count) * np.exp2(RANDOM.integers(-9, 9, count))).astype(np.float32)
    q, s, y = np.zeros(count, np.uint8), np.zeros(count // 128, np.uint8), np.zeros(count, np.float32)
    launch(KERNELS / "quantize.ptx", entry="quantize", grid=2, block=128, args=[x, q, s, y])
    most = np.abs(x).reshape(-1, 128).max(axis=1) * np.float32(0.0022321427)
    assert np.array_equal(s, np.ceil(np.log2(most)).astype(np.int64) + 127)
    scale = np.exp2(s.astype(np.float64) - 127).repeat(128)
    want = (x / scale).astype(np.float32).astype(TYPES.float8_e4m3fn)
    assert np.array_equal(q, want.view(np.uint8))
    assert np.array_equal(y, want.astype(np.float64) * scale)
