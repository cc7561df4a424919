"""A progress bar for launches that take long, on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from ptx_lsp.cli.launching.run_options import Options

_PATIENCE_SECONDS = 1.0

Advance = Callable[[int, int, int], None]
"""Receives the number of finished blocks, of all blocks, and of executed instructions."""


@contextmanager
def progress(name: str, options: Options) -> Generator[Advance | None]:
    """The progress callback; None if no terminal shows it."""
    console = Console(stderr=True)
    if options.quiet or options.format == "json" or not console.is_terminal:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[done]}"),
        TimeElapsedColumn(), console=console, transient=True,
    )
    task = bar.add_task(name, total=None, done="")
    start = time.monotonic()

    def advance(blocks: int, of: int, executed: int) -> None:
        if not bar.live.is_started and time.monotonic() - start > _PATIENCE_SECONDS:
            bar.start()
        text = f"{blocks} of {of} blocks, {executed} instructions"
        bar.update(task, completed=blocks, total=of, done=text)

    try:
        yield advance
    finally:
        bar.stop()
