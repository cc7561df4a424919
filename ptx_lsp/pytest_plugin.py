"""The pytest plugin: the fixture `ptx_kernel` loads a kernel, runs it without a GPU, and reports its metrics.

    def test_saxpy(ptx_kernel):
        kernel = ptx_kernel("saxpy.ptx")
        y = numpy.ones(100, numpy.float32)
        kernel.launch(numpy.uint32(100), numpy.float32(2), x, y, grid=1, block=128)
        assert (y == 2 * x + 1).all()
        assert kernel.registers <= 32 and kernel.errors == []

What takes long to import is imported where it is needed: pytest loads this in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from ptx_lsp.executor.launching.launch import Value
    from ptx_lsp.lint.results.report import FileReport, Reported
    from ptx_lsp.lint.results.report import Kernel as Figures

Size: TypeAlias = "int | Sequence[int]"


class Kernel:
    """One kernel of a PTX text."""

    def __init__(self, text: str, name: str, report: FileReport) -> None:
        self.text = text
        self.name = name
        self._report = report

    def launch(
        self, *arguments: Value, grid: Size = 1, block: Size = 1, shared_bytes: int = 0
    ) -> None:
        """Runs it. Arrays are device buffers and hold the results afterwards; NumPy scalars are passed by
        value. Raises ExecutionError where it goes wrong.
        """
        from ptx_lsp.executor import launch

        launch(
            self.text, entry=self.name, grid=grid, block=block, args=arguments,
            shared_bytes=shared_bytes,
        )

    @cached_property
    def figures(self) -> Figures:
        """Registers, memory, occupancy and branches, each estimated, exact or measured."""
        return next(one for one in self._report.kernels if one.name == self.name)

    @property
    def registers(self) -> int | None:
        """How many a thread is expected to use: estimated, without ptxas."""
        return self.figures.registers.estimate

    @property
    def occupancy(self) -> float | None:
        """In percent, for the block that the kernel asks for, else for the best one."""
        return self.figures.occupancy.percent

    @property
    def shared_bytes(self) -> int | None:
        """Of static shared memory; None where that is not known."""
        return self.figures.shared_bytes

    @property
    def findings(self) -> list[Reported]:
        """The findings of ptx-lint in it, without hints."""
        return [one for one in self._report.diagnostics if one.function == self.name]

    @property
    def errors(self) -> list[Reported]:
        """The findings in it that ptxas would reject."""
        return [one for one in self.findings if one.severity == "error"]

    def assert_budget(self, *budgets: str) -> None:
        """Fails unless all hold: `registers <= 32`, `occupancy >= 50 %`, `shared <= 48 KiB`."""
        from ptx_lsp.lint.configuration.budget import broken, parse

        over = list(broken([self.figures], (("*", tuple(map(parse, budgets))),)))
        lines = [
            f"`{one.budget.text}` does not hold: it is {one.value[0]:g} ({one.value[1]})"
            if one.value is not None
            else f"`{one.budget.text}` cannot be checked: its value is unknown"
            for one in over
        ]
        assert not over, f"kernel `{self.name}`: {'; '.join(lines)}"


Load: TypeAlias = Callable[..., Kernel]


@pytest.fixture
def ptx_kernel(request: pytest.FixtureRequest) -> Load:
    """Loads a kernel: `ptx_kernel(source, entry=None, threads=None)`.

    `source` is PTX text, or a path from the folder of the test; `entry` may be left out where there is one
    kernel only; `threads` is the size of a block where the kernel leaves it open.
    """
    folder = request.path.parent

    def load(source: str | Path, entry: str | None = None, threads: int | None = None) -> Kernel:
        return _loaded(source, entry, threads, folder)

    return load


def _text(path: Path) -> str:
    """The text of a file, or of a member of a container (`libfoo.so!3:sm_90`)."""
    from ptx_lsp.containers.error import ContainerError
    from ptx_lsp.containers.registry import read_address

    try:
        member = read_address(str(path))
    except ContainerError as error:
        pytest.fail(f"{path}: {error}", pytrace=False)
    return member.decode() if member is not None else path.read_text(encoding="utf-8")


def _loaded(source: str | Path, entry: str | None, threads: int | None, folder: Path) -> Kernel:
    from ptx_lsp.cli.checking.check import check
    from ptx_lsp.cli.inputs import Input
    from ptx_lsp.cli.settings import Settings
    from ptx_lsp.lint.configuration.config import effective, nearest

    is_text = isinstance(source, str) and ("\n" in source or "{" in source)
    path = None if is_text else folder / source
    text = str(source) if path is None else _text(path)
    rules = effective(nearest(folder if path is None else path.parent), path)
    data = text.encode()
    name = "<text>" if path is None else str(path)
    report = check(Input(name, data, len(data)), Settings(rules, kernels=True, threads=threads))
    if report.error is not None:
        pytest.fail(f"{name}: {report.error}", pytrace=False)
    names = [one.name for one in report.kernels]
    if entry is None and len(names) == 1:
        entry = names[0]
    if entry not in names:
        which = f"no kernel `{entry}`" if entry is not None else f"{len(names)} kernels: name one"
        pytest.fail(f"{name} has {which} ({', '.join(names) or 'none'})", pytrace=False)
    return Kernel(text, entry, report)
