"""Pairs of a wrong kernel and its correct twin.

The first lines of a file have the kinds of the finding, one of which is enough, and options of the launch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument
from ptx_lsp.model.module import Module

PAIRS = Path(__file__).parent
FILES = sorted(PAIRS.rglob("*.ptx"))


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

    def right(self, findings: tuple[Finding, ...]) -> list[Finding]:
        """The findings that the wrong kernel is to have."""
        return [one for one in findings if one.kind in self.kinds]

    def reported(self, findings: tuple[Finding, ...]) -> list[Finding]:
        """The findings that a correct kernel must not have: errors, and what makes the wrong one wrong."""
        return [one for one in findings if one.severity == "error" or one.kind in self.kinds]


def name_of(path: Path) -> str:
    """The name of a pair: its folder and file."""
    return f"{path.parent.name}/{path.stem}"
