"""Metadata of kernels: the figures of a launch that a compiler wrote beside a PTX file.

A format says where the file lies and reads its bytes. A file that is not regular, is too large or cannot be
read is ignored, and a value that no launch can have is not known.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_MOST_BYTES: Final = 16 << 20
"""Larger files are not metadata."""
_MOST_THREADS: Final = 1024
_MOST_SHARED_BYTES: Final = (1 << 32) - 1
"""A launch has a 32-bit unsigned integer for it."""
_MOST_CLUSTER_BLOCKS: Final = 16


class KernelMetadata(NamedTuple):
    """The statements of a compiler about one kernel; None where it makes none."""

    name: str = ""
    """Empty stands for the only kernel of the file."""
    threads: int | None = None
    """Threads per block."""
    shared_bytes: int | None = None
    """Dynamic shared memory per block."""
    cluster_size: int | None = None
    """Blocks per cluster."""
    target: str | None = None
    """Without a suffix, such as `sm_90`."""
    compiler: str = ""
    """Its name, and its version if it is known: `Triton 3.6.0`."""
    options: tuple[tuple[str, int], ...] = ()
    """The options of the compiler that distinguish kernels of the same name."""


class MetadataFormat(NamedTuple):
    """Where metadata lies, and how it is read."""

    path: Callable[[str], str]
    """The path of the metadata of a PTX file, whose path without `.ptx` is given."""
    parse: Callable[[bytes], tuple[KernelMetadata, ...]]
    """Raises ValueError and RecursionError for what is not metadata."""


def read_metadata(path: str, form: MetadataFormat) -> Mapping[str, KernelMetadata]:
    """The kernels in a file by name, with possible values only; none if it has other contents."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return {}
            data = file.read(_MOST_BYTES + 1)
        found = form.parse(data) if len(data) <= _MOST_BYTES else ()
    except (OSError, ValueError, RecursionError):
        return {}
    return {one.name: _possible(one) for one in found}


def integer(value: object) -> int | None:
    """A JSON value if it is an integer, which `true` is not."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _possible(one: KernelMetadata) -> KernelMetadata:
    return one._replace(
        threads=_between(1, one.threads, _MOST_THREADS),
        shared_bytes=_between(0, one.shared_bytes, _MOST_SHARED_BYTES),
        cluster_size=_between(1, one.cluster_size, _MOST_CLUSTER_BLOCKS),
        options=tuple(
            (name, value) for name, value in one.options if abs(value) <= _MOST_SHARED_BYTES
        ),
    )


def _between(least: int, value: int | None, most: int) -> int | None:
    return value if value is not None and least <= value <= most else None


def _without_waiting(path: str, flags: int) -> int:
    """Opening a FIFO would wait for a writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
