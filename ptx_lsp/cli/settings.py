"""What is wanted of each file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from ptx_lsp.lint.configuration.budget import Budgets
from ptx_lsp.lint.configuration.selection import Rules


class Settings(NamedTuple):
    """Small, as it is sent to other processes."""

    rules: Rules
    targets: tuple[str, ...] = ()
    """Judged for in place of the file's own."""
    ptxas: Path | None = None
    ptxas_messages: bool = True
    requires: bool = False
    """Whether to tell what a file needs."""
    kernels: bool = False
    """Whether the figures of kernels are wanted."""
    details: bool = False
    """Whether a page is to show them."""
    budgets: Budgets = ()
    fix: Literal["", "safe", "unsafe"] = ""
    """Which fixes are applied before anything is reported."""
    threads: int | None = None
    """The size of a block where the kernel leaves it open."""
    maxrregcount: int | None = None
    """The option of ptxas: the most registers of a kernel whose directives set no limit."""
