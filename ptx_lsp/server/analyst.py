"""Finds out what is wrong with the open files: one at a time, the one changed last first.

1. A newer text stops the analysis of an older one; what it has found out is taken over.
2. Findings are told of the text that the client has, of no older one, and of every text that stays.
3. Of a file that takes long the first time, what its syntax and its declarations show is told first.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import NamedTuple, Protocol

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import Linting
from ptx_lsp.lint.rule import Rule
from ptx_lsp.server.openfile import OpenFile, Snapshot
from ptx_lsp.server.targets import Others
from ptx_lsp.server.threads import Threads

_log = logging.getLogger(__name__)

_LONG = 0.2
"""Seconds of an analysis after which a first stage is worth telling."""
_VERY_LONG, _EVERY = 1.0, 0.5
"""After so many seconds progress is told, and then every so often."""


class Findings(NamedTuple):
    """What is wrong with one text; `is_complete` once every rule has run."""

    snapshot: Snapshot
    linting: Linting
    diagnostics: list[Diagnostic]
    is_complete: bool
    is_early: bool = False
    """Whether they are those of the syntax, and the snapshot has only what is damaged."""


class Policy(NamedTuple):
    """What the analyst asks of its session. `judge` is called in a thread of its own."""

    rules: Callable[[OpenFile], Sequence[Rule]]
    targets: Callable[[OpenFile], Sequence[Target]]
    """Those that the file is judged for besides that of its module."""
    judge: Callable[[OpenFile, Sequence[Linting]], list[Diagnostic]]
    """What is told of one linting for each target, the module's first; leaves out what is suppressed."""
    tell: Callable[[OpenFile, Findings], None]
    progress: Callable[[OpenFile, float | None], None]
    """How much of a long first analysis is done, from 0 to 1; None where it is over or interrupted."""


class _Case:
    """What is known of one file."""

    def __init__(self) -> None:
        self.findings: Findings | None = None
        self.linting: Linting | None = None
        """The newest one, which may have been left unfinished."""
        self.others = Others()
        self.news = asyncio.Event()


class Analyst:
    """Keeps the findings about open files up to date."""

    def __init__(self, threads: Threads, policy: Policy) -> None:
        self._threads = threads
        self._policy = policy
        self._cases: dict[OpenFile, _Case] = {}
        self._wanted: dict[OpenFile, None] = {}
        """The one wanted last is the last."""
        self._stop = Event()
        self._working: asyncio.Future[None] | None = None

    def want(self, file: OpenFile) -> None:
        """To be called after each change of a file, or of what its findings depend on."""
        self._cases.setdefault(file, _Case())
        self._wanted.pop(file, None)
        self._wanted[file] = None
        self._stop.set()
        if self._working is None or self._working.done():
            self._working = asyncio.ensure_future(self._work())

    def forget(self, file: OpenFile) -> None:
        """Once it is closed."""
        self._wanted.pop(file, None)
        case = self._cases.pop(file, None)
        if case is not None:
            case.news.set()
            self._stop.set()

    def know_early(self, file: OpenFile, found: Findings) -> None:
        """What is known before a file is read as a whole."""
        case = self._cases.setdefault(file, _Case())
        if case.findings is None:
            case.findings = found
            case.news.set()

    async def findings(
        self, file: OpenFile, *, at_least_some: bool, early: bool = False
    ) -> Findings | None:
        """Those about the text as it is now, all of them or else `at_least_some`; None where the file is
        closed, or the analysis failed. With `early` those of the syntax will do.
        """
        while (case := self._cases.get(file)) is not None:
            found = case.findings
            if (
                found is not None
                and found.snapshot.revision == file.revision
                and (found.is_complete or at_least_some)
                and (early or not found.is_early)
            ):
                return found
            if file not in self._wanted:
                return None
            case.news.clear()
            await case.news.wait()
        return None

    def close(self) -> None:
        self._stop.set()
        if self._working is not None:
            self._working.cancel()

    # -- the work -------------------------------------------------------------------------------

    async def _work(self) -> None:
        while self._wanted:
            file = next(reversed(self._wanted))
            case = self._cases[file]
            try:
                await self._analyse(file, case)
            except Exception:
                _log.exception("the analysis of %s failed", file.uri)
                self._wanted.pop(file, None)
                case.linting, case.others = None, Others()
                case.news.set()

    async def _analyse(self, file: OpenFile, case: _Case) -> None:
        snapshot = await file.read()
        if snapshot.revision != file.revision or next(reversed(self._wanted), None) is not file:
            return
        self._stop.clear()
        linting = case.linting
        rules = tuple(self._policy.rules(file))
        if linting is None or linting.module is not snapshot.module or linting.rules != rules:
            linting = case.linting = Linting(snapshot.module, rules, linting, staged=True)
        loop = asyncio.get_running_loop()

        watch = None
        if case.findings is None or not case.findings.is_complete:
            watch = _Watch(
                lambda some: loop.call_soon_threadsafe(
                    self._tell, file, Findings(snapshot, linting, some, is_complete=False)
                ),
                lambda share: loop.call_soon_threadsafe(self._policy.progress, file, share),
            )

        targets = tuple(self._policy.targets(file))

        def steps() -> Iterator[Rule]:
            yield from linting.steps()
            yield from case.others.steps(snapshot.module.document, targets, rules)

        def judge(*, whole: bool) -> list[Diagnostic]:
            others = case.others.lintings(targets) if whole else []
            return self._policy.judge(file, [linting, *others])

        try:
            everything = await self._threads.analyse(
                _advance, linting, steps(), self._stop, self._threads.give_way, judge, watch
            )
        finally:
            if watch is not None:
                self._policy.progress(file, None)
        if everything is not None and file in self._cases:
            found = Findings(snapshot, linting, everything, is_complete=True)
            if snapshot.revision == file.revision:
                self._wanted.pop(file, None)
            self._tell(file, found)

    def _tell(self, file: OpenFile, found: Findings) -> None:
        case = self._cases.get(file)
        if case is None or found.snapshot.revision != file.revision:
            return
        case.findings = found
        self._policy.tell(file, found)
        case.news.set()


class _Judge(Protocol):
    """Tells the findings of all targets, or those so far of the first."""

    def __call__(self, *, whole: bool) -> list[Diagnostic]: ...


class _Watch:
    """Over a first analysis, which may be a long one."""

    def __init__(
        self, tell: Callable[[list[Diagnostic]], object], progress: Callable[[float], object]
    ) -> None:
        self._tell = tell
        self._progress = progress
        self._started = self._last = time.monotonic()
        self._has_told = False

    def look(self, linting: Linting, judge: _Judge) -> None:
        """After each step on a function."""
        now = time.monotonic()
        if not self._has_told and now - self._started > _LONG:
            self._has_told = True
            self._tell(judge(whole=False))
        if now - self._started > _VERY_LONG and now - self._last > _EVERY:
            self._last = now
            self._progress(linting.share_done)


def _advance(
    linting: Linting,
    steps: Iterator[Rule],
    stop: Event,
    give_way: Callable[[], None],
    judge: _Judge,
    watch: _Watch | None,
) -> list[Diagnostic] | None:
    """Goes on with a linting and those for other targets; None where it was stopped."""
    give_way()
    for rule in steps:
        give_way()
        if stop.is_set():
            return None
        if watch is not None and rule.on_function is not None:
            watch.look(linting, judge)
    return judge(whole=True)
