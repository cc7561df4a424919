"""The containers that the client asked for last. They are read again when they have changed."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

from ptx_lsp.containers.container import Container
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container, split_address
from ptx_lsp.server.containers.member_uri import member_address
from ptx_lsp.server.workspace.files import Stamp, is_same, stamp

_MOST_KNOWN: Final = 16


class _Known(NamedTuple):
    stamp: Stamp
    container: Container


class KnownContainers:
    """Containers by path; only places of members are kept, not their texts."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = Lock()

    def container(self, path: str) -> Container:
        """The container at a path. Raises ContainerError and OSError."""
        now = stamp(path)
        known = self._known.get(path)
        if known is not None and is_same(known.stamp, now):
            return known.container
        found = open_container(path)
        if found is None:
            raise ContainerError("is not a container of a known format")
        with self._lock:
            self._known[path] = _Known(now, found)
            self._known.move_to_end(path)
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return found

    def text(self, uri: str) -> bytes:
        """The text of a member, by its URI. Raises ContainerError and OSError."""
        path, name = split_address(member_address(uri) or "")
        if name is None:
            raise ContainerError(f"`{uri}` does not name a member of a container")
        return self.container(path).member(name).read()
