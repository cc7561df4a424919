"""Time travel compared with plain runs: every launch of the conformance kernels goes forwards with random
stops, back and forwards again, and must find the same states and leave the same memory.

    python -m tests.debug.time_travel [NAME ...] [--seeds N]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from ptx_lsp.debug import recording as recording_module
from ptx_lsp.debug.breakpoints import starts_of
from ptx_lsp.debug.goals import AtEvent, Goal, Hit, Moment, Several
from ptx_lsp.debug.recording import MOST_BYTES, Recording
from ptx_lsp.debug.stepping import StepKind, step_from
from ptx_lsp.debug.view import View
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument, bindings
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.scheduling.scheduling_policy import Schedule
from ptx_lsp.model.module import Module

TESTS = Path(__file__).parents[1]
KERNELS = TESTS / "conformance" / "kernels"
FOLDERS = (KERNELS, TESTS / "executor" / "kernels", TESTS / "executor" / "seeded")
LIMIT = 1 << 20
_STOPS = 6
_STEPS = 12
_KINDS: tuple[StepKind, ...] = ("in", "over", "out")


def recording(
    module: Module, comment: LaunchComment, *, seed: int = 0, check: bool = False,
    most_bytes: int = MOST_BYTES,
) -> Recording:
    """A run of a launch comment."""
    return Recording(
        lambda observer: prepared(module, comment, (observer,), seed=seed, check=check), seed, most_bytes
    )


def prepared(
    module: Module, comment: LaunchComment, observers: tuple[Observer, ...] = (), *, seed: int = 0,
    check: bool = False,
) -> PreparedLaunch:
    """The launch of a comment."""
    options = LaunchOptions(
        comment.grid, comment.block, [argument(one, comment.seed) for one in comment.specs],
        comment.shared_bytes, LIMIT, cluster=comment.cluster or None, check=check, observers=observers,
        bind=bindings(comment.bound, comment.seed), console=lambda text: None,
    )
    return PreparedLaunch(module, module.definitions[comment.entry], options, is_fine=seed != 0)


def launches(path: Path) -> Iterator[tuple[Module, LaunchComment]]:
    """The launches that the comments of a file describe."""
    module = Module.parse(path.read_text())
    yield from ((module, one) for one in launch_comments(module) if not one.problem)


def travel(
    module: Module, comment: LaunchComment, *, seed: int = 0, check: bool = False, chance: int = 0,
    steps: bool = False,
) -> None:
    """Goes through a run forwards and backwards, with `steps` of random warps at its beginning. Raises
    AssertionError if it is not the same run. Steps choose another order of warps, with which a kernel that
    is wrong may end otherwise.
    """
    plain = prepared(module, comment, seed=seed, check=steps)
    result = plain.run(Schedule(seed))
    error, depends = result.error, steps and bool(result.error or result.findings)
    if error is not None and "`brkpt`" in str(error):
        return  # a debugger goes on there
    after = [data.tobytes() for data in plain.written()]
    run = recording(module, comment, seed=seed, check=check)
    trail, at_random = _Trail(), random.Random(chance)
    try:
        if steps:
            _step_at_random(run, trail, at_random)
        _to_end(run, trail)
        seen, last = dict(trail.seen), max(trail.seen)
        if depends:
            problem = run.stop.problem
            error = problem if isinstance(problem, ExecutionError) else None
            after = [data.tobytes() for data in run.launch.written()]
        _is_as_plain(run, error, after)
        for _ in range(_STOPS):
            stop = run.go_to(at_random.randrange(1, last + 1))
            assert stop.moment is not None
            assert state(stop.moment) == seen[stop.event], f"another state before instruction {stop.event}"
            stop = run.go_back(_Random(at_random))
            assert stop.moment is not None
            assert state(stop.moment) == seen[stop.event], f"another state back at instruction {stop.event}"
            stop = run.go_on(_Random(at_random))
            if stop.moment is not None:
                assert state(stop.moment) == seen[stop.event], f"another state at instruction {stop.event}"
        run.go_to(at_random.randrange(1, last + 1))
        trail.seen.clear()
        _to_end(run, trail)
        assert {event: seen[event] for event in trail.seen} == trail.seen
        _is_as_plain(run, error, after)
        if not check:
            run.go_to(1)
            run.go_on(_Unstoppable())
            _is_as_plain(run, error, after)
    finally:
        run.close()


def state(moment: Moment) -> tuple[object, ...]:
    """What an instruction finds: registers and shared memory."""
    wave = moment.wave
    found = blake2b(wave.shared.tobytes(), digest_size=16)
    for one in wave.registers:
        found.update(wave.broadcast(one).tobytes())
    return moment.step.line, found.digest()


def _step_at_random(run: Recording, trail: Goal, chance: random.Random) -> None:
    """Lets single warps go on, chosen at random."""
    starts = starts_of(run.launch.blocks, range(sys.maxsize))
    stop = run.go_on(Several((AtEvent(chance.randrange(1, 40)), trail)))
    for _ in range(_STEPS):
        view = View(run.launch, run.machine, stop)
        if run.is_over or not view.groups:
            break
        group = chance.choice(list(view.groups.values()))
        kind = chance.choice(_KINDS)
        stop = run.go_on(Several((step_from(group, group.first, kind, starts), trail)))


def _to_end(run: Recording, goal: Goal) -> None:
    while not run.is_over:
        run.go_on(goal)


def _is_as_plain(run: Recording, error: ExecutionError | None, after: list[bytes]) -> None:
    problem = run.stop.problem
    found = problem.kind if isinstance(problem, ExecutionError) else None
    assert found == (None if error is None else error.kind), f"it stops with {found}, not {error}"
    if error is None:
        assert [data.tobytes() for data in run.launch.written()] == after, "other memory than in a plain run"


class _Trail(Goal):
    """Keeps what each instruction finds."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[object, ...]] = {}

    def reached(self, moment: Moment) -> Hit | None:
        self.seen[moment.event] = state(moment)
        return None


class _Random(Goal):
    """Stops somewhere: the same decision for the same instruction."""

    def __init__(self, chance: random.Random) -> None:
        self._key = chance.getrandbits(32)

    def reached(self, moment: Moment) -> Hit | None:
        return Hit("breakpoint") if hash((self._key, moment.event)) % 20 == 0 else None


class _Unstoppable(Goal):
    """Nothing stops."""

    @property
    def can_stop(self) -> bool:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="files by their stems (default: all)")
    parser.add_argument("--seeds", type=int, default=2, help="so many schedules of each")
    given = parser.parse_args()
    patch = pytest.MonkeyPatch()
    patch.setattr(recording_module, "_LEAST_SECONDS", 0.002)
    patch.setattr(recording_module, "_SHARE", 1)
    failed = count = 0
    for folder in FOLDERS:
        for path in sorted(folder.glob("*.ptx")):
            if given.names and path.stem not in given.names:
                continue
            for at, (module, comment) in enumerate(launches(path)):
                for seed in range(given.seeds):
                    for check in (False, True):
                        count += 1
                        begin = time.process_time()
                        try:
                            for steps in (False, True):
                                travel(module, comment, seed=seed, check=check, chance=at, steps=steps)
                        except Exception as error:
                            failed += 1
                            where = f"{path.stem}:{comment.line} {comment.entry} seed {seed} check {check}"
                            print(f"{where}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                        if time.process_time() - begin > 20:
                            print(f"{path.stem}:{comment.line} takes long", flush=True)
    print(f"{count} runs, {failed} of them failed")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
