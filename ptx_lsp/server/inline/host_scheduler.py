"""Keeps the diagnostics of open files with inline assembly up to date."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from threading import Event
from typing import Final, NamedTuple, TypeAlias

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.inline.block_linter import BlockLinter, in_order
from ptx_lsp.server.inline.host_file import HostFile, HostSnapshot
from ptx_lsp.server.publisher import Publisher, worst
from ptx_lsp.server.settings import EffectiveSettings
from ptx_lsp.server.threads import Threads

_log = logging.getLogger(__name__)
_KEPT: Final = 4
"""Linters of different settings."""

_Key: TypeAlias = tuple[Rules, tuple[Target, ...], tuple[Target, ...]]
SettingsOf: TypeAlias = Callable[[HostFile], EffectiveSettings]


class HostDiagnostics(NamedTuple):
    """The diagnostics of one text."""

    snapshot: HostSnapshot
    diagnostics: list[Diagnostic]
    is_complete: bool = True


class _FileState:
    def __init__(self) -> None:
        self.diagnostics: HostDiagnostics | None = None
        self.stop = Event()
        self.updated = asyncio.Event()
        self.working: asyncio.Future[None] | None = None
        self.settings: EffectiveSettings | None = None
        """Those that `diagnostics` are for."""


class HostScheduler:
    """Everything here runs on the event loop, except the work itself. What was found about a block is kept
    while its text is the same, so an interrupted analysis loses nothing.
    """

    def __init__(self, threads: Threads, publisher: Publisher, settings: SettingsOf) -> None:
        self._threads = threads
        self._publisher = publisher
        self._settings = settings
        self._states: dict[HostFile, _FileState] = {}
        self._linters: OrderedDict[_Key, BlockLinter] = OrderedDict()

    def schedule(self, file: HostFile) -> None:
        """Call this after each change of a file or of its settings."""
        state = self._states.setdefault(file, _FileState())
        state.stop.set()
        if state.working is None or state.working.done():
            state.working = asyncio.ensure_future(self._work(file, state))

    def forget(self, file: HostFile) -> None:
        """Drops a file that was closed."""
        state = self._states.pop(file, None)
        if state is not None:
            state.stop.set()
            state.updated.set()

    def give_back(self) -> None:
        """Called when many files were closed."""
        self._linters.clear()

    def close(self) -> None:
        for state in self._states.values():
            state.stop.set()
            if state.working is not None:
                state.working.cancel()

    async def diagnostics(self, file: HostFile) -> HostDiagnostics | None:
        """The diagnostics of the current text; None if the file is closed or the analysis failed."""
        while (state := self._states.get(file)) is not None:
            found = state.diagnostics
            if found is not None and self._is_current(file, state):
                return found
            if state.working is None or state.working.done():
                return None
            state.updated.clear()
            await state.updated.wait()
        return None

    def linter(self, settings: EffectiveSettings, build: tuple[Target, ...]) -> BlockLinter:
        """The linter for some settings and targets of the build; one for all files that have the same."""
        key = settings.rules, settings.targets, build
        found = self._linters.get(key)
        if found is None:
            found = self._linters[key] = BlockLinter(*key)
            if len(self._linters) > _KEPT:
                self._linters.popitem(last=False)
        return found

    def _is_current(self, file: HostFile, state: _FileState) -> bool:
        found = state.diagnostics
        return (
            found is not None
            and found.snapshot.revision == file.revision
            and state.settings == self._settings(file)
        )

    async def _work(self, file: HostFile, state: _FileState) -> None:
        try:
            while self._states.get(file) is state and not self._is_current(file, state):
                snapshot = await file.read()
                settings = self._settings(file)
                state.stop.clear()
                if snapshot.revision != file.revision:
                    continue
                found = await self._threads.check_blocks(
                    _diagnostics,
                    snapshot,
                    settings.rules,
                    self.linter(settings, snapshot.build_targets),
                    state.stop,
                    self._threads.give_way,
                )
                if found is None or snapshot.revision != file.revision:
                    continue
                if self._states.get(file) is state:
                    state.diagnostics, state.settings = HostDiagnostics(snapshot, found), settings
                    self._publisher.publish(file, state.diagnostics)
                    state.updated.set()
        except Exception:
            _log.exception("the analysis of %s failed", file.uri)
        finally:
            state.updated.set()


def _diagnostics(
    snapshot: HostSnapshot,
    rules: Rules,
    linter: BlockLinter,
    stop: Event,
    give_way: Callable[[], None],
) -> list[Diagnostic] | None:
    """The findings about all blocks; None if it was stopped."""
    found: list[Diagnostic] = []
    for verdict in linter.verdicts(snapshot.document):
        found += verdict
        give_way()
        if stop.is_set():
            return None
    if not snapshot.document.blocks:
        return []
    comments = Suppressions(snapshot.source, snapshot.document.language.comment.encode())
    kept = [*comments.kept(found), *rules.judged(comments.unused(rules.names))]
    return worst(in_order(kept), snapshot.source)
