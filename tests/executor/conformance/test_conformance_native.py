"""Lines of tests/conformance as native code give the bits that NumPy gives: of every fourth instruction in
each run, and of all in long runs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executor.conformance.lines import FOLDER
from tests.executor.conformance.record_gpu import kernels
from tests.strength import number

pytest.importorskip("llvmlite")

_LEFT = {
    "approximate": 8, "exact_conversion": 286, "exact_float": 15, "float": 1, "folded_float": 4,
    "small_formats": 34,
}
"""How many instructions of a file have no native code: rounding of `.f64` towards a side, small formats, and
functions such as the sine, which are NumPy's own.
"""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_native_conformance(path: Path) -> None:
    from tests.executor.conformance.native_lines import computed, differences

    instructions = computed(list(kernels(paths=[path]))[:: number(4, 1)])
    assert instructions
    wrong, left = differences(instructions)
    assert wrong == []
    assert len(left) <= _LEFT.get(path.stem, 0), left
