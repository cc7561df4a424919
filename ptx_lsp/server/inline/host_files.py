"""The open files in other languages, and views of their blocks of inline assembly."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from lsprotocol import types
from pygls.uris import to_fs_path

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.languages import Language, language_of, language_with_id
from ptx_lsp.ide.inline.block_places import BlockPlaces
from ptx_lsp.ide.inline.tokens import BlockTokens
from ptx_lsp.lint.checked_block import CheckedBlock
from ptx_lsp.lint.inline.foreign import is_foreign
from ptx_lsp.server.client import Client
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.inline.block_converter import BlockConverter
from ptx_lsp.server.inline.host_file import HostFile, HostSnapshot
from ptx_lsp.server.inline.host_scheduler import HostDiagnostics, HostScheduler
from ptx_lsp.server.openfile import Snapshot
from ptx_lsp.server.publisher import Publisher
from ptx_lsp.server.settings import EffectiveSettings
from ptx_lsp.server.threads import Threads
from ptx_lsp.text import Source

_KEPT: Final = 16
"""The blocks whose PTX is kept between requests."""
_PTX: Final = "ptx"

_Key: TypeAlias = tuple[bytes, bytes, tuple[str, ...]]


class HostView(NamedTuple):
    """A file in another language as one request sees it."""

    file: HostFile
    snapshot: HostSnapshot
    convert: Converter
    settings: EffectiveSettings
    client: Client
    tokens: BlockTokens


class BlockAt(NamedTuple):
    """The block at a position."""

    file: HostFile
    snapshot: HostSnapshot
    block: Snapshot
    """The PTX of the block."""
    convert: BlockConverter


class HostFiles:
    """Everything here runs on the event loop."""

    def __init__(
        self,
        threads: Threads,
        publisher: Publisher,
        client: Callable[[], Client],
        settings: Callable[[HostFile], EffectiveSettings],
        report_error: Callable[[str], None],
    ) -> None:
        self.files: dict[str, HostFile] = {}
        self.scheduler = HostScheduler(threads, publisher, settings)
        self._threads = threads
        self._client = client
        self._settings = settings
        self._report_error = report_error
        self._tokens = BlockTokens()
        self._checked: OrderedDict[_Key, tuple[CheckedBlock, Snapshot]] = OrderedDict()

    def open(self, item: types.TextDocumentItem, source: Source) -> HostFile | None:
        """The file, if it is in another language than PTX."""
        language = _language(item)
        if language is None:
            return None
        file = self.files[item.uri] = HostFile(item.uri, item.version, source, language, self._threads)
        return file

    def close_file(self, file: HostFile) -> None:
        del self.files[file.uri]
        self.scheduler.forget(file)

    def give_back(self) -> None:
        """Called when many files were closed."""
        self.scheduler.give_back()
        self._checked.clear()
        self._tokens = BlockTokens()

    async def view(self, uri: str) -> HostView | None:
        """A file in its current state; None if it is not open here."""
        file = self.files.get(uri)
        return self.view_of(file, await file.read()) if file is not None else None

    def view_of(self, file: HostFile, snapshot: HostSnapshot) -> HostView:
        client = self._client()
        convert = Converter(file.uri, snapshot.source, client)
        return HostView(file, snapshot, convert, self._settings(file), client, self._tokens)

    async def diagnostics(self, uri: str) -> tuple[HostFile, HostDiagnostics] | None:
        file = self.files.get(uri)
        found = await self.scheduler.diagnostics(file) if file is not None else None
        if file is None or found is None:
            return None
        if found.snapshot.problem is not None:
            self._report_error(found.snapshot.problem)
        return file, found

    async def block_at(
        self, uri: str, position: types.Position, *, with_expressions: bool = False
    ) -> BlockAt | None:
        """The block at a position; None outside of all. `with_expressions`: also where the host says what an
        operand passes.
        """
        view = await self.view(uri)
        if view is None:
            return None
        offset = view.convert.offset(position)
        block = view.snapshot.document.block_at(offset)
        if block is None or is_foreign(block):
            return None
        checked, snapshot = await self._check(view, block)
        places = BlockPlaces(checked, block.start)
        if places.offset(offset, with_expressions=with_expressions) is None:
            return None
        convert = BlockConverter(
            uri, view.snapshot.source, view.client, places, with_expressions=with_expressions
        )
        return BlockAt(view.file, view.snapshot, snapshot, convert)

    async def _check(self, view: HostView, block: Block) -> tuple[CheckedBlock, Snapshot]:
        linter = self.scheduler.linter(view.settings, view.snapshot.build_targets)
        targets = tuple(map(str, linter.targets(block)[0]))
        key = view.snapshot.source.data[block.start : block.span.end], block.text.data, targets
        found = self._checked.get(key)
        if found is None:
            checked = await self._threads.answer(linter.checked, block)
            found = self._checked[key] = checked, Snapshot(0, None, checked.module)
            if len(self._checked) > _KEPT:
                self._checked.popitem(last=False)
        else:
            self._checked.move_to_end(key)
        return found


def _language(item: types.TextDocumentItem) -> Language | None:
    """The language of a file, by what the client says, else by the name of the file."""
    known = language_with_id(item.language_id)
    if known is not None or item.language_id == _PTX:
        return known
    return language_of(to_fs_path(item.uri) or item.uri)
