"""Rule names and codes. Selecting rules does not import them, which takes long."""

from __future__ import annotations

from typing import NamedTuple

from ptx_lsp.lint.diagnostic import Severity


class Known(NamedTuple):
    """The properties of a rule needed for selection."""

    name: str
    code: str
    severity: Severity


def known_rules() -> tuple[Known, ...]:
    """Every rule, by code."""
    if _remembered:
        return tuple(_remembered)
    from ptx_lsp.lint.registry import all_rules

    return tuple(Known(one.name, one.code, one.severity) for one in all_rules())


def remember(rules: tuple[Known, ...]) -> None:
    """Sets the answer of `known_rules`, which must be complete; with none, it is computed again."""
    _remembered[:] = rules


_remembered: list[Known] = []
