"""The options of `ptx-lint`."""

from __future__ import annotations

import sys

from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ptx_lsp.lint.diagnostic import Severity
    from ptx_lsp.model.launch_blocks import LaunchBlock
    from ptx_lsp.parallel.jobs import Jobs

STANDARD_INPUT_NAME = "<stdin>"


class Options:
    """The parsed command line. Options that are false by default are those without a value."""

    paths: list[str]
    formats: list[str]
    """The formats as given on the command line: `X` or `X=FILE`."""
    format: str
    """The format of the report on standard output."""
    written: list[tuple[str, str]]
    """Formats and the files to write them to."""
    statistics: bool = False
    output: str | None = None
    color: str = "auto"
    quiet: bool = False
    kernels: bool = False
    threads: LaunchBlock | None = None
    maxrregcount: int | None = None
    dynamic_shared: int | None = None
    requires: bool = False
    cfg: str | None = None
    report: str | None = None
    target: str | None = None
    targets: list[str]
    select: list[str]
    extend_select: list[str]
    ignore: list[str]
    config: str | None = None
    no_config: bool = False
    force_exclude: bool = False
    containers: bool = False
    show_files: bool = False
    fail_on: Literal["error", "warning", "info"] | None = None
    min_severity: Severity | None = None
    exit_zero: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    diff: bool = False
    add_ignore: bool = False
    baseline: str | None = None
    no_baseline: bool = False
    update_baseline: bool = False
    reason: str | None = None
    ratchet: bool = False
    cache_dir: str | None = None
    no_cache: bool = False
    watch: bool = False
    ptxas: str | None = None
    jobs: Jobs = None
    stdin_filename: str = STANDARD_INPUT_NAME
    explain: str | None = None
    rules: bool = False

    def __init__(self) -> None:
        self.formats = []
        self.targets = []
        self.select = []
        self.extend_select = []
        self.ignore = []


class UsageError(Exception):
    """The command line is invalid or refers to something that does not exist."""


def complain(text: str) -> None:
    """Prints a message to standard error."""
    from ptx_lsp.lint.results.style import printable

    print(f"ptx-lint: {printable(text)}", file=sys.stderr)
