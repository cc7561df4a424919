"""Lines of tests/conformance, executed in the kernels that a GPU would be given.

Each run of the suite has a kernel for each combination of types; long runs have all. The tests of
`arithmetic/representations.py` execute every line in each run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executor.conformance.lines import FOLDER, lines
from tests.executor.conformance.record_gpu import kernels
from tests.strength import LONG


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_conformance(path: Path) -> None:
    wrong: list[str] = []
    count = 0
    known: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for group, kernel in kernels(paths=[path]):
        types = group[0].types, group[0].result_types
        if types in known and not LONG:
            continue
        known.add(types)
        for line, got in zip(group, kernel.run(), strict=True):
            count += 1
            want = line.raw(line.results)
            if got != want:
                wrong.append(f"{line.place}: {[hex(one) for one in got]}, not {[hex(one) for one in want]}")
    assert count
    assert wrong == []


def test_a_line_needs_a_source(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("add.u32 1, 2 -> 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"one\.txt:1: no source"):
        list(lines(path))
