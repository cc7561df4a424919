"""The names of the rules. To select rules, they need not be imported, which takes long."""

from __future__ import annotations

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.named_tuple import NamedTuple


class RuleEntry(NamedTuple):
    """The properties of a rule that selection needs."""

    name: str
    code: str
    severity: Severity


def rule_index() -> tuple[RuleEntry, ...]:
    """Every rule, by code."""
    if _index:
        return tuple(_index)
    from ptx_lsp.lint.registry import all_rules

    return tuple(RuleEntry(one.name, one.code, one.severity) for one in all_rules())


def set_rule_index(rules: tuple[RuleEntry, ...]) -> None:
    """Sets the answer of `known_rules`, which must be complete; with none, it is computed again."""
    _index[:] = rules


_index: list[RuleEntry] = []
