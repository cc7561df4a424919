"""Runs the rules over a module, and keeps what an edit did not touch."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ptx_lsp.lint.diagnostic import SEVERITIES, Diagnostic, Finding, Fix, Related, Severity
from ptx_lsp.lint.rule import Rule, default_rules
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Edit

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class _Checked:
    """What is found out about one function so far: `done` counts the rules that have run."""

    __slots__ = (
        "diagnostics", "done", "environment", "findings", "function", "item", "severities",
    )  # fmt: skip

    def __init__(self, function: Function, environment: tuple[object, ...]) -> None:
        self.function = function
        self.environment = environment
        self.done = 0
        self.findings: list[tuple[Rule, Finding]] = []
        self.severities: dict[Severity, int] = {}
        """How many findings there are of each."""
        self.diagnostics: list[Diagnostic] = []
        self.item: Item | None = None
        """Where the function was when `diagnostics` were made; None where they hold no longer."""


class Linting:
    """The findings about one module, and what of them the next version of it can take over.

    Without `rules`, those run that are no hints. With `staged` nothing runs but what `steps` is asked for;
    a linting that was left at some step can be taken over as well.
    """

    def __init__(
        self,
        module: Module,
        rules: Iterable[Rule] | None = None,
        previous: Linting | None = None,
        *,
        staged: bool = False,
    ) -> None:
        self.module = module
        self.rules = tuple(default_rules() if rules is None else rules)
        self._rules_done = 0
        self._on_module: list[tuple[Rule, Finding]] = []
        self._checked: dict[int, _Checked] = {}
        self._earlier: dict[int, _Checked] = {}
        if previous is not None and previous.rules == self.rules:
            self._earlier = {**previous._earlier, **previous._checked}
        self._is_complete = False
        self._complete: list[Diagnostic] | None = None
        if not staged:
            for _ in self.steps():
                pass

    def steps(self) -> Iterator[Rule]:
        """Runs one rule after the other, those on the module first; tells after each which it was.

        Asked once more, it goes on where it was left.
        """
        for rule in self.rules[self._rules_done :]:
            self._rules_done += 1
            if rule.on_module is not None:
                self._on_module.extend(_run(rule, rule.on_module, self.module))
                yield rule
        checks = [(rule, rule.on_function) for rule in self.rules if rule.on_function is not None]
        for function in self.module.functions:
            if _key(function) not in self._checked:
                self._take_over(function)
        self._earlier = {}
        for checked in self._checked.values():
            for rule, check in checks[checked.done :]:
                found = _run(rule, check, checked.function)
                checked.findings.extend(found)
                for one in found:
                    severity = _severity(*one)
                    checked.severities[severity] = checked.severities.get(severity, 0) + 1
                checked.done += 1
                checked.item = None
                yield rule
        self._is_complete = True

    @property
    def share_done(self) -> float:
        """How much of the work on functions is done, from 0 to 1."""
        functions = len(self.module.functions)
        each = sum(rule.on_function is not None for rule in self.rules)
        done = sum(checked.done for checked in self._checked.values())
        return done / (functions * each) if functions and each else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether every rule has run."""
        return self._is_complete

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All that is found so far, in the order of the text."""
        if not self._is_complete:
            return self._so_far()
        if self._complete is None:
            self._complete = self._so_far()
        return self._complete

    def worst(self, most: int) -> tuple[list[Diagnostic], int]:
        """At most so many of the diagnostics, those that are worst; of those that are alike the first in the
        text. Then, how many findings there are in all. For large files this is much less work than all.
        """
        counts = Counter(_severity(*one) for one in self._on_module)
        for checked in self._checked.values():
            counts.update(checked.severities)
        total = counts.total()
        if total <= most:
            return self.diagnostics, total
        wanted: dict[Severity, int] = {}
        left = most
        for severity in SEVERITIES:
            wanted[severity] = min(left, counts[severity])
            left -= wanted[severity]
        chosen: list[Diagnostic] = []
        for rule, finding in self._on_module:
            if wanted[_severity(rule, finding)] > 0:
                wanted[_severity(rule, finding)] -= 1
                chosen.append(_diagnostic(self.module, rule, finding))
        for checked in self._checked.values():
            if any(wanted[severity] > 0 for severity in checked.severities):
                for rule, finding in checked.findings:
                    if wanted[_severity(rule, finding)] > 0:
                        wanted[_severity(rule, finding)] -= 1
                        chosen.append(_diagnostic(self.module, rule, finding))
        return _in_order(chosen), total

    def _so_far(self) -> list[Diagnostic]:
        module = self.module
        found = [_diagnostic(module, rule, finding) for rule, finding in self._on_module]
        for checked in self._checked.values():
            found += _diagnostics_of(checked, module)
        return _in_order(found)

    def _take_over(self, function: Function) -> None:
        """Takes what is known of a function from earlier, if that still holds."""
        key, environment = _key(function), function.environment
        checked = self._earlier.get(key)
        if checked is None or checked.environment != environment:
            checked = _Checked(function, environment)
        else:
            checked.function = function
        self._checked[key] = checked


def _key(function: Function) -> int:
    """The same for all versions of a function whose statements are the same; where they stand in it is told
    by the item.
    """
    return id(function.body.instructions)


def _in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(set(found), key=lambda d: (d.span, d.code, d.message))


def _severity(rule: Rule, finding: Finding) -> Severity:
    return finding.severity or rule.severity


def _diagnostics_of(checked: _Checked, module: Module) -> list[Diagnostic]:
    """Those of an untouched function at its old place are kept, too."""
    function, drawn = checked.function, checked.item
    item = function.item
    if drawn is None or drawn.start != item.start or drawn.marks is not item.marks:
        checked.diagnostics = [_diagnostic(module, rule, one) for rule, one in checked.findings]
        alone = all(_is_within(function, one) for _, one in checked.findings)
        checked.item = item if alone else None
    return checked.diagnostics


def _is_within(function: Function, finding: Finding) -> bool:
    """Whether a finding points at nothing outside its function."""
    places = [finding.place, *(place for place, _ in finding.related)]
    if finding.remedy is not None:
        places += (place for place, _ in finding.remedy.replacements)
    return all(place.owner is function.symbol.place.owner for place in places)


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
        _severity(rule, finding),
        finding.message,
        module.span(finding.place),
        tuple(Related(module.span(place), text) for place, text in finding.related),
        fix,
    )
