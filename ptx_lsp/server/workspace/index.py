"""The names that the PTX files of the workspace declare, whether the client has the files open or not.

Files on disk are read again when they have changed; equal contents are read once.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types
from pygls.uris import to_fs_path

from ptx_lsp.ide.navigation.linkage import FileSymbol, file_symbols
from ptx_lsp.model.module import Module
from ptx_lsp.server.client import Client
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.settings import Configurations
from ptx_lsp.server.skeleton import MOST_BYTES, skeleton
from ptx_lsp.server.threads import Threads
from ptx_lsp.server.workspace.files import Stamp, WorkspaceFiles, is_same, stamp
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source

_AT_ONCE = 50
"""Files that are read before other work has its turn."""


class Indexed(NamedTuple):
    """A declaration at file level, and the range of its name."""

    symbol: FileSymbol
    range: types.Range


class IndexedFile(NamedTuple):
    """The declarations of one file."""

    uri: str
    symbols: tuple[Indexed, ...]

    def declares(self, name: str) -> bool:
        """Whether it declares a name that files share."""
        return any(one.symbol.name == name and one.symbol.is_linked for one in self.symbols)

    def defines(self, name: str) -> bool:
        """Whether it defines a name that files share."""
        return self.declares(name) and any(
            one.symbol.name == name and one.symbol.is_definition for one in self.symbols
        )


class _OnDisk(NamedTuple):
    stamp: Stamp
    digest: bytes
    file: IndexedFile


class WorkspaceIndex:
    """Knows the declarations of the files on disk."""

    def __init__(self, threads: Threads, configurations: Configurations) -> None:
        self._threads = threads
        self._configurations = configurations
        self._paths = WorkspaceFiles()
        self._known: dict[Path, _OnDisk] = {}
        self._of_content: dict[bytes, tuple[Indexed, ...]] = {}

    async def paths(self, client: Client) -> list[Path]:
        """The files below the client's folders that the configuration does not exclude."""
        return await self._threads.answer(self._paths.paths, client.paths, self._configurations)

    async def files(self, client: Client, opened: Sequence[Path]) -> list[IndexedFile]:
        """The files below the client's folders, except those in `opened`."""
        answer = self._threads.answer
        skipped = {os.path.normcase(path) for path in opened}
        paths = [path for path in await self.paths(client) if os.path.normcase(path) not in skipped]
        found: list[IndexedFile] = []
        for start in range(0, len(paths), _AT_ONCE):
            found += await answer(self._read_all, client, paths[start : start + _AT_ONCE])
        await answer(self._forget, frozenset(paths))
        return found

    def _read_all(self, client: Client, paths: Sequence[Path]) -> list[IndexedFile]:
        found: list[IndexedFile] = []
        for path in paths:
            try:
                found.append(self._read(client, path))
            except OSError:  # it was removed, or is unreadable
                self._known.pop(path, None)
        return found

    def _read(self, client: Client, path: Path) -> IndexedFile:
        known, now = self._known.get(path), stamp(path)
        if known is not None and is_same(known.stamp, now):
            return known.file
        if now.size > MOST_BYTES:
            return IndexedFile(path.as_uri(), ())
        data = path.read_bytes()
        digest = blake2b(data, digest_size=16).digest()
        symbols = self._of_content.get(digest)
        if symbols is None:
            symbols = self._of_content[digest] = _outline(path, data, client)
        file = IndexedFile(path.as_uri(), symbols)
        self._known[path] = _OnDisk(now, digest, file)
        return file

    def _forget(self, paths: frozenset[Path]) -> None:
        """Forgets the files that are gone or now open."""
        for path in self._known.keys() - paths:
            del self._known[path]
        used = {one.digest for one in self._known.values()}
        for digest in self._of_content.keys() - used:
            del self._of_content[digest]


class Opened(NamedTuple):
    """A module, and the conversion of its offsets."""

    module: Module
    convert: Converter
    version: int | None = None
    """The client's version of an open file."""

    def symbols(self) -> tuple[Indexed, ...]:
        """The declarations at file level."""
        return tuple(Indexed(one, self.convert.range(one.span)) for one in file_symbols(self.module))


@contextmanager
def opened(uri: str, client: Client) -> Generator[Opened]:
    """A file on disk, read completely. Raises OSError."""
    source = Source(Path(to_fs_path(uri) or "").read_bytes())
    module = Module(Document.read(source))
    try:
        yield Opened(module, Converter(uri, source, client))
    finally:
        module.dispose(module)


def _outline(path: Path, data: bytes, client: Client) -> tuple[Indexed, ...]:
    """The declarations in a text. Bodies are not read: they contain nothing that other files can use."""
    module = Module(Document.parse(Source(skeleton(data))))
    try:
        return Opened(module, Converter(path.as_uri(), Source(data), client)).symbols()
    finally:
        module.dispose(module)
