"""Runs the rules over a module, and keeps what an edit did not touch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ptx_lsp.lint.diagnostic import Diagnostic, Finding, Fix, Related
from ptx_lsp.lint.rule import Rule, default_rules
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_Kept = dict[int, tuple[Function, tuple[object, ...], list[tuple[Rule, Finding]]]]


class Linting:
    """The findings about one module, and what of them the next version of it can take over.

    Without `rules`, those run that are no hints.
    """

    def __init__(
        self, module: Module, rules: Iterable[Rule] | None = None, previous: Linting | None = None
    ) -> None:
        self.module = module
        self.rules = tuple(default_rules() if rules is None else rules)
        kept = previous._kept if previous and previous.rules == self.rules else {}
        self._kept: _Kept = {}
        findings: list[tuple[Rule, Finding]] = []
        for rule in self.rules:
            if rule.on_module is not None:
                findings.extend(_run(rule, rule.on_module, module))
        for function in module.functions:
            findings.extend(self._of_function(function, kept))
        found = [_diagnostic(module, rule, finding) for rule, finding in findings]
        self.diagnostics = sorted(set(found), key=lambda d: (d.span, d.code, d.message))

    def _of_function(self, function: Function, kept: _Kept) -> list[tuple[Rule, Finding]]:
        key = id(function.node)
        environment = function.environment
        earlier = kept.get(key)
        if earlier is not None and earlier[1] == environment:
            findings = earlier[2]
        else:
            findings = [
                found
                for rule in self.rules
                if rule.on_function is not None
                for found in _run(rule, rule.on_function, function)
            ]
        self._kept[key] = (function, environment, findings)
        return findings


def _run(
    rule: Rule, check: Callable[[_T], Iterator[Finding]], subject: _T
) -> list[tuple[Rule, Finding]]:
    """A rule that fails loses its own findings and nothing else."""
    try:
        return [(rule, finding) for finding in check(subject)]
    except Exception:
        _log.exception("rule %s failed and was passed over", rule.name)
        return []


def _diagnostic(module: Module, rule: Rule, finding: Finding) -> Diagnostic:
    fix = None
    if finding.remedy is not None:
        edits = tuple(
            Edit(*module.span(place), text.encode()) for place, text in finding.remedy.replacements
        )
        fix = Fix(finding.remedy.message, edits, finding.remedy.safe)
    return Diagnostic(
        rule.name,
        rule.code,
        finding.severity or rule.severity,
        finding.message,
        module.span(finding.place),
        tuple(Related(module.span(place), text) for place, text in finding.related),
        fix,
    )
