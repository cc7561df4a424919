"""The files that the client has open: their current texts, and the modules read from those in PTX.

Everything here runs on the event loop, except `_module`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ptx_lsp.ide.highlighting.encoded_tokens import Piece
from ptx_lsp.isa.target import Target
from ptx_lsp.model.module import Module
from ptx_lsp.server.memory import MUCH
from ptx_lsp.server.skeleton import MOST_BYTES, skeleton
from ptx_lsp.server.threads import Threads
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.items import Items
from ptx_lsp.text import Edit, Source


class Snapshot:
    """The meaning of one version of the text, immutable.

    When it is no longer used, the cycles in its module are cut, so that its memory is freed at once. A
    garbage collection of a large file takes seconds, so the server does none.
    """

    def __init__(self, revision: int, version: int | None, module: Module) -> None:
        self.revision = revision
        self.version = version
        self.module = module
        self.newest = module
        """The version of the next snapshot."""

    def __del__(self) -> None:
        self.module.dispose(self.newest)

    @property
    def source(self) -> Source:
        return self.module.document.source

    @property
    def is_skeleton(self) -> bool:
        """Whether bodies were left out because the text is too large."""
        return len(self.source.data) > MOST_BYTES


class ChangedRange(NamedTuple):
    """The difference between a text and an earlier one, in bytes: the range from `start` to `old_end` became
    `start` to `new_end`.
    """

    start: int
    old_end: int
    new_end: int

    @property
    def growth(self) -> int:
        return self.new_end - self.old_end

    def then(self, edit: Edit) -> ChangedRange:
        """This change followed by `edit`, as one change."""
        end = max(self.new_end, edit.end)
        return ChangedRange(min(self.start, edit.start), end - self.growth, end + edit.growth)

    def map(self, offset: int) -> int:
        """The offset in the new text for an offset in the earlier text."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.old_end else min(offset, self.new_end)


class PublishedTokens(NamedTuple):
    """The semantic tokens last sent to the client."""

    identity: str
    pieces: list[Piece]


class ClientFile:
    """The client's text, and what has changed in it since it was read last."""

    def __init__(self, uri: str, version: int | None, source: Source) -> None:
        self.uri = uri
        self.source = source
        self.version = version
        """The client's version number, if it has one."""
        self.revision: int = 0
        """Our own revision number."""
        self.tokens: PublishedTokens | None = None
        self._changed: ChangedRange | None = None

    def change(self, version: int | None, edit: Edit) -> None:
        """Applies the client's changes."""
        self.source = self.source.edited(edit)
        self._changed = (self._changed or ChangedRange(edit.start, edit.start, edit.start)).then(edit)
        self.count(version)

    def count(self, version: int | None) -> None:
        """Counts a new version, which may differ only in its number."""
        self.version = version
        self.revision += 1


class OpenFile(ClientFile):
    """A PTX file, with the newest snapshot, which may be of an older text."""

    def __init__(
        self,
        uri: str,
        version: int | None,
        source: Source,
        threads: Threads,
        tell_early: Callable[[OpenFile, Module], None] | None = None,
    ) -> None:
        """`tell_early` is called with the damaged statements of a large file before the rest of it is read.
        """
        super().__init__(uri, version, source)
        self.snapshot: Snapshot | None = None
        self._targets: tuple[Target, ...] = ()
        self._threads = threads
        self._tell_early = tell_early
        self._reading: asyncio.Future[None] | None = None

    def set_targets(self, targets: tuple[Target, ...]) -> None:
        """Replaces the file's own target, or restores it. The snapshot is for the first of these targets."""
        if targets != self._targets:
            self._targets = targets
            self.revision += 1

    async def read(self) -> Snapshot:
        """The snapshot of the current text, or of a newer one."""
        revision = self.revision
        while self.snapshot is None or self.snapshot.revision < revision:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._read())
            await asyncio.shield(self._reading)
        return self.snapshot

    async def _read(self) -> None:
        changed, self._changed = self._changed, None
        revision, version, source = self.revision, self.version, self.source
        try:
            earlier, known, damaged = self.snapshot, None, None
            if len(source.data) > MUCH:
                await self._threads.begun()
            if earlier is None and len(source.data) <= MOST_BYTES:
                known = await self._threads.read(Document.regular, source)
            is_long = _LONG_TO_READ < len(source.data) <= MOST_BYTES
            if is_long and earlier is None and self._tell_early is not None:
                damaged = await self._threads.read(_damaged, source, known)
                if self.revision == revision:
                    self._tell_early(self, damaged)
                self._tell_early = None
            target = self._targets[0] if self._targets else None
            if known is None:
                known = await self._threads.read(_document, source, earlier, changed, damaged)
            before = earlier.module if earlier is not None and not earlier.is_skeleton else None
            module = await self._threads.read(Module, known, before, target)
            self.snapshot = Snapshot(revision, version, module)
            if earlier is not None:
                earlier.newest = module
        except BaseException:
            self.snapshot = None  # after any failure of an edit, the whole text is still available
            raise


_LONG_TO_READ = 100_000
"""Bytes."""


def _damaged(source: Source, known: Document | None) -> Module:
    """Only what is damaged: nothing, if the text is `known` to be regular."""
    return Module(Document.damaged(source) if known is None else Document(source, None, Items.of(())))


def _document(
    source: Source, earlier: Snapshot | None, changed: ChangedRange | None, damaged: Module | None
) -> Document:
    """Reads a text completely, or only its changes."""
    if len(source.data) > MOST_BYTES:
        return Document.parse(Source(skeleton(source.data)))
    if earlier is None or earlier.is_skeleton:
        return Document.parse(source, damaged.document if damaged is not None else None)
    document = earlier.module.document
    if changed is None:
        return document
    new = source.data[changed.start : changed.new_end]
    return document.edited(Edit(changed.start, changed.old_end, new), source)
