"""Makes kernels of tests/conformance in which one thread of each block starts asynchronous operations.

    python -m tests.oracle.async_kernels      writes tests/conformance/kernels/async_*.ptx anew

What they must leave in shared memory and in buffers stands beside them, by hand from the manual, as Python's
whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.executor.conformance_kernel import KERNELS
from tests.oracle import (
    async_bulk,
    async_maps,
    async_mbarriers,
    async_multimem,
    async_stores,
    async_tensors,
)
from tests.oracle.async_kernel import File


def files() -> Iterator[File]:
    """All of them."""
    yield from async_stores.files()
    yield from async_mbarriers.files()
    yield from async_bulk.files()
    yield from async_tensors.files()
    yield from async_maps.files()
    yield from async_multimem.files()


def main() -> None:
    for file in files():
        path = KERNELS / f"{file.name}.ptx"
        path.write_text(file.text(), encoding="utf-8")
        print(f"{path.name}: {len(file.kernels)} kernels")


if __name__ == "__main__":
    main()
