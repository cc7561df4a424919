"""Occupancy against the recorded answers of NVIDIA's calculator, and its questions against occupancy."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path

import pytest

from ptx_lsp.analyses.occupancy.calculator import (
    UNLIMITED,
    Limits,
    Occupancy,
    most_registers,
    most_shared_bytes,
    occupancy,
    occupancy_of,
)
from ptx_lsp.analyses.occupancy.curves import (
    best_block_size,
    headroom,
    over_registers,
    over_shared,
    over_threads,
    steps,
)
from ptx_lsp.isa.device_limits import LIMITS, limits_of
from ptx_lsp.isa.target import TARGETS
from tests.oracle.figures import occupancy as oracle

EACH = 401
"""Of so many blocks of the sweep, one is tried."""


def sample() -> list[Occupancy]:
    return [
        occupancy_of(LIMITS[case.number], case.block)
        for case in islice(oracle.sweep(), 0, None, EACH)
    ]


def test_the_same_as_the_header() -> None:
    record = oracle.recorded()
    assert len(record.brief) >= 100_000
    assert list(islice(oracle.disagreements(record), 10)) == []


def test_a_difference_is_seen_and_named() -> None:
    record = oracle.recorded()
    blocks, factors = record.brief[777]
    record.brief[777] = (blocks + 1, factors)
    record.checksums[12] ^= 1
    found = list(oracle.disagreements(record))
    assert len(found) == 2
    assert found[0].startswith("sm_50 BlockResources(threads=")
    assert "blocks 1200 to 1299" in found[1]


def test_a_record_reads_as_it_was_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = oracle.recorded()
    monkeypatch.setattr(oracle, "RECORDED", tmp_path / "answers.xz")
    oracle.write(record)
    assert oracle.recorded() == record


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared", "blocks", "warps", "percent", "limiters"),
    [
        ("sm_90", 256, 32, 0, 8, 64, 100.0, ("warps", "registers")),
        ("sm_90", 256, 24, 0, 8, 64, 100.0, ("warps",)),
        ("sm_90a", 256, 40, 0, 6, 48, 75.0, ("registers",)),
        ("compute_90", 256, 41, 0, 5, 40, 62.5, ("registers",)),
        ("sm_90", 1024, 64, 0, 1, 32, 50.0, ("registers",)),
        ("sm_90", 1024, 65, 0, 0, 0, 0.0, ("registers",)),
        ("sm_90", 1025, 16, 0, 0, 0, 0.0, ("warps",)),
        ("sm_90", 33, 16, 0, 32, 64, 100.0, ("warps", "blocks")),
        ("sm_90", 32, 16, 0, 32, 32, 50.0, ("blocks",)),
        ("sm_90", 128, 32, 227 * 1024, 1, 4, 6.25, ("shared",)),
        ("sm_90", 128, 32, 227 * 1024 + 1, 0, 0, 0.0, ("shared",)),
        ("sm_90", 128, 32, 113 * 1024, 2, 8, 12.5, ("shared",)),
        ("sm_90", 128, 32, 113 * 1024 + 1, 1, 4, 6.25, ("shared",)),
        ("sm_86", 32, 16, 0, 16, 16, 100 / 3, ("blocks",)),
        ("sm_75", 1024, 64, 64 * 1024, 1, 32, 100.0, ("warps", "registers", "shared")),
        ("sm_61", 256, 16, 48 * 1024 + 1, 0, 0, 0.0, ("shared",)),
        ("sm_53", 1024, 33, 0, 0, 0, 0.0, ("registers",)),
        ("sm_52", 1024, 33, 0, 1, 32, 50.0, ("registers",)),
        ("sm_120f", 64, 0, 0, 24, 48, 100.0, ("warps", "blocks", "barriers")),
    ],
)
def test_by_hand(
    target: str,
    threads: int,
    registers: int,
    shared: int,
    blocks: int,
    warps: int,
    percent: float,
    limiters: tuple[str, ...],
) -> None:
    result = occupancy(target, threads, registers, shared)
    found = (result.blocks_per_sm, result.warps_per_sm, result.percent, result.limiters)
    assert found == (blocks, warps, pytest.approx(percent), limiters)


def test_what_is_allocated_is_told() -> None:
    result = occupancy("sm_80", 100, 37, 1000, barriers_per_block=2)
    assert result.registers_per_block == 4 * 40 * 32
    assert result.shared_bytes_per_block == 2048
    assert result.limits == Limits(16, 32, 12, 82, UNLIMITED, UNLIMITED)


def test_barriers_limit_from_sm_90_on() -> None:
    few = occupancy("sm_90", 64, 24, barriers_per_block=8)
    assert (few.blocks_per_sm, few.limiters) == (8, ("barriers",))
    assert occupancy("sm_89", 64, 24, barriers_per_block=8).blocks_per_sm == 24


def test_a_carveout_leaves_room_for_one_block() -> None:
    by_percent = {
        percent: occupancy("sm_90", 64, 24, 20_000, carveout_percent=percent).blocks_per_sm
        for percent in (100, 50, 20, 0)
    }
    assert by_percent == {100: 11, 50: 6, 20: 3, 0: 1}


def test_more_than_48_kib_needs_opting_in() -> None:
    assert occupancy("sm_80", 64, 24, 48 * 1024, opt_in=False).blocks_per_sm == 3
    refused = occupancy("sm_80", 64, 24, 48 * 1024 + 1, opt_in=False)
    assert (refused.blocks_per_sm, refused.limiters) == (0, ("shared",))


@pytest.mark.parametrize(
    ("target", "size", "blocks"),
    [("sm_90", 16, 32), ("sm_90", 17, 0), ("sm_89", 1, 24), ("sm_89", 2, 0)],
)
def test_clusters(target: str, size: int, blocks: int) -> None:
    result = occupancy(target, 64, 24, cluster_size=size)
    assert result.blocks_per_sm == blocks
    assert ("clusters" in result.limiters) == (blocks == 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sm_9x", 256, 40), "not a target: 'sm_9x'"),
        (("sm_35", 256, 40), "limits of target sm_35 are not known"),
        (("sm_91", 256, 40), "limits of target sm_91 are not known"),
        (("sm_90", 0, 40), "at least one thread, not 0"),
        (("sm_90", 256, 256), "0 to 255 registers, not 256"),
        (("sm_90", 256, -1), "0 to 255 registers, not -1"),
        (("sm_90", 256, 40, -8), "cannot have -8"),
    ],
)
def test_nonsense_is_refused(arguments: tuple[str, int, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        occupancy(*arguments)


@pytest.mark.parametrize(
    ("barriers", "cluster", "carveout"), [(-1, 1, 100), (1, 0, 100), (1, 1, 101), (1, 1, -1)]
)
def test_nonsense_in_options_is_refused(barriers: int, cluster: int, carveout: int) -> None:
    with pytest.raises(ValueError, match=r"block|cluster|carve-out"):
        occupancy(
            "sm_90",
            64,
            24,
            barriers_per_block=barriers,
            cluster_size=cluster,
            carveout_percent=carveout,
        )


def test_every_target_with_code_has_limits() -> None:
    undocumented = 82
    for target in TARGETS:
        if target.number >= 50 and target.number != undocumented:
            assert occupancy(target, 128, 32).blocks_per_sm > 0
    assert limits_of("sm_101a") == limits_of("sm_110f")


def test_most_registers_is_the_most() -> None:
    for device in LIMITS.values():
        for threads in (1, 32, 100, 256, 384, 640, 1024):
            curve = over_registers(occupancy_of(device, oracle.BlockResources(threads, 1)))
            for blocks in range(1, curve[0].limits.warps + 1):
                fit = [one for one in curve if one.limits.registers >= blocks]
                most = fit[-1].block.registers_per_thread if fit else 0
                assert most_registers(device, threads, blocks) == most


def test_most_shared_bytes_is_the_most() -> None:
    for device in LIMITS.values():
        for percent in (100, 60, 10, 0):
            block = oracle.BlockResources(32, 16, carveout_percent=percent)
            for blocks in range(1, device.blocks_per_sm + 1):
                most = most_shared_bytes(device, blocks, carveout_percent=percent)
                if most >= 0:
                    enough = occupancy_of(device, block._replace(shared_bytes=most))
                    assert enough.limits.shared >= blocks
                more = occupancy_of(device, block._replace(shared_bytes=most + 1))
                assert more.limits.shared < blocks


def test_curves_vary_one_number() -> None:
    result = occupancy("sm_90", 256, 40, 10_000)
    threads, registers, shared = over_threads(result), over_registers(result), over_shared(result)
    assert [one.block.threads for one in threads] == list(range(32, 1025, 32))
    assert [one.block.registers_per_thread for one in registers] == list(range(1, 256))
    assert [one.block.shared_bytes for one in shared] == list(range(0, 227 * 1024 + 1, 1024))
    assert threads[7] == registers[39] == result
    for curve in (registers, shared):
        assert all(one.blocks_per_sm >= two.blocks_per_sm for one, two in pairwise(curve))


def test_the_next_step_is_the_nearest() -> None:
    result = occupancy("sm_90", 256, 44)
    first = steps(result)[0]
    assert (first.fewer_registers, first.fewer_shared_bytes, first.more_blocks) == (4, 0, 1)
    both = steps(occupancy("sm_90", 128, 73, 33_000))[0]
    assert (both.fewer_registers, both.fewer_shared_bytes, both.more_blocks) == (1, 744, 1)
    assert steps(occupancy("sm_90", 1024, 32)) == ()


def test_steps_are_complete_and_not_too_far() -> None:
    tried = 0
    for result in sample():
        reached = result.blocks_per_sm
        for step in steps(result):
            tried += 1
            block = step.result.block
            assert step.result.blocks_per_sm > reached
            assert step.more_blocks == step.result.blocks_per_sm - result.blocks_per_sm
            if step.fewer_registers:
                more = block._replace(registers_per_thread=block.registers_per_thread + 1)
                assert occupancy_of(result.device, more).blocks_per_sm < step.result.blocks_per_sm
            if step.fewer_shared_bytes:
                more = block._replace(shared_bytes=block.shared_bytes + 1)
                assert occupancy_of(result.device, more).blocks_per_sm < step.result.blocks_per_sm
            reached = step.result.blocks_per_sm
        freed = result.block._replace(registers_per_thread=1, shared_bytes=0)
        if result.block.registers_per_thread:
            assert reached == occupancy_of(result.device, freed).blocks_per_sm
    assert tried > 300


def test_room_ends_at_the_step_down() -> None:
    for result in sample():
        block, space = result.block, headroom(result)
        if result.blocks_per_sm == 0:
            assert space == (0, 0)
            continue
        for grown in (
            block._replace(registers_per_thread=block.registers_per_thread + space.registers),
            block._replace(shared_bytes=block.shared_bytes + space.shared_bytes),
        ):
            assert occupancy_of(result.device, grown).blocks_per_sm == result.blocks_per_sm
        most = block.registers_per_thread + space.registers
        if most < 255:
            more = block._replace(registers_per_thread=most + 1)
            assert occupancy_of(result.device, more).blocks_per_sm < result.blocks_per_sm
        more = block._replace(shared_bytes=block.shared_bytes + space.shared_bytes + 1)
        assert occupancy_of(result.device, more).blocks_per_sm < result.blocks_per_sm


def test_the_best_block_size() -> None:
    best = best_block_size(occupancy("sm_90", 32, 40))
    assert (best.block.threads, best.warps_per_sm) == (768, 48)
    bounded = best_block_size(best, at_most=100)
    assert (bounded.block.threads, bounded.threads_per_sm) == (96, 1536)
    nothing = best_block_size(occupancy("sm_90", 32, 40, 300_000))
    assert (nothing.block.threads, nothing.blocks_per_sm) == (32, 0)
    with pytest.raises(ValueError, match="at least one thread"):
        best_block_size(best, at_most=0)
