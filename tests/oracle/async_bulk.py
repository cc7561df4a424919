"""Kernels for bulk copies and reductions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.async_kernels import File


def files() -> Iterator[File]:
    yield from ()
