"""A pytest plugin for long runs. Instead of a dot for each test, a line every ten seconds says how many tests
have run and which files are being tested. A failure is named as soon as it happens, with the first line of
its message.

    python -m pytest -p tests.progress
"""

from __future__ import annotations

import time
from typing import cast

import pytest
from _pytest.terminal import TerminalReporter

_SECONDS = 10.0
"""Between two lines."""


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Progress(config), "progress")


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """No letters: the lines of this module replace them."""
    if hasattr(report, "wasxfail") or (report.passed and report.when != "call"):
        return None
    return "error" if report.failed and report.when != "call" else report.outcome, "", ""


class _Progress:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._start = self._last = time.monotonic()
        self._done = 0
        self._running: dict[object, str] = {}
        """The file that each process tests."""

    def pytest_sessionstart(self) -> None:
        reporter = self._reporter()
        if reporter is not None:
            reporter.showfspath = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._running[getattr(report, "node", None)] = report.nodeid.partition("::")[0]
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = f": {crash.message.partition(chr(10))[0]}" if crash is not None else ""
            self._write(f"FAILED {report.nodeid} ({report.when}){said}")

    def pytest_runtest_logfinish(self) -> None:
        self._done += 1
        now = time.monotonic()
        if now - self._last >= _SECONDS:
            self._last = now
            minutes, seconds = divmod(int(now - self._start), 60)
            files = ", ".join(sorted(set(self._running.values())))
            self._write(f"[{minutes:2}:{seconds:02}] {self._done}{self._of_all()} tests: {files}")

    def _of_all(self) -> str:
        reporter = self._reporter()
        session = getattr(reporter, "_session", None)
        return f" of {session.testscollected}" if session is not None else ""

    def _write(self, line: str) -> None:
        reporter = self._reporter()
        if reporter is not None:
            reporter.ensure_newline()
            reporter.write_line(line)

    def _reporter(self) -> TerminalReporter | None:
        plugin = self._config.pluginmanager.get_plugin("terminalreporter")
        return cast("TerminalReporter | None", plugin)
