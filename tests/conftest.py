"""Options of the test run."""

from __future__ import annotations

import compileall
import gc
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.strength import LONG

# how long an example takes depends on what else the machine does; each run tries the same examples
settings.register_profile(
    "ours", deadline=None, derandomize=not LONG, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ours")


def pytest_configure(config: pytest.Config) -> None:
    """Hundreds of tests start programs. Where `PYTHONDONTWRITEBYTECODE` is set, each would compile all of
    the modules again. A shell starts what is to run in the background so that it ignores interrupts, and so
    would these programs, some of which tests interrupt.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(_COLLECTED)
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "ptx_lsp", quiet=1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="write what is found into the files of expectations"
    )


def pytest_collection_finish() -> None:
    """The garbage collector passes over what is here before the first test: half a million objects."""
    gc.freeze()


_COLLECTED = 50_000
"""The garbage collector looks at new objects when there are so many, not 700: tests make many objects that
stay, such as the table, and few cycles, and it would take a seventh of the time. Tests of memory collect what
they measure.
"""


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are to be rewritten."""
    return bool(request.config.getoption("--update"))


_RULES = ("ptx_lsp.lint.engine", "ptx_lsp.lint.inline.block_linter")
"""Where rules run."""


@pytest.fixture(autouse=True)
def _no_rule_may_fail(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A rule that fails is passed over for users, and must not be here."""
    yield
    failed = [r for r in caplog.get_records("call") if r.name in _RULES]
    assert not failed, failed[0].exc_text or failed[0].getMessage()


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs in a test is what the code does now; tests of the cache take this back."""
    monkeypatch.setenv("PTX_LINT_NO_CACHE", "1")
