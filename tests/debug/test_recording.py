"""A run that goes back and forth is the same run: whatever was seen once is seen again."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.debug import recording as recording_module
from ptx_lsp.debug.goals import AtEvent, Goal, Hit, Moment
from ptx_lsp.debug.recording import MOST_BYTES, Recording
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument, bindings
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.model.module import Module
from tests.debug import kernels

KERNELS = Path(__file__).parents[1] / "conformance" / "kernels"
NAMES = (
    "async_arrivals", "async_bulk", "async_tensor", "atomics", "barrier", "control", "exact_matrix_moves",
    "exact_tensor_copy", "locks", "shuffles", "textures", "wgmma",
)


def recording(
    module: Module, comment: LaunchComment, *, seed: int = 0, check: bool = False,
    most_bytes: int = MOST_BYTES,
) -> Recording:
    def make(observer: Observer) -> PreparedLaunch:
        options = LaunchOptions(
            comment.grid, comment.block, [argument(one, comment.seed) for one in comment.specs],
            comment.shared_bytes, 1 << 20, cluster=comment.cluster or None, check=check,
            observers=(observer,), bind=bindings(comment.bound, comment.seed),
        )
        return PreparedLaunch(module, module.definitions[comment.entry], options, is_fine=seed != 0)

    return Recording(make, seed, most_bytes)


class _Trail(Goal):
    """What each instruction finds: lanes and registers."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[object, ...]] = {}

    def reached(self, moment: Moment) -> Hit | None:
        self.seen[moment.event] = _state(moment)
        return None


def _state(moment: Moment) -> tuple[object, ...]:
    wave = moment.wave
    registers = hash(b"".join(wave.broadcast(one).tobytes() for one in wave.registers))
    return moment.step.line, wave.full_mask(moment.arrived).tobytes(), registers, wave.shared.tobytes()


def _cases() -> Iterator[tuple[str, int]]:
    for name in NAMES:
        path = KERNELS / f"{name}.ptx"
        if path.exists():
            comments = launch_comments(Module.parse(path.read_text()))
            yield from ((name, at) for at, one in enumerate(comments[:3]) if not one.problem)


@pytest.mark.parametrize(("name", "at"), list(_cases()))
@pytest.mark.parametrize(("seed", "check"), [(0, False), (0, True), (1, True)])
def test_time_travel(name: str, at: int, seed: int, check: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_module, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(recording_module, "_SHARE", 0)
    module = Module.parse((KERNELS / f"{name}.ptx").read_text())
    run = recording(module, launch_comments(module)[at], seed=seed, check=check)
    trail, chance = _Trail(), random.Random(at)
    try:
        end = run.go_on(trail)
        while end.reason != "end":
            end = run.go_on(trail)
        seen, last = dict(trail.seen), max(trail.seen)
        after = [data.tobytes() for data in run.launch.written()]
        for _ in range(6):
            stop = run.go_to(chance.randrange(1, last + 1))
            assert stop.moment is not None
            assert _state(stop.moment) == seen[stop.event]
        trail.seen.clear()
        while run.go_on(trail).reason != "end":
            pass
        assert {event: seen[event] for event in trail.seen} == trail.seen
        assert [data.tobytes() for data in run.launch.written()] == after
    finally:
        run.close()


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


def test_an_interrupted_run_stops() -> None:
    module = Module.parse(kernels.LOOP)
    run = recording(module, launch_comments(module)[0])
    try:
        run.go_on(AtEvent(10))
        run.pause()
        assert run.go_on(Goal()).reason == "pause"
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
