"""Pairs of a wrong kernel and its correct twin: the wrong one is found in a few orders, its twin never.

The first lines of a file have the kinds of the finding, one of which is enough, and options of the launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument
from ptx_lsp.model.module import Module

PAIRS = Path(__file__).parents[1] / "pairs"
FILES = sorted(PAIRS.rglob("*.ptx"))
_NAMES = [f"{path.parent.name}-{path.stem}" for path in FILES]


@dataclass(frozen=True)
class Pair:
    """A file of the set."""

    path: Path
    kinds: frozenset[str]
    is_weak: bool
    comments: dict[str, LaunchComment]

    @staticmethod
    def of(path: Path) -> Pair:
        text = path.read_text(encoding="utf-8")
        header = dict(line[3:].split(": ", 1) for line in text.splitlines()[1:3] if ": " in line)
        comments = {one.entry: one for one in launch_comments(Module.parse(text))}
        is_weak = header.get("options") == "weak"
        return Pair(path, frozenset(header["wrong"].split()), is_weak, comments)

    def run(self, entry: str, *, seed: int = 0, seeds: int = 0) -> tuple[Finding, ...]:
        one = self.comments[entry]
        assert one.problem == ""
        try:
            return launch(
                self.path, entry=entry, grid=one.grid, block=one.block, cluster=one.cluster or None,
                args=[argument(spec) for spec in one.specs], seed=seed, seeds=seeds, check=True,
                weak=self.is_weak, limit=200_000,
            )
        except ExecutionError as error:
            return error.findings

    def is_found(self, findings: tuple[Finding, ...]) -> bool:
        return any(one.kind in self.kinds for one in findings)


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_wrong_kernels_are_found_with_a_seed_that_replays_it(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("wrong", seeds=6)
    assert pair.is_found(found)
    for one in found:
        if one.kind in pair.kinds and one.kind != "schedule-dependent":  # which compares two orders
            again = pair.run("wrong", seed=one.seed)
            assert (one.kind, one.line, one.message) in [(two.kind, two.line, two.message) for two in again]


@pytest.mark.parametrize("path", FILES, ids=_NAMES)
def test_correct_twins_are_silent(path: Path) -> None:
    pair = Pair.of(path)
    found = pair.run("correct", seeds=12)
    assert [one for one in found if one.severity == "error"] == []
    assert not pair.is_found(found)


def test_the_set() -> None:
    assert len(FILES) >= 40
    assert all(set(Pair.of(path).comments) == {"wrong", "correct"} for path in FILES)


def test_pairs_are_legal() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    for path in FILES:
        report = ptxas.judge(path.read_bytes(), ptxas=judge)
        assert report.accepted, (path.name, report.messages)
