"""The settings of each file."""

from __future__ import annotations

from ptx_lsp.lint.configuration.budget import Budgets
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ptx_lsp.containers.kernel_metadata import KernelMetadata
    from ptx_lsp.model.launch_blocks import LaunchBlock


class Settings(NamedTuple):
    """The settings of one file, small enough to be sent to other processes."""

    rules: Rules
    targets: tuple[str, ...] = ()
    """The targets to check against instead of the file's own."""
    ptxas: Path | None = None
    ptxas_messages: bool = True
    requires: bool = False
    """Whether to report the requirements of a file."""
    kernels: bool = False
    """Whether to report the metrics of kernels."""
    details: bool = False
    """Whether a page shows them."""
    fingerprints: bool = False
    """Whether the kernels have fingerprints of their code."""
    budgets: Budgets = ()
    fix: Literal["", "safe", "unsafe"] = ""
    """The fixes that are applied before the report."""
    threads: LaunchBlock | None = None
    """The block size for kernels that do not fix it."""
    maxrregcount: int | None = None
    """The option of ptxas: the most registers of a kernel whose directives set no limit."""
    dynamic_shared: int | None = None
    """The dynamic shared memory of a block, in bytes."""
    language: str | None = None
    """The language of a file with inline PTX; None for PTX itself."""
    inline_off: tuple[str, ...] = ()
    """The hosts of inline PTX to leave out."""
    build_targets: tuple[str, ...] = ()
    """The targets that a file with inline PTX is built for, if they are known."""
    metadata: Mapping[str, KernelMetadata] | None = None
    """The metadata of its kernels that a compiler wrote beside the file, by name."""
