"""Reports from Python, on any executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.linting import lint_files
from tests.cli.conftest import BAD, GOOD
from tests.parallel.executors import Cancelling, Inline


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for number in range(24):
        text = (GOOD, BAD, "\0" + GOOD)[number % 3].replace("good", f"good_{number}")
        (tmp_path / f"k{number}.ptx").write_text(text)
    return tmp_path


@pytest.mark.parametrize("make", [Inline, partial(Cancelling, 1), partial(ThreadPoolExecutor, 3)])
def test_any_executor_gives_the_same(many: Path, make: Callable[[], Executor]) -> None:
    options = ["--no-cache", "--no-config", "--kernels"]
    alone = list(lint_files([many], [*options, "--jobs", "1"]))
    assert [file.path for file in alone if file.error] == [
        str(path) for path in sorted(many.iterdir()) if path.read_text().startswith("\0")
    ]
    assert any(file.kernels for file in alone)
    with make() as pool:
        assert list(lint_files([many], options, executor=pool)) == alone
    assert list(lint_files([many], [*options, "--jobs", "2"])) == alone


def test_files_travel(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker does not need to see the files."""
    path = many / "k0.ptx"
    pool = Inline()
    submit = pool.submit

    def submitted(function: Callable[..., object], *rest: object) -> object:
        path.rename(many / "moved")
        return submit(function, *rest)

    monkeypatch.setattr(pool, "submit", submitted)
    (report,) = lint_files([path], ["--no-cache"], executor=pool)
    assert report.error is None
    assert report.ptx_version is not None


def test_fixes_are_not_applied(many: Path) -> None:
    before = {path: path.read_bytes() for path in many.iterdir()}
    list(lint_files([many], ["--no-cache", "--unsafe-fixes"]))
    assert {path: path.read_bytes() for path in many.iterdir()} == before


def test_wrong_usage(many: Path) -> None:
    with pytest.raises(UsageError, match="no-such-rule"):
        lint_files([many], ["--select", "no-such-rule"])
