"""`spcompress` and `spdecompress`."""

from __future__ import annotations

import numpy as np
import pytest

from tests.executor.warp_kernel import run_warp


def _unpacked(words: np.ndarray[tuple[int, ...], np.dtype[np.unsignedinteger]], bits: int) -> list[int]:
    whole = sum(int(word) << 32 * at for at, word in enumerate(words))
    return [whole >> at & (1 << bits) - 1 for at in range(0, 32 * len(words), bits)]


@pytest.mark.parametrize("index", [2, 4])
@pytest.mark.parametrize(("operation", "best"), [(0, "max"), (1, "maxabs"), (2, "min"), (3, "minabs")])
def test_compress(operation: int, best: str, index: int) -> None:
    data = np.random.default_rng(operation).integers(0, 1 << 32, (32, 8)).astype(np.uint32)
    descriptor = np.full((32, 1), operation | 1 << 2, np.uint32)  # .s8
    count = -(-4 * index // 8)
    found = run_warp(
        f"spcompress.b8.b{index}.sp::2:4.x4 {{m}}, {{c}}, {{d}}, %s0", {"d": data, "s": descriptor},
        {"m": (".b32", count), "c": (".b32", 4)}, {}, "sm_107a",
    )
    for lane in range(32):
        elements = data[lane].view(np.int8).tolist()
        indices, chosen = _unpacked(found["m"][lane], index), found["c"][lane].astype(np.uint32).view(np.int8)
        for group in range(8):
            four = elements[4 * group : 4 * group + 4]
            places = indices[2 * group : 2 * group + 2]
            kept = chosen[2 * group : 2 * group + 2].tolist()
            assert places[0] < places[1]
            assert kept == [four[place] for place in places]
            values = [abs(one) if "abs" in best else one for one in four]
            wanted = sorted(values, reverse=best.startswith("max"))[:2]
            assert sorted(values[place] for place in places) == sorted(wanted)


def test_not_a_number_is_kept() -> None:
    halves = np.array([[1.0, np.nan, -0.0, 0.0] * 2], np.float16).repeat(32, axis=0)
    halves[:, 4:] = [-0.0, 0.0, -1.0, -2.0]
    found = run_warp(
        "spcompress.b16.b2.sp::2:4.x2 {m}, {c}, {d}, %s0",
        {"d": halves.view(np.uint32), "s": np.zeros((32, 1), np.uint32)},
        {"m": (".b32", 1), "c": (".b32", 2)}, {}, "sm_107a",
    )
    assert found["m"][:, 0].tolist() == [0b01_00_01_00] * 32  # 1 and NaN; both zeros, as -0 is less than 0
    assert found["c"][0].astype(np.uint32).view(np.uint16).tolist() == [0x3C00, 0x7E00, 0x8000, 0]


@pytest.mark.parametrize(
    ("element", "index", "source", "target", "number"),
    [(8, 2, 2, 4, 8), (16, 2, 1, 2, 2), (8, 4, 4, 16, 4), (16, 4, 1, 8, 4), (8, 4, 1, 16, 4)],
)
def test_decompress(element: int, index: int, source: int, target: int, number: int) -> None:
    generator = np.random.default_rng(3)
    places = np.array([
        [np.sort(generator.choice(target, source, replace=False)) for _ in range(number)] for _ in range(32)
    ])
    values = generator.integers(1, 1 << element, (32, number, source))

    def packed(parts: np.ndarray[tuple[int, ...], np.dtype[np.int64]], bits: int) -> list[list[int]]:
        rows = [sum(int(one) << bits * at for at, one in enumerate(row.reshape(-1))) for row in parts]
        words = -(-parts[0].size * bits // 32)
        return [[row >> 32 * at & 0xFFFFFFFF for at in range(words)] for row in rows]

    inputs = {
        "m": np.array(packed(places, index), np.uint32), "c": np.array(packed(values, element), np.uint32)
    }
    count = target * element * number // 32
    found = run_warp(
        f"spdecompress.b{element}.b{index}.sp::{source}:{target}.x{number} {{d}}, {{m}}, {{c}}", inputs,
        {"d": (".b32", count)}, {}, "sm_107a",
    )["d"]
    for lane in range(32):
        want = np.zeros((number, target), np.int64)
        np.put_along_axis(want, places[lane], values[lane], axis=1)
        assert _unpacked(found[lane], element) == want.reshape(-1).tolist()
