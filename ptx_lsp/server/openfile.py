"""A file that the client has open: its text as typed so far, and what was read from it.

All of this runs on the event loop, save for what is handed to `Threads`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from ptx_lsp.lint.engine import Linting
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

_log = logging.getLogger(__name__)


class Snapshot(NamedTuple):
    """What a version of the text means. Never changes."""

    version: int
    module: Module

    @property
    def source(self) -> Source:
        return self.module.document.source


class Changed(NamedTuple):
    """Where a text differs from an earlier one: what was from `start` to `old_end` is from `start` to
    `new_end` now, in bytes.
    """

    start: int
    old_end: int
    new_end: int

    @property
    def growth(self) -> int:
        return self.new_end - self.old_end

    def then(self, edit: Edit) -> Changed:
        """This change and then `edit`, as one."""
        end = max(self.new_end, edit.end)
        return Changed(min(self.start, edit.start), end - self.growth, end + edit.growth)

    def map(self, offset: int) -> int:
        """Where an offset of the earlier text is in the new one."""
        if offset <= self.start:
            return offset
        return offset + self.growth if offset >= self.old_end else min(offset, self.new_end)


class OpenFile:
    """The text as the client has it, and the newest snapshot, which may be of an older text."""

    def __init__(self, uri: str, version: int, source: Source) -> None:
        self.uri = uri
        self.version = version
        self.source = source
        self.snapshot: Snapshot | None = None
        self.linting: Linting | None = None
        self.linted_version: int | None = None
        self.is_open = True
        self._changed: Changed | None = None
        self._reading: asyncio.Task[None] | None = None

    def change(self, version: int, edit: Edit) -> None:
        """Takes over what the client did."""
        self.source = self.source.edited(edit)
        self._changed = (self._changed or Changed(edit.start, edit.start, edit.start)).then(edit)
        self.version = version

    async def read(self) -> Snapshot:
        """The snapshot of the text as it is now, or of a newer one."""
        version = self.version
        while self.snapshot is None or self._changed or self.snapshot.version < version:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._read())
            await asyncio.shield(self._reading)
        return self.snapshot

    async def _read(self) -> None:
        changed, self._changed = self._changed, None
        self.snapshot = await asyncio.to_thread(
            _snapshot, self.version, self.source, self.snapshot, changed
        )


def _snapshot(
    version: int, source: Source, earlier: Snapshot | None, changed: Changed | None
) -> Snapshot:
    """Reads a text anew, or only what changed in it."""
    if earlier is None:
        return Snapshot(version, Module(Document.parse(source)))
    if changed is None:
        return Snapshot(version, earlier.module)
    edit = Edit(changed.start, changed.old_end, source.data[changed.start : changed.new_end])
    document = earlier.module.document.edited(edit)
    return Snapshot(version, Module(document, earlier.module))
