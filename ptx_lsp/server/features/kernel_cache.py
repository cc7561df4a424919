"""`ptx/tritonCache`: the kernels in a cache of Triton."""

from __future__ import annotations

from itertools import islice
from typing import Final

from pygls.uris import from_fs_path, to_fs_path

from ptx_lsp.server.containers.kernel_cache import CachedKernel, folders_below, kernels_in
from ptx_lsp.server.feature import handler, uri_of
from ptx_lsp.server.json import Json
from ptx_lsp.server.request_error import RequestFailedError
from ptx_lsp.server.session import Session

_AT_ONCE: Final = 50
"""Folders that are read before other work has its turn."""
_MOST: Final = 10_000
"""Kernels, the newest."""


@handler("ptx/tritonCache")
async def on_triton_cache(session: Session, asked: object) -> Json:
    """The kernels below a folder, the newest first. Nothing is analysed."""
    path = to_fs_path(uri_of(asked))
    if path is None:
        raise RequestFailedError(f"`{uri_of(asked)}` is not a folder on this disk")
    folders = folders_below(path)
    found: list[CachedKernel] = []
    try:
        while some := await session.threads.answer(lambda: list(islice(folders, _AT_ONCE))):
            found += await session.threads.answer(kernels_in, some)
    except OSError as error:
        raise RequestFailedError(f"`{path}` cannot be read: {error.strerror}") from error
    found.sort(key=lambda one: (-one.modified_ms, one.path))
    return {
        "kernels": [_kernel(one) for one in found[:_MOST]],
        "omitted": max(0, len(found) - _MOST),
    }


def _kernel(found: CachedKernel) -> Json:
    return {
        "name": found.name,
        "uri": from_fs_path(found.path),
        "modified": found.modified_ms,
        "target": found.target,
        "warps": found.warps,
        "stages": found.stages,
        "clusterSize": found.blocks,
        "sharedBytes": found.shared_bytes,
        "files": [from_fs_path(one) for one in found.files],
    }
