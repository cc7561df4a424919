"""Every line of tests/conformance, executed in the kernels that a GPU would be given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.executor.conformance.lines import FOLDER, lines
from tests.executor.conformance.record_gpu import kernels


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_conformance(path: Path) -> None:
    wrong: list[str] = []
    count = 0
    for group, kernel in kernels(paths=[path]):
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
