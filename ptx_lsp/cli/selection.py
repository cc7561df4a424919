"""Targets that the command line names."""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.isa.target import TARGETS, parse_target
from ptx_lsp.lint.configuration.selection import did_you_mean


def checked_targets(names: Iterable[str]) -> tuple[str, ...]:
    """The canonical names of the targets, without duplicates. Raises UsageError for one that does not exist.
    """
    found: list[str] = []
    for name in names:
        target = parse_target(name)
        if target is None or target not in TARGETS:
            raise UsageError(f"unknown target `{name}`{did_you_mean(name, map(str, TARGETS))}")
        found.append(str(target))
    return tuple(dict.fromkeys(found))
