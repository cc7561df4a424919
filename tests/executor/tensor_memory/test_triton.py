"""Triton's own kernels for sm_100, compared with NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import launch

KERNELS = Path(__file__).parents[1] / "kernels"
NOTES = {"missing-tcgen05-fence"}
"""Triton has no `tcgen05.fence`."""
Halves = npt.NDArray[np.float16]


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(
    ("source", "tile", "block", "shared"),
    [("matmul", (64, 64), 128, 16400), ("matmul_wide", (128, 256), 256, 147472)],
)
def test_product(source: str, tile: tuple[int, int], block: int, shared: int, seed: int) -> None:
    """With D of 64 and 128 rows, accumulated over several steps of k, the last of them incomplete."""
    random = np.random.default_rng(3)
    m, n, k = 256, 256, 144
    a, b = ((random.integers(-4, 5, shape) / 4).astype(np.float16) for shape in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float16)
    sizes = [np.uint32(size) for size in (m, n, k, k, n, n)]
    scratch = np.zeros(8, np.uint8)
    findings = launch(
        KERNELS / f"triton_sm100_{source}.ptx", entry="matmul_k", grid=(m // tile[0]) * (n // tile[1]),
        block=block, args=[a, b, c, *sizes, scratch, scratch], shared_bytes=shared, seed=seed,
        check=seed == 0,
    )
    assert {one.kind for one in findings} <= NOTES
    assert np.array_equal(c, (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float16))


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize(
    ("source", "width", "shared"), [("attention", 64, 49184), ("attention_causal", 128, 98336)]
)
def test_attention(source: str, width: int, shared: int, seed: int) -> None:
    """P stands in Tensor Memory as A; the sums are scaled there between the steps."""
    random = np.random.default_rng(4)
    heads, length = 2, 256
    q, k, v = (random.standard_normal((heads, length, width)).astype(np.float16) for _ in range(3))
    o = np.zeros((heads, length, width), np.float16)
    scale, scratch = np.float32(width**-0.5), np.zeros(8, np.uint8)
    findings = launch(
        KERNELS / f"triton_sm100_{source}.ptx", entry="attention", grid=(length // 128, heads), block=128,
        args=[q, k, v, o, scale, np.uint32(length), scratch, scratch], shared_bytes=shared, seed=seed,
        check=seed == 0,
    )
    assert {one.kind for one in findings} <= NOTES
    wanted = softmax(q, k, float(scale), causal=source.endswith("causal")) @ v.astype(np.float64)
    assert np.abs(o - wanted).max() < 1e-3


@pytest.mark.parametrize("seed", [0, 5])
def test_product_with_specialized_warps(seed: int) -> None:
    """Three blocks share six tiles; one warp loads by tensor maps that the kernel makes, one multiplies."""
    random = np.random.default_rng(5)
    m, n, k = 256, 192, 160
    a, b = ((random.integers(-4, 5, shape) / 4).astype(np.float16) for shape in ((m, k), (n, k)))
    c = np.zeros((m, n), np.float16)
    sizes = [np.uint32(size) for size in (m, n, k)]
    findings = launch(
        KERNELS / "triton_sm100_matmul_specialized.ptx", entry="matmul_tma", grid=3, block=256,
        args=[a, b, c, *sizes, np.zeros(3 * 384, np.uint8), np.zeros(8, np.uint8)], shared_bytes=90212,
        seed=seed, check=seed == 0,
    )
    assert {one.kind for one in findings} <= NOTES
    assert np.array_equal(c, (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16))


@pytest.mark.parametrize("seed", [0, 5])
def test_attention_with_specialized_warps(seed: int) -> None:
    random = np.random.default_rng(6)
    heads, length, width = 1, 256, 64
    q, k, v = (random.standard_normal((heads, length, width)).astype(np.float16) for _ in range(3))
    o = np.zeros((heads, length, width), np.float16)
    findings = launch(
        KERNELS / "triton_sm100_attention_specialized.ptx", entry="attention_tma", grid=(2, heads), block=384,
        args=[
            q, k, v, o, np.float32(0.125), np.uint32(length), np.uint32(heads), np.zeros(2 * 512, np.uint8),
            np.zeros(8, np.uint8),
        ],
        shared_bytes=67216, seed=seed, check=seed == 0,
    )
    assert {one.kind for one in findings} <= NOTES
    assert np.abs(o - softmax(q, k, 0.125, causal=False) @ v.astype(np.float64)).max() < 1e-3


def softmax(q: Halves, k: Halves, scale: float, *, causal: bool) -> npt.NDArray[np.float64]:
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2) * scale
    if causal:
        scores = np.where(np.tri(q.shape[1]) > 0, scores, -np.inf)
    found = np.exp(scores - scores.max(axis=2, keepdims=True))
    return found / found.sum(axis=2, keepdims=True)
