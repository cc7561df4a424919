"""The rules that find errors, for comparisons with what ptxas rejects."""

from __future__ import annotations

from functools import cache

from ptx_lsp.lint.registry import default_rules
from ptx_lsp.lint.rule import Rule


@cache
def error_rules() -> tuple[Rule, ...]:
    """All of them. Others run on damaged files in `tests/properties/test_damaged.py`."""
    return tuple(rule for rule in default_rules() if rule.code.startswith("E"))
