"""The reduction: passes run until none of them makes the text smaller.

1. A pass proposes steps for one text. All of them are tried together, then each half, each quarter, and so on
   to single steps.
2. A candidate is the text with the accepted steps of this run of the pass and one chunk more. If it is
   interesting and smaller (`size.py`), the chunk is accepted.
3. The candidates of one chunk size are tried in order. The first interesting one is accepted, so the result
   does not depend on how many are examined at the same time.
4. The passes that delete run until they change nothing, then those that simplify, and all of them again,
   until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.reduce.examiner import Examiner
from ptx_lsp.reduce.legality import Legality
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reduction_pass import STAGES, Pass, all_passes
from ptx_lsp.reduce.size import Size, size_of
from ptx_lsp.reduce.step import Step, apply


class Progress(NamedTuple):
    """Where a reduction is."""

    data: bytes
    running: str
    """The name of the pass."""
    tests: int
    steps: int
    """The accepted candidates."""


class Reducer:
    """`legality` is None if candidates may be illegal. `improved` is called with each smaller text."""

    def __init__(
        self,
        data: bytes,
        examiner: Examiner,
        legality: Legality | None = None,
        passes: Sequence[Pass] | None = None,
        improved: Callable[[bytes], None] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.program = Program(data)
        self.steps = 0
        self._tester = examiner
        self._legality = legality
        self._passes = all_passes() if passes is None else passes
        self._improved = improved
        self._progress = progress
        self._size = size_of(data)
        self._finished: dict[str, bytes] = {}
        """The last text that each pass could not change."""

    def run(self) -> bytes:
        """The smallest text."""
        while True:
            before = self.program.data
            for stage in STAGES:
                passes = [one for one in self._passes if one.stage == stage]
                while self._run_all(passes) and stage == "deletion":
                    pass
            if self.program.data == before:
                return before

    def _run_all(self, passes: Sequence[Pass]) -> bool:
        """Runs each pass once; whether the text has changed."""
        before = self.program.data
        for one in passes:
            if self._finished.get(one.name) == self.program.data:
                continue
            steps = self.steps
            self._run(one)
            if self.steps == steps:
                self._finished[one.name] = self.program.data
        return self.program.data != before

    def _run(self, running: Pass) -> None:
        base = self.program
        remaining = running.steps(base)
        accepted: list[Step] = []
        size = len(remaining)
        while remaining and size:
            start = 0
            while start < len(remaining):
                self._report(running)
                candidates = self._candidates(running, base, accepted, remaining, start, size)
                found = self._tester.first(candidates, self._is_possible)
                if found is None:
                    break
                start = found[0]
                accepted += remaining[start : start + size]
                del remaining[start : start + size]
                self._accept(found[1])
            size = min(size, len(remaining)) // 2

    def _candidates(
        self,
        running: Pass,
        base: Program,
        accepted: list[Step],
        remaining: list[Step],
        start: int,
        size: int,
    ) -> Iterator[tuple[int, bytes]]:
        """The texts without the chunks from `start` on, with the position of the chunk."""
        while start < len(remaining):
            chunk = remaining[start : start + size]
            data = apply(base.data, [*accepted, *chunk], in_lists=running.is_list)
            if data != self.program.data and self._is_smaller(running, chunk, data):
                yield start, data
            start += size
            self._report(running)

    def _is_smaller(self, running: Pass, chunk: Sequence[Step], data: bytes) -> bool:
        if running.is_layout or not any(edit.replacement for step in chunk for edit in step):
            return True
        return size_of(data) < self._size

    def _is_possible(self, data: bytes) -> bool:
        return self._legality is None or self._legality.holds(Program(data))

    def _accept(self, data: bytes) -> None:
        self.program = Program(data)
        self._size: Size = size_of(data)
        self.steps += 1
        if self._improved is not None:
            self._improved(data)

    def _report(self, running: Pass) -> None:
        if self._progress is not None:
            self._progress(
                Progress(self.program.data, running.name, self._tester.tests, self.steps)
            )
