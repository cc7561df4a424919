"""Failures of rules and figures. They are logged, and the command collects them for its report."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

_collections: Final[list[list[tuple[str, BaseException]]]] = []


@contextmanager
def collected_failures() -> Generator[list[tuple[str, BaseException]]]:
    """The failures within the context, each with a text that says what failed."""
    found: list[tuple[str, BaseException]] = []
    _collections.append(found)
    try:
        yield found
    finally:
        _collections.remove(found)


def report_failure(logger: str, text: str, error: BaseException) -> None:
    """Logs an exception that was caught."""
    import logging  # slow to import

    log = logging.getLogger(logger)
    if _collections:
        _collections[-1].append((text, error))
        log.addHandler(logging.NullHandler())  # else the traceback is printed where no handler is set up
    log.error(text, exc_info=error)
