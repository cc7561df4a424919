"""What rules are called. To choose among them, they need not be imported, which takes long."""

from __future__ import annotations

from typing import NamedTuple

from ptx_lsp.lint.diagnostic import Severity


class Known(NamedTuple):
    """What choosing must know of a rule."""

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
    """Has `known_rules` answer with these, which must be all there are; with none it looks again."""
    _remembered[:] = rules


_remembered: list[Known] = []
