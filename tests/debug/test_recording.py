"""A run that goes back and forth is the same run: whatever was seen once is seen again."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from ptx_lsp.debug import recording as recording_module
from ptx_lsp.debug.goals import AtEvent, Goal, Hit, Moment
from ptx_lsp.executor.launching.launch_comment import launch_comments
from ptx_lsp.model.module import Module
from tests.debug import kernels
from tests.debug.time_travel import KERNELS, TESTS, recording, travel

NAMES = (
    "async_arrivals", "async_bulk", "async_tensor", "atomics", "barrier", "control",
    "mbarrier", "stops", "surfaces", "textures",
)


def _cases() -> Iterator[tuple[str, int]]:
    for name in NAMES:
        comments = launch_comments(Module.parse((KERNELS / f"{name}.ptx").read_text()))
        yield from ((name, at) for at, one in enumerate(comments[:2]) if not one.problem)


@pytest.mark.parametrize(("name", "at"), list(_cases()))
@pytest.mark.parametrize(("seed", "check", "steps"), [
    (0, False, False), (1, True, False), (0, False, True), (1, True, True),
])
def test_time_travel(
    name: str, at: int, seed: int, check: bool, steps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_module, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(recording_module, "_SHARE", 0)
    module = Module.parse((KERNELS / f"{name}.ptx").read_text())
    travel(module, launch_comments(module)[at], seed=seed, check=check, chance=at, steps=steps)


def test_another_warp_steps_on_from_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies that were made before the finding was reported, with the warp that was in focus then, are
    forgotten.
    """
    monkeypatch.setattr(recording_module, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(recording_module, "_SHARE", 0)
    module = Module.parse((TESTS / "executor" / "seeded" / "barriers.ptx").read_text())
    (comment,) = (one for one in launch_comments(module) if one.entry == "broken_count")
    for chance in range(8):
        travel(module, comment, seed=1, check=True, chance=chance, steps=True)


class _AtLine(Goal):
    def __init__(self, line: int) -> None:
        self._line = line

    def reached(self, moment: Moment) -> Hit | None:
        return Hit("breakpoint") if moment.step.line == self._line else None


def test_memory_is_bounded() -> None:
    module = Module.parse(kernels.LOOP.replace("100;", "3000;"))
    bounded = 60_000
    run = recording(module, launch_comments(module)[0], most_bytes=bounded)
    try:
        run.go_on(Goal())
        assert run.copied_bytes <= 2 * bounded
        counted = [run.go_back(_AtLine(kernels.COUNT)).event for _ in range(3)]
        assert counted[0] - counted[1] == counted[1] - counted[2] == 3
    finally:
        run.close()


@pytest.mark.parametrize("goal", [Goal(), AtEvent(11)])
def test_an_interrupted_run_stops(goal: Goal) -> None:
    """Also where it would stop for a step, after which others may follow."""
    module = Module.parse(kernels.LOOP)
    run = recording(module, launch_comments(module)[0])
    try:
        run.go_on(AtEvent(10))
        run.pause()
        assert run.go_on(goal).reason == "pause"
    finally:
        run.close()


_LONG = kernels.LOOP.replace("100;", "300000;")
_FAILS = _LONG.replace("st.global.u32 [%rd2], %r1;", "st.global.u32 [%rd2+64], %r1;")


def test_a_run_that_nothing_can_stop_is_not_watched() -> None:
    module = Module.parse(_LONG)
    run = recording(module, launch_comments(module)[0])
    try:
        end = run.go_on(_Never())
        assert (end.reason, end.event) == ("end", 0)
        assert run.launch.written()[0].view(np.uint32).tolist() == [300_000] * 32
        assert run.go_to(20).event == 20
        assert run.go_on(_AtLine(kernels.COUNT)).event == 22
    finally:
        run.close()


def test_back_from_an_end_that_was_not_watched() -> None:
    module = Module.parse(kernels.LOOP)
    run = recording(module, launch_comments(module)[0])
    try:
        run.go_on(_Never())
        back = run.go_back(_AtLine(kernels.COUNT))
        assert (back.reason, back.event) == ("breakpoint", 3 + 3 * 99 + 1)
        run.go_on(_Never())
        assert run.go_back(_AtLine(kernels.COUNT)).event == back.event
    finally:
        run.close()


def test_a_failure_that_was_not_watched_stops_at_its_fault() -> None:
    module = Module.parse(_FAILS.replace("300000;", "3000;"))
    run = recording(module, launch_comments(module)[0])
    try:
        stop = run.go_on(_Never())
        assert stop.moment is not None and stop.problem is not None
        assert (stop.reason, stop.moment.step.line) == ("exception", _FAILS.splitlines().index("\tret;"))
        assert run.go_back(_AtLine(kernels.COUNT)).event == 3 + 3 * 2999 + 1
    finally:
        run.close()


def test_what_was_not_watched_cannot_be_reached() -> None:
    module = Module.parse(_LONG.replace("300000;", "0x7fffffff;"))
    run = recording(module, launch_comments(module)[0])
    goal = _Never(patience=300)
    try:
        first = run.go_on(goal)
        assert first.reason == "breakpoint" and first.moment is not None
        counter = _register(first.moment)
        later = run.go_to(first.event + 300)
        assert later.moment is not None and _register(later.moment) > counter
        back = run.go_back(AtEvent(sys.maxsize))
        assert (back.event, back.reason) == (first.event, "entry")
        assert back.moment is not None and _register(back.moment) == counter
    finally:
        run.close()


def _register(moment: Moment) -> int:
    """The largest value of `%r1` of `LOOP`, which counts."""
    return max(int(one.max()) for one in moment.wave.registers if one.dtype == np.uint32)


class _Never(Goal):
    """Cannot stop a run, unless with `patience` it is asked so often."""

    def __init__(self, patience: int = sys.maxsize) -> None:
        self._patience = patience

    @property
    def can_stop(self) -> bool:
        self._patience -= 1
        return self._patience < 0

    def reached(self, moment: Moment) -> Hit | None:
        return Hit("breakpoint")
