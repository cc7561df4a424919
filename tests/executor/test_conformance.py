"""Every line of tests/conformance, executed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from ptx_lsp.isa.types import TYPES
from tests.executor.conformance import FOLDER, Line, lines
from tests.executor.instruction import run


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_conformance(path: Path) -> None:
    groups: defaultdict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line in lines(path):
        constants = tuple(
            value for value, type in zip(line.operands, line.types, strict=True) if type == "#"
        )
        groups[line.spelling, line.types, line.result_types, constants].append(line)
    wrong: list[str] = []
    for group in groups.values():
        first = group[0]
        rows = [
            [_raw(value, type) for value, type in zip(line.operands, line.types, strict=True)]
            for line in group
        ]
        found = run(first.spelling, rows, first.types, first.result_types)
        for line, got in zip(group, found, strict=True):
            want = [_raw(v, type) for v, type in zip(line.results, line.result_types, strict=True)]
            if got != want:
                wrong.append(f"{line.place}: {[hex(one) for one in got]}, not {[hex(one) for one in want]}")
    assert groups
    assert wrong == []


def _raw(value: int, type: str) -> int:
    return value if type == "#" else value & ((1 << max(TYPES[type].width, 1)) - 1)


def test_a_line_needs_a_source(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("add.u32 1, 2 -> 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"one\.txt:1: no source"):
        list(lines(path))
