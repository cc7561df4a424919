"""The pytest plugin: the fixture `ptx_kernel` loads a kernel, runs it without a GPU, and reports its metrics.

    def test_saxpy(ptx_kernel):
        kernel = ptx_kernel("saxpy.ptx")
        y = numpy.ones(100, numpy.float32)
        kernel.launch(numpy.uint32(100), numpy.float32(2), x, y, grid=1, block=128)
        assert (y == 2 * x + 1).all()
        assert kernel.registers <= 32 and kernel.errors == []

With `--ptx-record FOLDER` the launch of a test that fails is recorded, to be debugged; with `--ptx-check`
all launches are checked.

What takes long to import is imported where it is needed: pytest loads this in every run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    import pdb

    from ptx_lsp.executor.launching.parameters import Value
    from ptx_lsp.executor.recording.recorder import LaunchKeeper
    from ptx_lsp.lint.results.report import FileReport, Reported
    from ptx_lsp.lint.results.report import Kernel as Figures

Size: TypeAlias = "int | Sequence[int]"


class Kernel:
    """One kernel of a PTX text."""

    def __init__(
        self, text: str, name: str, report: FileReport, keeper: LaunchKeeper | None = None, *,
        check: bool = False,
    ) -> None:
        """`keeper` keeps its launches; with `check` all of them are checked."""
        self.text = text
        self.name = name
        self._report = report
        self._keeper = keeper
        self._is_checked = check

    def launch(
        self, *arguments: Value, grid: Size = 1, block: Size = 1, shared_bytes: int = 0,
        check: bool | None = None, seed: int = 0,
    ) -> None:
        """Runs it. Arrays are device buffers and hold the results afterwards; NumPy scalars are passed by
        value. `seed` selects the order of threads. Raises ExecutionError where it goes wrong, and with
        `check` (None: as `--ptx-check` says) AssertionError if the checks find errors.
        """
        from ptx_lsp.executor import launch
        from ptx_lsp.executor.launching.finding_text import finding_lines

        if self._keeper is not None:
            self._keeper.path = self._report.path
        findings = launch(
            self.text, entry=self.name, grid=grid, block=block, args=arguments,
            shared_bytes=shared_bytes, check=self._is_checked if check is None else check, seed=seed,
            recorder=self._keeper,
        )
        wrong = [one for one in findings if one.severity == "error"]
        lines = [line for one in wrong for line in finding_lines(one, self._report.path)]
        assert not wrong, f"kernel `{self.name}`:\n" + "\n".join(lines)

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
    folder, config = request.path.parent, request.config
    keeper = None
    if _folder(config) is not None or config.getoption("usepdb"):
        from ptx_lsp.executor.recording.recorder import LaunchKeeper

        keeper = request.node.stash[_KEEPER] = config.stash[_KEEPER] = LaunchKeeper()
        request.addfinalizer(lambda: config.stash.__delitem__(_KEEPER))

    def load(source: str | Path, entry: str | None = None, threads: int | None = None) -> Kernel:
        return _loaded(source, entry, threads, folder, keeper, check=bool(config.getoption("ptx_check")))

    return load


# -- recordings -----------------------------------------------------------------------------------

_KEEPER: pytest.StashKey[LaunchKeeper] = pytest.StashKey()
"""The launches of a test; those of the present test are in the configuration too."""
_MOST_LETTERS = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ptx", "PTX kernels")
    group.addoption(
        "--ptx-record", metavar="FOLDER",
        help="for each test that fails, record a launch of `ptx_kernel` in FOLDER, to be debugged: the one "
        "that failed, else the last",
    )
    group.addoption(
        "--ptx-check", action="store_true",
        help="check all launches of `ptx_kernel` for races, uninitialised values and other errors",
    )
    parser.addini("ptx_record", "the folder of --ptx-record", default="")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    keeper, folder = item.stash.get(_KEEPER, None), _folder(item.config)
    if call.when == "call" and report.failed and keeper is not None and folder is not None:
        name = re.sub(r"[^\w.-]+", "-", item.nodeid)[-_MOST_LETTERS:].strip("-.")
        report.sections.append(("PTX launch", _written(keeper, folder / f"{name}{_SUFFIX}")))
    return report


def pytest_enter_pdb(config: pytest.Config, pdb: pdb.Pdb) -> None:
    """Under `--pdb`, the debugger has the command `ptx` for the launches of the test."""
    keeper = config.stash.get(_KEEPER, None)
    if keeper is None or keeper.kept is None:
        return
    kept, problem = keeper.kept, keeper.kept.outcome.problem
    found = f"{problem.kind} at line {problem.line}" if problem is not None else "no error"
    words = "`ptx` debugs its launch, `ptx FILE` records it"
    pdb.message(f"kernel `{kept.entry}` of {kept.path}: {found}; {words}")

    def debug(text: str) -> None:
        """Debugs the launch of the kernel, or records it in a file."""
        file = text.strip()
        if not file:
            from ptx_lsp.debug.recorded_program import program_of
            from ptx_lsp.debug.request_error import RequestError
            from ptx_lsp.debug.terminal.session import serve

            try:
                serve(program_of(kept), pdb.message, "run")
            except RequestError as error:
                pdb.error(str(error))
            return
        pdb.message(_written(keeper, Path(file if file.endswith(_SUFFIX) else f"{file}{_SUFFIX}")))

    vars(pdb)["do_ptx"] = debug


_SUFFIX = ".ptxrec"


def _folder(config: pytest.Config) -> Path | None:
    """Where to record launches: an option is relative to the current folder, the setting to its file."""
    given = config.getoption("ptx_record")
    if given is not None:
        return config.invocation_params.dir / given
    set = config.getini("ptx_record")
    return config.rootpath / set if set else None


def _written(keeper: LaunchKeeper, file: Path) -> str:
    """Writes the launch that is kept; what the user is to know about it."""
    from ptx_lsp.executor.recording.archive import write_recording
    from ptx_lsp.executor.recording.fields import RecordingError

    if keeper.kept is None:
        return "the test has launched no kernel"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_recording(keeper.kept, file)
    except (OSError, RecordingError) as error:
        return f"the launch of `{keeper.kept.entry}` cannot be recorded: {error}"
    return f"the launch of `{keeper.kept.entry}` is recorded: `ptx-run --debug {file}` opens it at the error"


def _text(path: Path) -> str:
    """The text of a file, or of a member of a container (`libfoo.so!3:sm_90`)."""
    from ptx_lsp.containers.error import ContainerError
    from ptx_lsp.containers.registry import read_address

    try:
        member = read_address(str(path))
    except ContainerError as error:
        pytest.fail(f"{path}: {error}", pytrace=False)
    return member.decode() if member is not None else path.read_text(encoding="utf-8")


def _loaded(
    source: str | Path, entry: str | None, threads: int | None, folder: Path, keeper: LaunchKeeper | None, *,
    check: bool,
) -> Kernel:
    from ptx_lsp.cli.checking.check import check as lint
    from ptx_lsp.cli.inputs import Input
    from ptx_lsp.cli.settings import Settings
    from ptx_lsp.lint.configuration.config import effective, nearest
    from ptx_lsp.symbol_lookup import names_for, shown_names

    is_text = isinstance(source, str) and ("\n" in source or "{" in source)
    path = None if is_text else folder / source
    text = str(source) if path is None else _text(path)
    rules = effective(nearest(folder if path is None else path.parent), path)
    data = text.encode()
    name = "<text>" if path is None else str(path)
    block = None if threads is None else (threads, 1, 1)
    report = lint(Input(name, data, len(data)), Settings(rules, kernels=True, threads=block))
    if report.error is not None:
        pytest.fail(f"{name}: {report.error}", pytrace=False)
    names = [one.name for one in report.kernels]
    if entry is None and len(names) == 1:
        entry = names[0]
    named: list[str] = [] if entry is None else names_for(entry, names)
    if len(named) != 1:
        which = f"{len(named) or 'no'} kernel{'s' if named else ''} `{entry}`"
        which = f"{len(names)} kernels: name one" if entry is None else which
        pytest.fail(f"{name} has {which} ({shown_names(named or names) or 'none'})", pytrace=False)
    return Kernel(text, named[0], report, keeper, check=check)
