"""Reductions with conditions in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.reduce.examination import Examination
from ptx_lsp.reduce.examiner import Examiner
from ptx_lsp.reduce.legality import Legality, errors
from ptx_lsp.reduce.processes import Stop
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.reducer import Reducer
from ptx_lsp.reduce.reduction_pass import Pass
from ptx_lsp.reduce.verdicts import Verdicts

HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"


@dataclass(frozen=True)
class Predicate:
    """A condition on the text."""

    holds_for: Callable[[bytes], bool]
    identity: str = "predicate"

    def holds(self, path: Path, timeout_s: float | None, stop: Stop) -> bool:
        return self.holds_for(path.read_bytes())


def having(*words: str) -> Callable[[bytes], bool]:
    """The condition that a text contains these words."""
    return lambda data: all(word.encode() in data for word in words)


def reduced(
    text: str | bytes,
    holds_for: Callable[[bytes], bool],
    *,
    jobs: int = 1,
    passes: Sequence[Pass] | None = None,
    legal: bool = True,
    verdicts: Verdicts | None = None,
) -> bytes:
    """The result of a reduction. If `legal`, candidates with further errors of `ptx-lint` are not tried."""
    data = text.encode() if isinstance(text, str) else text
    examine = Examination(Predicate(holds_for), "candidate.ptx", None)
    with Examiner(examine, verdicts or Verdicts(None, ""), jobs) as examiner:
        return Reducer(
            data, examiner, Legality(frozenset(errors(Program(data)))) if legal else None, passes
        ).run()
