"""The rules, found by walking the package `rules`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache

from ptx_lsp.lint import rules
from ptx_lsp.lint.rule import Rule
from ptx_lsp.packages import module_names


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of the package `rules`, by code. They are discovered, not listed."""
    return rules_of(module_names(rules.__path__))


def rules_of(modules: Iterable[str]) -> tuple[Rule, ...]:
    """The rules in some modules of the package `rules`, by code."""
    found = [rule for name in modules for rule in _rules_in(name)]
    return tuple(sorted(found, key=lambda rule: rule.code))


@cache
def _rules_in(module: str) -> list[Rule]:
    values = vars(importlib.import_module(f"{rules.__name__}.{module}")).values()
    return [value for value in values if isinstance(value, Rule)]


def default_rules() -> tuple[Rule, ...]:
    """The rules that run by default: all except hints, which are matters of taste or slow."""
    return tuple(rule for rule in all_rules() if rule.severity != "hint")
