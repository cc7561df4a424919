"""Computes diagnostics for open files, one at a time, most recently changed first."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from threading import Event
from typing import NamedTuple, Protocol, TypeVar

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.server.openfile import OpenFile, Snapshot
from ptx_lsp.server.recent_facts import RecentFacts
from ptx_lsp.server.targets import SecondaryTargets
from ptx_lsp.server.threads import Threads

_log = logging.getLogger(__name__)

_LONG = 0.2
"""Seconds of analysis after which a first stage is worth publishing."""
_VERY_LONG, _EVERY = 1.0, 0.5
"""Progress is reported after this many seconds, and then at this interval."""

_FEW_INSTRUCTIONS = 10_000
"""The analyses of so many instructions may be kept until an answer is complete."""
_AT_ONCE = 500
"""The instructions that are analysed for an answer while findings wait."""
_T = TypeVar("_T")


class FileDiagnostics(NamedTuple):
    """The diagnostics of one text; `is_complete` once every rule has run."""

    snapshot: Snapshot
    linting: LintSession
    diagnostics: list[Diagnostic]
    is_complete: bool
    is_early: bool = False
    """Whether they are only syntax errors, and the snapshot has only the damaged statements."""


class DiagnosticsPolicy(NamedTuple):
    """The session functions that the scheduler uses. `compute_diagnostics` is called in a worker thread."""

    rules: Callable[[OpenFile], Sequence[Rule]]
    targets: Callable[[OpenFile], Sequence[Target]]
    """The targets that the file is checked against besides its module's own."""
    compute_diagnostics: Callable[[OpenFile, Sequence[LintSession]], list[Diagnostic]]
    """The diagnostics of one lint session per target, the module's first, without suppressed ones."""
    publish: Callable[[OpenFile, FileDiagnostics], None]
    progress: Callable[[OpenFile, float | None], None]
    """The completed share of a long first analysis, from 0 to 1; None if it has finished or was interrupted.
    """


class _FileState:
    """The state of one file."""

    def __init__(self) -> None:
        self.diagnostics: FileDiagnostics | None = None
        self.session: LintSession | None = None
        """The newest session, which may be unfinished."""
        self.secondary = SecondaryTargets()
        self.updated = asyncio.Event()


class DiagnosticsScheduler:
    """Keeps the diagnostics of open files up to date."""

    def __init__(self, threads: Threads, policy: DiagnosticsPolicy) -> None:
        self._threads = threads
        self._policy = policy
        self._states: dict[OpenFile, _FileState] = {}
        self._queue: dict[OpenFile, None] = {}
        """The one wanted last is the last."""
        self._recent = RecentFacts(threads.between_answers)
        self._stop = Event()
        self._working: asyncio.Future[None] | None = None

    def schedule(self, file: OpenFile) -> None:
        """Call this after each change of a file, or of anything that its diagnostics depend on."""
        self._states.setdefault(file, _FileState())
        self._queue.pop(file, None)
        self._queue[file] = None
        self._stop.set()
        if self._working is None or self._working.done():
            self._working = asyncio.ensure_future(self._work())

    def forget(self, file: OpenFile) -> None:
        """Drops a file that was closed."""
        self._queue.pop(file, None)
        case = self._states.pop(file, None)
        if case is not None:
            case.updated.set()
            self._stop.set()

    def set_early_diagnostics(self, file: OpenFile, found: FileDiagnostics) -> None:
        """Stores diagnostics that are known before a file is completely read."""
        case = self._states.setdefault(file, _FileState())
        if case.diagnostics is None:
            case.diagnostics = found
            case.updated.set()

    async def diagnostics(
        self, file: OpenFile, *, at_least_some: bool, early: bool = False
    ) -> FileDiagnostics | None:
        """The diagnostics of the current text: all, or with `at_least_some` a part. None if the file is
        closed or the analysis failed. With `early`, syntax errors suffice.
        """
        while (case := self._states.get(file)) is not None:
            found = case.diagnostics
            if (
                found is not None
                and found.snapshot.revision == file.revision
                and (found.is_complete or at_least_some)
                and (early or not found.is_early)
            ):
                return found
            if file not in self._queue:
                return None
            case.updated.clear()
            await case.updated.wait()
        return None

    async def of_each(
        self, module: Module, functions: Sequence[Function], compute: Callable[[Function], _T]
    ) -> list[_T]:
        """The results of `compute` for each function, which hold none of its analyses. These are dropped on
        the way if there are many. Then it waits for analyses that have begun.
        """
        if sum(len(one.body.instructions) for one in functions) <= _FEW_INSTRUCTIONS:
            return await self._threads.answer(lambda: [compute(one) for one in functions])
        found: list[_T] = []
        while len(found) < len(functions):
            found += await self._threads.analyse(self._of_some, islice(functions, len(found), None), compute)
        await self._threads.analyse(self._recent.add_all, module.functions.anywhere())
        return found

    def _of_some(self, functions: Iterable[Function], compute: Callable[[Function], _T]) -> list[_T]:
        """The results for the first of some functions. After that, findings may be computed."""
        found: list[_T] = []
        instructions = 0
        for function in functions:
            self._threads.give_way()
            found.append(compute(function))
            self._recent.add_all((function,))
            instructions += len(function.body.instructions)
            if instructions > _AT_ONCE:
                break
        return found

    def give_back(self) -> None:
        """Called when many files were closed."""
        self._recent.forget_unused()
        if self._working is not None and self._working.done():
            self._working = None

    def close(self) -> None:
        self._stop.set()
        if self._working is not None:
            self._working.cancel()

    # -- the work -------------------------------------------------------------------------------

    async def _work(self) -> None:
        while self._queue:
            file = next(reversed(self._queue))
            case = self._states[file]
            try:
                await self._analyse(file, case)
            except Exception:
                _log.exception("the analysis of %s failed", file.uri)
                self._queue.pop(file, None)
                case.session, case.secondary = None, SecondaryTargets()
                case.updated.set()

    async def _analyse(self, file: OpenFile, case: _FileState) -> None:
        snapshot = await file.read()
        if snapshot.revision != file.revision or next(reversed(self._queue), None) is not file:
            return
        self._stop.clear()
        linting = case.session
        rules = tuple(self._policy.rules(file))
        if linting is None or linting.module is not snapshot.module or linting.rules != rules:
            linting = case.session = LintSession(snapshot.module, rules, linting, staged=True)
        loop = asyncio.get_running_loop()

        watch = None
        if case.diagnostics is None or not case.diagnostics.is_complete:
            watch = _ProgressWatch(
                lambda some: loop.call_soon_threadsafe(
                    self._publish, file, FileDiagnostics(snapshot, linting, some, is_complete=False)
                ),
                lambda share: loop.call_soon_threadsafe(self._policy.progress, file, share),
            )

        targets = tuple(self._policy.targets(file))

        def steps() -> Iterator[Rule]:
            yield from linting.steps(self._recent.add)
            yield from case.secondary.steps(snapshot.module.document, targets, rules, self._recent.add)
            self._recent.add_all(snapshot.module.functions.anywhere())

        def judge(*, whole: bool) -> list[Diagnostic]:
            others = case.secondary.lintings(targets) if whole else []
            return self._policy.compute_diagnostics(file, [linting, *others])

        try:
            everything = await self._threads.analyse(
                _advance, linting, steps(), self._stop, self._threads.give_way, judge, watch
            )
        finally:
            if watch is not None:
                self._policy.progress(file, None)
        if everything is not None and file in self._states:
            found = FileDiagnostics(snapshot, linting, everything, is_complete=True)
            if snapshot.revision == file.revision:
                self._queue.pop(file, None)
            self._publish(file, found)

    def _publish(self, file: OpenFile, found: FileDiagnostics) -> None:
        case = self._states.get(file)
        if case is None or found.snapshot.revision != file.revision:
            return
        case.diagnostics = found
        self._policy.publish(file, found)
        case.updated.set()


class _Judge(Protocol):
    """Publishes the findings of all targets, or the first target's findings so far."""

    def __call__(self, *, whole: bool) -> list[Diagnostic]: ...


class _ProgressWatch:
    """Watches a first analysis, which may be long."""

    def __init__(
        self, tell: Callable[[list[Diagnostic]], object], progress: Callable[[float], object]
    ) -> None:
        self._tell = tell
        self._progress = progress
        self._started = self._last = time.monotonic()
        self._has_reported = False

    def look(self, linting: LintSession, judge: _Judge) -> None:
        """Called after each step on a function."""
        now = time.monotonic()
        if not self._has_reported and now - self._started > _LONG:
            self._has_reported = True
            self._tell(judge(whole=False))
        if now - self._started > _VERY_LONG and now - self._last > _EVERY:
            self._last = now
            self._progress(linting.share_done)


def _advance(
    linting: LintSession,
    steps: Iterator[Rule],
    stop: Event,
    give_way: Callable[[], None],
    judge: _Judge,
    watch: _ProgressWatch | None,
) -> list[Diagnostic] | None:
    """Advances a lint session and its counterparts for other targets; None if it was stopped."""
    give_way()
    for rule in steps:
        give_way()
        if stop.is_set():
            return None
        if watch is not None and rule.on_function is not None:
            watch.look(linting, judge)
    return judge(whole=True)
