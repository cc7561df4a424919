"""The outcome of a run, counted while its files are checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.cli.arguments import complain
from ptx_lsp.cli.plan import Plan
from ptx_lsp.lint.diagnostic import SEVERITIES
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.cli.checking.jobs import Work

NOTHING_FOUND = "warning: no *.ptx files and no inline PTX found in the given paths"


class Tally:
    """Takes the reports of a run, and complains about troubles."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._failing = SEVERITIES[: SEVERITIES.index(plan.fail_on) + 1]
        self._complaints: dict[str, str] = {}
        """The first file of each, in the order in which they occurred last."""
        self.works: list[Work] = []
        """The files whose reports count."""
        self.has_trouble = False
        """Whether a file could not be checked, or a rule failed."""
        self.has_failing = False
        """Whether a finding has at least the severity that fails the run."""

    def counted(self, works: Iterable[Work], reports: Iterable[FileReport]) -> Iterator[FileReport]:
        """The reports that count, as they come. Remarks on the run as a whole follow the last one."""
        found_any = False
        for work, file in zip(works, reports, strict=True):
            found_any = True
            if not _is_without_ptx(work, file):
                self._add(work, file)
                yield file
        if found_any and not self.works:
            complain(NOTHING_FOUND)
        for complaint, path in reversed(self._complaints.items()):
            complain(f"warning: {path}: {complaint}")
        for note in self._plan.idle_budgets():
            complain(note)

    def fails(self, file: FileReport) -> bool:
        """Whether a finding has at least the severity that fails the run."""
        return any(found.severity in self._failing for found in file.diagnostics)

    def _add(self, work: Work, file: FileReport) -> None:
        self.works.append(work)
        if file.error is not None:
            complain(f"error: {file.path}: {file.error}")
        for failure in file.failures:
            complain(f"error: {file.path}: {failure}")
        for complaint in file.complaints:
            self._complaints[complaint] = self._complaints.pop(complaint, file.path)
        self.has_trouble |= file.error is not None or bool(file.failures)
        self.has_failing |= self.fails(file)
        self._plan.note_kernels(*work, file)


def _is_without_ptx(work: Work, file: FileReport) -> bool:
    """Whether a file that was not named has nothing to check: most sources have no inline PTX."""
    is_idle = file.language is not None and not file.blocks and file.error is None
    return is_idle and work[0].was_found and not file.failures
