"""The benchmark of linting: its classes of sizes, and a run on a file of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import lint
from benchmarks.corpus import NAMES
from benchmarks.lint import Figures, summary
from benchmarks.processes import Spread


def _figures(name: str, lines: int, ratio: float, seconds: float = 1.0, memory: int = 1_000_000) -> Figures:
    return Figures(name, lines, Spread.of([seconds]), Spread.of([ratio]), memory)


def test_each_class_has_its_median_and_worst() -> None:
    figures = [
        _figures("a", 999, 5.0),
        _figures("b", 1_000, 2.0),
        _figures("c", 4_999, 4.0),
        _figures("d", 5_000, 0.5, memory=9_000_000),
        _figures("e", 20_000, 0.7, seconds=0.5),
    ]
    assert [line for line in summary(figures) if line] == [
        "2 files of 5 000 lines and more: median 0.60 times ptxas -O3, worst 0.70 (e)",
        "2 files of 1 000 to 5 000 lines: median 3.00 times ptxas -O3, worst 4.00 (c)",
        "1 file below 1 000 lines: median 5.00 times ptxas -O3, worst 5.00 (a)",
        "1 file beyond 10 000 lines: median 40 000 lines/s, least 40 000 (e)",
        "Peak memory: 9 MB (d)",
    ]


def test_without_a_corpus_it_measures_the_files_of_the_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lint, "compile_modules", lambda: None)
    lint.main(["--corpus", str(tmp_path), "--no-ptxas", "--rounds", "1", "numba_axpy"])
    printed = capsys.readouterr().out
    assert f"{tmp_path} has no corpus: its files are skipped" in printed
    assert "| numba_axpy_f32.sm90 | 73 |" in printed
    assert "Peak memory" in printed


def test_no_name_is_twice() -> None:
    assert len(set(NAMES)) == len(NAMES)
