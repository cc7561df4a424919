"""Failures of rules and figures. They are logged, and the command collects them for its report."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_Failures: TypeAlias = list[tuple[str, BaseException]]

_collected: Final[ContextVar[_Failures | None]] = ContextVar("_collected", default=None)
"""Of this thread: others may check other files."""


@contextmanager
def collected_failures() -> Generator[_Failures]:
    """The failures within the context, each with a text that says what failed."""
    found: _Failures = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)


def report_failure(logger: str, text: str, error: BaseException) -> None:
    """Logs an exception that was caught."""
    import logging  # slow to import

    log = logging.getLogger(logger)
    collected = _collected.get()
    if collected is not None:
        collected.append((text, error))
        log.addHandler(logging.NullHandler())  # else the traceback is printed where no handler is set up
    log.error(text, exc_info=error)
