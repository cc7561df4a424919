"""The reports of a run, as they are made, for formats that go through them once or several times."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.static_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import BinaryIO

_MOST_KEPT = 20_000
"""Findings and kernels; about 30 MB."""


class Reports(Collection[FileReport]):
    """Reports that are made while they are gone through for the first time. Only those that are kept can be
    gone through again; most of a large run are in a temporary file.
    """

    def __init__(self, made: Iterator[FileReport], is_kept: bool) -> None:
        self._made = made
        self._is_kept = is_kept
        self._is_begun = False
        self._count = 0
        self._recent: list[FileReport] = []
        self._weight = 0
        """The findings and kernels of the recent reports."""
        self._file: BinaryIO | None = None
        self._chunks: list[int] = []
        """Where in the file the older reports begin."""

    def __iter__(self) -> Iterator[FileReport]:
        if not self._is_begun:
            self._is_begun = True
            return self._rest()
        assert self._is_kept
        return self._again()

    def __len__(self) -> int:
        self.finish()
        return self._count

    def __contains__(self, one: object) -> bool:
        return any(report == one for report in self)

    def finish(self) -> None:
        """Makes what nobody has asked for yet."""
        self._is_begun = True
        for _ in self._rest():
            pass

    def _rest(self) -> Iterator[FileReport]:
        for report in self._made:
            self._count += 1
            if self._is_kept:
                self._keep(report)
            yield report

    def _again(self) -> Iterator[FileReport]:
        self.finish()
        if self._file is not None:
            import pickle

            for start in self._chunks:
                self._file.seek(start)
                yield from cast("list[FileReport]", pickle.load(self._file))
        yield from self._recent

    def _keep(self, report: FileReport) -> None:
        self._recent.append(report)
        self._weight += 1 + len(report.diagnostics) + len(report.kernels)
        if self._weight < _MOST_KEPT:
            return
        import pickle
        import tempfile

        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="ptx-lint.")  # noqa: SIM115
        self._chunks.append(self._file.tell())
        pickle.dump(self._recent, self._file, protocol=5)
        self._recent = []
        self._weight = 0
