"""An open file in another language, and the blocks of inline assembly in it."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from pygls.uris import to_fs_path

from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import Language, MissingGrammarError
from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.lint.configuration.build_targets import build_targets
from ptx_lsp.lint.configuration.selection import EVERY
from ptx_lsp.server.openfile import ChangedRange, ClientFile
from ptx_lsp.server.threads import Threads
from ptx_lsp.text import Edit, Source

_MOST_BYTES = 8 << 20
"""In larger files, blocks are not looked for."""


class HostSnapshot(NamedTuple):
    """One version of the text."""

    revision: int
    version: int | None
    document: HostDocument
    problem: str | None = None
    """The reason why blocks were not looked for, if any."""
    build_targets: tuple[Target, ...] = ()
    """The targets that the file is built for, if they are known."""

    @property
    def source(self) -> Source:
        return self.document.source


class HostFile(ClientFile):
    """The text, and the newest snapshot, which may be of an older text."""

    def __init__(
        self, uri: str, version: int | None, source: Source, language: Language, threads: Threads
    ) -> None:
        super().__init__(uri, version, source)
        self.language = language
        self.snapshot: HostSnapshot | None = None
        self._off: frozenset[str] = frozenset()
        self._threads = threads
        self._reading: asyncio.Future[None] | None = None

    def turn_off(self, hosts: frozenset[str]) -> None:
        """Replaces the hosts whose blocks are not looked for."""
        if hosts != self._off:
            self._off = hosts
            self.snapshot = None
            self.revision += 1

    async def read(self) -> HostSnapshot:
        """The snapshot of the current text, or of a newer one."""
        revision = self.revision
        while self.snapshot is None or self.snapshot.revision < revision:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._read())
            await asyncio.shield(self._reading)
        return self.snapshot

    async def _read(self) -> None:
        changed, self._changed = self._changed, None
        revision, version, source, off = self.revision, self.version, self.source, self._off
        before = self.snapshot
        try:
            document, problem = await self._threads.read(
                _document, source, self.language, off, before, changed
            )
            targets = await self._threads.read(_build_targets, self.uri, document)
            self.snapshot = HostSnapshot(revision, version, document, problem, targets)
        except BaseException:
            self.snapshot = None  # after any failure of an edit, the whole text is still available
            raise
        if off != self._off:
            self.snapshot = None


def _document(
    source: Source,
    language: Language,
    off: frozenset[str],
    before: HostSnapshot | None,
    changed: ChangedRange | None,
) -> tuple[HostDocument, str | None]:
    """The text with its blocks, reusing what has not changed; or without any, and why."""
    if len(source.data) > _MOST_BYTES:
        return HostDocument(source, language, frozenset((EVERY,))), None
    try:
        if before is None or before.problem is not None or len(before.source.data) > _MOST_BYTES:
            return HostDocument(source, language, off), None
        if changed is None:
            return before.document, None
        new = source.data[changed.start : changed.new_end]
        return before.document.edited(Edit(changed.start, changed.old_end, new), source), None
    except MissingGrammarError as error:
        return HostDocument(source, language, frozenset((EVERY,))), str(error)


def _build_targets(uri: str, document: HostDocument) -> tuple[Target, ...]:
    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path is None or not document.blocks or document.language.name not in ("cuda", "cpp"):
        return ()
    return tuple(target for name in build_targets(path) if (target := parse_target(name)) is not None)
