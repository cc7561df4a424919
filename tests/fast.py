"""Runs the tests that concern the changed files, the most relevant first, for less than a minute.

    python -m tests.fast [--since REVISION] [--seconds N]

Changed files are those that differ from REVISION, by default the commit at which the branch left `main`, and
untracked ones.

1. A changed test runs, and a changed module runs the tests that name it: `test_NAME.py` and those that import
   it. Another changed file runs the tests that contain its name, or are named after its folder in `tests`.
2. The tests of the layers always run.
3. The tests of the package follow: `tests/lint` for `ptx_lsp/lint`.
4. Within a file, tests whose name contains the name of a changed file run first.
5. When the time is over, the remaining tests are counted and not run. This is not a failure. The time
   begins when all tests are found.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = "tests/test_layers.py"
_MOST_FILES = 12
"""Importing a test file takes time, too."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    arguments.add_argument("--since", metavar="REVISION", help="compare with this commit")
    arguments.add_argument("--seconds", type=float, default=40.0, help="start no test after this time")
    options = arguments.parse_args()
    files = changed(options.since or _fork_point())
    tests = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
    }
    runner = Runner(files, options.seconds)
    names = relevant(files, tests)
    print(f"{len(files)} changed files, {len(names)} test files", flush=True)
    status = pytest.main(["-q", *(str(ROOT / name) for name in names)], plugins=[runner])
    if runner.left and status == pytest.ExitCode.INTERRUPTED:
        print(f"{runner.left} tests were not run for lack of time; `make unit` runs all of them")
        return int(runner.failed)
    return int(status)


def changed(since: str) -> list[str]:
    """Files that differ from a revision and still exist, and untracked files."""
    tracked = _git("diff", "--name-only", "--diff-filter=d", since)
    return [*tracked, *_git("ls-files", "--others", "--exclude-standard")]


def relevant(files: Sequence[str], tests: Mapping[str, str]) -> list[str]:
    """The test files that concern changed files, by relevance. `tests` are the texts of all test files."""
    named = [test for file in files for test in _naming(file, tests)]
    of_packages = [test for file in files for test in tests if PurePosixPath(test).parent == _folder(file)]
    return list(dict.fromkeys([LAYERS, *named, *of_packages]))[:_MOST_FILES]


def _naming(file: str, tests: Mapping[str, str]) -> Iterator[str]:
    """The file itself if it is a test, then tests that are called like it, then those that mention it."""
    if file in tests:
        yield file
        return
    path = PurePosixPath(file)
    yield from (test for test in tests if PurePosixPath(test).name == f"test_{path.stem}.py")
    if path.suffix != ".py" and path.parts[0] == "tests":
        yield from (test for test in tests if path.parent.name in PurePosixPath(test).stem)
    name = ".".join(path.with_suffix("").parts) if path.suffix == ".py" else path.name
    mention = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-]*\w)")
    found = [test for test, text in tests.items() if mention.search(text)]
    yield from sorted(found, key=lambda test: len(tests[test]))


def _folder(file: str) -> PurePosixPath:
    """Where the tests of the package are that a file belongs to."""
    parts = PurePosixPath(file).parts
    if parts[0] == "tests":
        return PurePosixPath(file).parent
    return PurePosixPath("tests", *parts[1:2] if parts[0] == "ptx_lsp" else parts[:1])


class Runner:
    """A pytest plugin: the order of the tests, and the end of the time."""

    def __init__(self, files: Sequence[str], seconds: float) -> None:
        self._stems = {PurePosixPath(file).stem.replace("-", "_") for file in files}
        self._seconds = seconds
        self._end = 0.0
        self._session: pytest.Session | None = None
        self.left = 0
        self.failed = False

    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: not self._concerns(item))
        self._session = session
        self._end = time.monotonic() + self._seconds
        self.left = len(items)

    def _concerns(self, item: pytest.Item) -> bool:
        name = item.nodeid.replace("-", "_")
        return any(stem in name for stem in self._stems)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtest_logfinish(self) -> None:
        self.left -= 1
        if self.left and time.monotonic() > self._end and self._session is not None:
            self._session.shouldstop = "the time is over"


def _fork_point() -> str:
    """The commit at which the branch left `main`; the current one if there is no `main`."""
    found = subprocess.run(
        ["git", "merge-base", "HEAD", "main"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "HEAD"


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
