"""Orders of a launch: seeds that replay them, the search through all of them, what launches leave behind."""

from __future__ import annotations

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.executor.launching.order_runs import Job, OrderRuns, Outcome
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.executor.scheduling.systematic import (
    FIRST_SEED,
    MOST_WARPS,
    Search,
    SwitchedOrder,
    UsedMemory,
    seed_of,
    switches_of,
    trace,
)
from ptx_lsp.model.module import Module

HEAD = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 out) {
.reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<3>;
ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x;
"""
COUNT = """ld.relaxed.gpu.global.u32 %r2, [%rd1];
add.u32 %r2, %r2, 1;
st.relaxed.gpu.global.u32 [%rd1], %r2;
ret;
}
"""
SPIN = """setp.ne.u32 %p1, %r1, 0; @%p1 bra wait; st.relaxed.gpu.global.u32 [%rd1], 1; ret;
wait: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra wait;
ret;
}
"""
LOCKS = """mul.wide.u32 %rd2, %r1, 4;
xor.b64 %rd3, %rd2, 4;
add.u64 %rd2, %rd1, %rd2;
add.u64 %rd3, %rd1, %rd3;
one: atom.acquire.gpu.global.cas.b32 %r4, [%rd2], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra one;
two: atom.acquire.gpu.global.cas.b32 %r4, [%rd3], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra two;
st.release.gpu.global.u32 [%rd3], 0;
st.release.gpu.global.u32 [%rd2], 0;
ret;
}
"""


def findings(body: str, *, seed: int = 0, seeds: int = 0, jobs: int = 1) -> tuple[Finding, ...]:
    try:
        return launch(
            HEAD + body, entry="k", grid=2, block=1, args=[np.zeros(4, np.uint32)], seed=seed, seeds=seeds,
            jobs=jobs, limit=100_000, check=True,
        )
    except ExecutionError as error:
        return error.findings


def test_results_that_depend_on_the_order() -> None:
    (found,) = findings(COUNT, seeds=16)
    assert (found.kind, found.severity, found.variable) == ("schedule-dependent", "note", "out")
    out = [np.zeros(1, np.uint32) for _ in range(2)]
    for seed, data in zip((0, found.seed), out, strict=True):
        launch(HEAD + COUNT, entry="k", grid=2, block=1, args=[data], seed=seed)
    assert out[0] != out[1]


def test_buffers_hold_the_results_of_the_first_order() -> None:
    data = np.array([5, 0], np.uint32)
    launch(HEAD + COUNT, entry="k", grid=1, block=1, args=[data], seeds=8)
    assert data.tolist() == [6, 0]


@pytest.mark.parametrize("body", [COUNT, LOCKS], ids=["count", "locks"])
def test_orders_in_several_processes(body: str) -> None:
    assert findings(body, seeds=20, jobs=3) == findings(body, seeds=20) != ()


@pytest.mark.parametrize(
    ("body", "is_complete"), [(COUNT, True), (SPIN, True), (f"bar.sync 0, 32; {COUNT}", False)],
    ids=["count", "spinning", "counted barrier"],
)
def test_no_orders_follow_a_search_that_has_shown_all(
    monkeypatch: pytest.MonkeyPatch, body: str, *, is_complete: bool
) -> None:
    jobs: list[Job] = []
    run = OrderRuns.run

    def counted(self: OrderRuns, job: Job) -> Outcome:
        jobs.append(job)
        return run(self, job)

    monkeypatch.setattr(OrderRuns, "run", counted)
    findings(body, seeds=40)
    assert (len(jobs) < 30) == is_complete
    assert len(jobs) <= 39
    assert len({one.seed for one in jobs}) == len(jobs)


def test_the_search_finds_a_deadlock_that_its_seed_replays() -> None:
    found = findings(LOCKS, seed=FIRST_SEED)
    assert found == ()
    by_search = [one for one in _searched(LOCKS) if one.kind == "deadlock"]
    assert by_search
    assert [one.kind for one in findings(LOCKS, seed=by_search[0].seed)] == ["deadlock"]


def _searched(body: str) -> list[Finding]:
    """The findings of a search to its end, and no other seeds."""
    found: list[Finding] = []
    for seed in _orders(body):
        found += findings(body, seed=seed)
    return found


def _orders(body: str) -> list[int]:
    search, seeds = Search(), list[int]()
    while found := search.next_orders(1):
        (switches,) = found
        order = SwitchedOrder(switches)
        seeds.append(seed_of(switches))
        _run(body, order, UsedMemory(order))
        search.add(switches, trace(order))
    return seeds


def _run(body: str, order: SwitchedOrder, used: UsedMemory) -> None:
    module = Module.parse(HEAD + body)
    options = LaunchOptions(2, 1, [np.zeros(4, np.uint32)], limit=100_000, observers=[used])
    schedule = Schedule(FIRST_SEED)
    schedule.order = order
    PreparedLaunch(module, module.definitions["k"], options, is_fine=True).run(schedule)


def test_the_search_ends_and_leaves_out_orders_that_are_equivalent() -> None:
    """Two threads that do not share memory have one order; with two atomic additions each there are six."""
    alone = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;" + COUNT.replace("%rd1", "%rd2")
    assert len(_orders(alone)) == 1
    assert 2 <= len(_orders("red.global.add.u32 [%rd1], 1; red.global.add.u32 [%rd1], 1; ret; }")) <= 12


@pytest.mark.parametrize(
    "switches", [(), ((0, 0),), ((7, 3), (4095, MOST_WARPS - 1)), ((1, 2), (3, 4), (5, 6))]
)
def test_seeds_of_orders(switches: tuple[tuple[int, int], ...]) -> None:
    assert switches_of(seed_of(switches)) == switches
    assert seed_of(switches) >= FIRST_SEED
