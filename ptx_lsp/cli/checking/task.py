"""One file to check."""

from __future__ import annotations

from ptx_lsp.cli.inputs import Input
from ptx_lsp.cli.settings import Settings
from ptx_lsp.named_tuple import NamedTuple


class Task(NamedTuple):
    """A file and its settings."""

    one: Input
    settings: Settings
    key: str | None = None
    """The key of its report in the cache. Files with the same key have the same report."""
    is_cached: bool = False
    """Whether the cache has a report."""
    ptxas: str | None = None
    """The version that a worker's ptxas must have; None if the worker runs here."""
