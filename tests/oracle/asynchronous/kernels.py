"""Makes kernels of tests/conformance in which one thread of each block starts asynchronous operations.

    python -m tests.oracle.asynchronous.kernels      writes tests/conformance/kernels/async_*.ptx anew

What they must leave in shared memory and in buffers stands beside them, by hand from the manual, as Python's
whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.executor.conformance.conformance_kernel import KERNELS
from tests.oracle.asynchronous import bulk as async_bulk
from tests.oracle.asynchronous import layouts as async_layouts
from tests.oracle.asynchronous import maps as async_maps
from tests.oracle.asynchronous import mbarriers as async_mbarriers
from tests.oracle.asynchronous import multimem as async_multimem
from tests.oracle.asynchronous import stores as async_stores
from tests.oracle.asynchronous import tensors as async_tensors
from tests.oracle.asynchronous.kernel import File


def files() -> Iterator[File]:
    """All of them."""
    yield from async_stores.files()
    yield from async_mbarriers.files()
    yield from async_bulk.files()
    yield from async_tensors.files()
    yield from async_layouts.files()
    yield from async_maps.files()
    yield from async_multimem.files()


def main() -> None:
    for file in files():
        path = KERNELS / f"{file.name}.ptx"
        path.write_text(file.text(), encoding="utf-8")
        print(f"{path.name}: {len(file.kernels)} kernels")


if __name__ == "__main__":
    main()
