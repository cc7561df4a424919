"""The kernels that exact/matrix.py makes stand in tests/conformance as it makes them."""

from __future__ import annotations

import pytest

from tests.executor.conformance.conformance_kernel import KERNELS
from tests.oracle.exact.matrix import FILES, File


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_kernels_are_current(file: File) -> None:
    """`python -m tests.oracle.exact.matrix` writes them anew."""
    assert (KERNELS / file.path).read_text(encoding="utf-8") == file.text()


def test_no_kernel_is_left_over() -> None:
    made = {
        path.name for path in KERNELS.glob("*.ptx")
        if "tests.oracle.exact.matrix" in path.read_text(encoding="utf-8")
    }
    assert made == {file.path for file in FILES}
