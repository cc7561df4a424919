"""Launches of which all blocks are resident at once: barriers of the grid, from nvcc and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.native.hot import NativeMode

NVCC = Path(__file__).parent / "kernels" / "nvcc_cooperative.ptx"
LARGE_TILES = NVCC.with_name("nvcc_large_tiles.ptx")
TOO_LARGE = "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("grid", [(3, 1, 1), (1, 2, 2)])
def test_a_prefix_sum(grid: tuple[int, int, int], seed: int) -> None:
    """A `grid.sync()` on either side of each write."""
    count = int(np.prod(grid)) * 8
    given = np.random.default_rng(seed).integers(-9, 9, count).astype(np.int32)
    data, out = given.copy(), np.zeros(4, np.int32)
    args = [data, out, np.int32(count)]
    assert not launch(NVCC, entry="gsum", grid=grid, block=(4, 2), args=args, seed=seed, check=True)
    assert np.array_equal(data, np.cumsum(given))
    assert out.tolist() == [1, count, count // 8, 0]


@pytest.mark.parametrize("grid", [3, 600])
def test_arrive_and_wait(grid: int) -> None:
    count = grid * 64
    data, out = np.zeros((2, count), np.int32)
    launch(NVCC, entry="arrive_wait", grid=grid, block=64, args=[data, out])
    numbers = np.arange(count)
    assert np.array_equal(out, 3 * numbers[::-1] + numbers % 64)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_in_a_cooperative_grid(seed: int) -> None:
    out = np.zeros(16, np.int32)
    assert not launch(NVCC, entry="clus", grid=8, block=64, args=[out], seed=seed, check=True)
    partners = [200 + (rank ^ 1) % 2 * 10 + (rank ^ 1) for rank in range(8)]
    assert out.tolist() == partners + partners[::-1]


@pytest.mark.parametrize("cooperative", [None, True, False])
def test_a_launch_that_is_not_cooperative(cooperative: bool | None) -> None:
    out = np.zeros(4, np.int32)
    launch(NVCC, entry="valid", grid=2, block=2, args=[out], cooperative=cooperative)
    assert out.tolist() == [cooperative is not False] * 4
    if cooperative is False:
        data = np.zeros(4, np.int32)
        with pytest.raises(ExecutionError) as caught:
            launch(NVCC, entry="arrive_wait", grid=2, block=2, args=[data, out], cooperative=False)
        assert caught.value.kind == "trap"


@pytest.mark.parametrize(("entry", "cooperative"), [("arrive_wait", None), ("by_hand", True)])
def test_a_grid_that_is_too_large(entry: str, cooperative: bool | None) -> None:
    """A GB10 has 48 multiprocessors, each of which has room for one block of 1024 threads."""
    for grid in (48, 49):
        data, out = np.zeros((2, grid * 1024), np.int32)
        args = [np.zeros(1, np.uint32), data, out][entry != "by_hand" :]
        message = ""
        try:
            launch(
                NVCC, entry=entry, grid=grid, block=1024, args=args, device="sm_121", cooperative=cooperative
            )
        except ExecutionError as error:
            message = str(error)
        assert bool(out[0]) == (grid == 48)
        assert (f"of 49 blocks of `{entry}`, at most 48 fit on sm_121" in message) == (grid == 49)
        assert (TOO_LARGE in message) == (grid == 49)


def test_resources_that_blocks_share() -> None:
    """What is resident depends on shared memory, clusters and registers."""
    def resident(shared_bytes: int = 0, cluster: int = 1, registers: int = 0) -> str:
        with pytest.raises(ExecutionError) as caught:
            launch(
                NVCC, entry="valid", grid=1 << 14, block=64, args=[np.zeros(1 << 20, np.int32)],
                shared_bytes=shared_bytes, cluster=cluster, registers=registers, device="sm_90",
            )
        assert TOO_LARGE in str(caught.value)
        return str(caught.value).partition("at most ")[2].partition(" ")[0]

    assert resident() == str(132 * 32)
    assert resident(shared_bytes=100_000) == str(132 * 2)
    assert resident(cluster=16, shared_bytes=200_000) == "128"
    assert resident(registers=255) == str(132 * 4)


def test_a_barrier_by_hand_that_never_opens() -> None:
    """Without `cooperative` it runs, and hangs as on a device."""
    data, out = np.zeros((2, 52 * 1024), np.int32)
    count = np.zeros(1, np.uint32)
    with pytest.raises(ExecutionError) as caught:
        launch(
            NVCC, entry="by_hand", grid=52, block=1024, args=[count, data, out], device="sm_121",
        )
    assert caught.value.kind == "deadlock"
    assert str(caught.value).endswith("; 4 blocks have not started: at most 48 are resident at once")


@pytest.mark.parametrize("native", ["off", "auto"])
@pytest.mark.parametrize("check", [False, True])
def test_tiles_of_several_warps(native: NativeMode, check: bool) -> None:
    """Their barriers are in reserved shared memory: `tiled_partition<64>` and `cg::reduce` beside an array of
    512 times 7.
    """
    given, out = np.arange(128, dtype=np.int32), np.zeros(640, np.int32)
    found = launch(LARGE_TILES, entry="k", grid=1, block=128, args=[given, out], native=native, check=check)
    assert not found
    assert out[:256].tolist() == [2016] * 64 + [6112] * 64 + [7] * 128


@pytest.mark.parametrize("native", ["off", "auto"])
def test_reserved_shared_memory_lies_apart_and_is_zero(native: NativeMode) -> None:
    text = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .b8 more[];
.entry k(.param .u64 out)
{
.reg .b32 %r<6>; .reg .b64 %rd1;
.shared .b8 own[20];
ld.param.u64 %rd1, [out];
mov.u32 %r0, %reserved_smem_offset_begin; mov.u32 %r1, %reserved_smem_offset_end;
mov.u32 %r2, %reserved_smem_offset_cap; mov.u32 %r3, %reserved_smem_offset_1;
ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r3], 7;
st.global.v4.u32 [%rd1], {%r0, %r1, %r2, %r3}; st.global.u32 [%rd1+16], %r4;
mov.u32 %r5, more; st.global.u32 [%rd1+20], %r5;
ret;
}
"""
    out = np.zeros(6, np.uint32)
    found = launch(text, entry="k", grid=1, block=1, args=[out], shared_bytes=100, native=native, check=True)
    assert not found
    begin, end, size, at, value, dynamic = out.tolist()
    assert dynamic + 100 <= begin <= at < end == begin + size
    assert value == 0


def test_blocks_that_end_make_room() -> None:
    """Every other block ends at once, so all come to be resident."""
    text = """.version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 out, .param .u32 wanted)
{
.reg .u64 %rd<2>; .reg .u32 %r<4>; .reg .pred %p;
ld.param.u64 %rd1, [out]; ld.param.u32 %r0, [wanted];
mov.u32 %r1, %ctaid.x; and.b32 %r1, %r1, 1; setp.eq.u32 %p, %r1, 0;
@%p ret;
red.global.add.u32 [%rd1], 1;
wait: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p, %r2, %r0; @%p bra wait;
ret;
}
"""
    count = np.zeros(1, np.uint32)
    launch(text, entry="k", grid=512, block=1024, args=[count, 256 * 1024], device="sm_90")
    assert count[0] == 256 * 1024
