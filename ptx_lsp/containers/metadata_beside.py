"""Finds the metadata beside a PTX file."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import cache, lru_cache

from ptx_lsp.containers import metadata as package
from ptx_lsp.containers.kernel_metadata import KernelMetadata, MetadataFormat, read_metadata
from ptx_lsp.packages import discovered


def metadata_beside(path: str) -> Mapping[str, KernelMetadata]:
    """The metadata of the kernels in a PTX file by name. Never raises: there may be none."""
    stem = os.path.splitext(path)[0]
    for form in metadata_formats():
        beside = form.path(stem)
        try:
            state = os.stat(beside)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(state.st_mode) and (
            found := _read(beside, form, state.st_mtime_ns, state.st_size)
        ):
            return found
    return {}


@lru_cache(maxsize=64)
def _read(path: str, form: MetadataFormat, _time: int, _size: int) -> Mapping[str, KernelMetadata]:
    return read_metadata(path, form)


@cache
def metadata_formats() -> tuple[MetadataFormat, ...]:
    return discovered(package, "METADATA", MetadataFormat)
