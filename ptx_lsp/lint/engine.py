"""Runs the rules over a module, and reuses the results that an edit did not affect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ptx_lsp.lint.diagnostic import (
    SEVERITIES,
    Diagnostic,
    Finding,
    Fix,
    FixProposal,
    Related,
    Replacement,
    Severity,
)
from ptx_lsp.lint.failures import report_failure
from ptx_lsp.lint.fixes.deletion_edits import widened
from ptx_lsp.lint.registry import default_rules
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import directive_shape, function_features
from ptx_lsp.model.module import Module
from ptx_lsp.static_typing import TYPE_CHECKING, TypeVar
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Edit

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_T = TypeVar("_T")


_NONE: Final = Counter[Severity]()
_Check: TypeAlias = tuple[Rule, Callable[[Function], Iterator[Finding]]]


class _Checked:
    """The results for one function so far: `done` is the number of rules that have run."""

    __slots__ = (
        "diagnostics", "done", "environment", "findings", "instructions", "item", "severities",
    )  # fmt: skip

    def __init__(self, function: Function) -> None:
        self.instructions = function.body.instructions
        """The instructions. It is the same object for all versions of a function with the same statements;
        the item gives their positions.
        """
        self.environment = function.environment
        self.done = 0
        self.findings: list[tuple[Rule, Finding]] = []
        self.severities: Counter[Severity] = _NONE
        """The number of findings per severity."""
        self.diagnostics: dict[int, Diagnostic] = {}
        """The diagnostics of some findings, by index."""
        self.item: Item | None = None
        """The position of the function when `diagnostics` were created."""


class LintSession:
    """The findings about one module, and the part of them that its next version can reuse.

    Without `rules`, all rules except hints run. With `staged`, only the steps requested from `steps` run. An
    unfinished session can also be reused, and must not continue after that.
    """

    def __init__(
        self,
        module: Module,
        rules: Iterable[Rule] | None = None,
        previous: LintSession | None = None,
        *,
        staged: bool = False,
    ) -> None:
        self.module = module
        self.rules = tuple(default_rules() if rules is None else rules)
        about_modules = [rule for rule in self.rules if rule.on_module is not None]
        self._errors = [rule for rule in about_modules if rule.code.startswith("E")]
        """The module rules that have yet to run before those about functions."""
        self._others = [rule for rule in about_modules if not rule.code.startswith("E")]
        """The module rules that have yet to run after them. Before, they would have all functions analysed,
        and their analyses be kept until the rules about functions need them.
        """
        self._on_module: list[tuple[Rule, Finding]] = []
        self._on_function: list[_Check] = [
            (rule, rule.on_function) for rule in self.rules if rule.on_function is not None
        ]
        self._awake: dict[int, list[tuple[int, _Check]]] = {}
        """The rules to run, each with its index, for a function with these features."""
        self._checked: dict[int, _Checked] = {}
        """By the numbers of the functions, in order."""
        self._pending: set[int] = set()
        """The functions on which rules have yet to run."""
        self._functions_with_findings: set[int] = set()
        """The functions about which something was found."""
        self._counts = Counter[Severity]()
        """The number of findings about functions, per severity."""
        self._has_begun = False
        self._previous = previous._previous_session() if previous and previous.rules == self.rules else None
        self._is_complete = False
        self._complete: list[Diagnostic] | None = None
        if not staged:
            for _ in self.steps():
                pass

    def steps(self, finished: Callable[[Function], None] | None = None) -> Iterator[Rule]:
        """Runs one rule after another, and yields each: first those that find errors of the module, then the
        rules about functions, then other module rules. `finished` is called for each function on which all
        rules have run.

        A second call continues after the last step.
        """
        yield from self._on_modules(self._errors)
        if not self._has_begun:
            self._inherit()
        for number in sorted(self._pending):
            checked, function = self._checked[number], self.module.functions[number]
            shape = directive_shape(function)
            for index, (rule, check) in self._awake_for(function):
                if index < checked.done:
                    continue
                if rule.about_directives and shape is not None:
                    if rule.name in shape.quiet:
                        continue
                    found = _run(rule, check, function)
                    if not found:
                        shape.quiet.add(rule.name)
                else:
                    found = _run(rule, check, function)
                if found:
                    self._add(number, checked, found)
                checked.done = index + 1
                yield rule
            checked.done = len(self._on_function)
            self._pending.discard(number)
            if finished is not None:
                finished(function)
        yield from self._on_modules(self._others)
        self._is_complete = True

    def _on_modules(self, pending: list[Rule]) -> Iterator[Rule]:
        while pending:
            rule = pending.pop(0)
            if rule.on_module is not None:
                self._on_module.extend(_run(rule, rule.on_module, self.module))
                yield rule

    def _awake_for(self, function: Function) -> list[tuple[int, _Check]]:
        try:
            has = function_features(function)
        except Exception as error:
            report_failure(__name__, f"all rules run on {function.name}: its features are unknown", error)
            return list(enumerate(self._on_function))
        found = self._awake.get(has)
        if found is None:
            each = enumerate(self._on_function)
            found = self._awake[has] = [one for one in each if one[1][0].wake.wakes(has)]
        return found

    def _add(self, number: int, checked: _Checked, found: list[tuple[Rule, Finding]]) -> None:
        checked.findings.extend(found)
        counts = Counter[Severity](_severity(*one) for one in found)
        checked.severities = checked.severities + counts
        self._counts += counts
        self._functions_with_findings.add(number)

    def _previous_session(self) -> LintSession | None:
        """The last previous session that has results for functions."""
        return self if self._has_begun else self._previous

    def _inherit(self) -> None:
        """Reuses the results about functions that are still valid."""
        functions, previous = self.module.functions, self._previous
        known: dict[int, _Checked] = {}
        numbers: Iterable[int] = range(len(functions))
        if previous is not None:
            found, touched = self.module.previous_aggregates.get(LintSession, (None, ()))
            if found is previous._checked:
                self._checked, self._counts = dict(previous._checked), Counter(previous._counts)
                self._pending, self._functions_with_findings = (
                    set(previous._pending),
                    set(previous._functions_with_findings),
                )
                numbers = touched
                known = {id(one.instructions): one for one in map(self._checked.__getitem__, touched)}
            else:
                known = {id(one.instructions): one for one in previous._checked.values()}
        for number in numbers:
            function = functions[number]
            checked = known.get(id(function.body.instructions))
            if checked is None or checked.environment != function.environment:
                checked = _Checked(function)
            self._put(number, checked)
        self.module.aggregates[LintSession] = self._checked
        self._has_begun, self._previous = True, None

    def _put(self, number: int, checked: _Checked) -> None:
        before = self._checked.get(number)
        if before is not None and before.severities:
            self._counts -= before.severities
        self._checked[number] = checked
        if checked.severities:
            self._counts += checked.severities
        if checked.done < len(self._on_function):
            self._pending.add(number)
        else:
            self._pending.discard(number)
        if checked.findings:
            self._functions_with_findings.add(number)
        else:
            self._functions_with_findings.discard(number)

    @property
    def share_done(self) -> float:
        """The completed share of the work on functions, from 0 to 1."""
        each = len(self._on_function)
        done = sum(checked.done for checked in self._checked.values())
        return done / (len(self._checked) * each) if self._checked and each else 1.0

    @property
    def is_complete(self) -> bool:
        """Whether every rule has run."""
        return self._is_complete

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All diagnostics so far, in text order."""
        if not self._is_complete:
            return self._current_diagnostics()
        if self._complete is None:
            self._complete = self._current_diagnostics()
        return self._complete

    def once(self, is_last: bool = False) -> Iterator[Diagnostic]:
        """All diagnostics so far for a single use: each is created on demand, and not cached. `is_last`: the
        session is not used any more, and its findings are released on the way.
        """
        found = [*self._on_module]
        for number in sorted(self._functions_with_findings):
            found += self._checked[number].findings
        if is_last:
            self._on_module.clear()
            self._checked.clear()
        found.sort(key=lambda one: one[1].message)
        found.sort(key=lambda one: one[0].code)
        found.sort(key=lambda one: self.module.span(one[1].place))
        at: Diagnostic | None = None
        there = set[Diagnostic]()
        found.reverse()
        while found:
            rule, finding = found.pop()
            one = _diagnostic(self.module, rule, finding)
            if at is None or (one.span, one.code, one.message) != (at.span, at.code, at.message):
                at = one
                there.clear()
            else:
                there.add(at)
                if one in there:
                    continue
                there.add(one)
            yield one

    def worst(self, most: int) -> tuple[list[Diagnostic], int]:
        """The worst diagnostics, at most so many, and the total number of findings. Among equally severe
        ones, those of module rules come first, then text order decides. For large files this is much less
        work than creating all.
        """
        counts = self._counts + Counter[Severity](_severity(*one) for one in self._on_module)
        total = counts.total()
        if total <= most:
            return self.diagnostics, total
        wanted: dict[Severity, int] = {}
        left = most
        for severity in SEVERITIES:
            wanted[severity] = min(left, counts[severity])
            left -= wanted[severity]
        chosen: list[Diagnostic] = []
        for diagnostic in _in_order(self._diagnostics_on_module()):
            if wanted[diagnostic.severity] > 0:
                wanted[diagnostic.severity] -= 1
                chosen.append(diagnostic)
        for number in sorted(self._functions_with_findings):
            checked = self._checked[number]
            if len(chosen) < most and any(wanted[severity] > 0 for severity in checked.severities):
                for index, one in enumerate(checked.findings):
                    if wanted[_severity(*one)] > 0:
                        wanted[_severity(*one)] -= 1
                        chosen.append(self._of_function(number, index))
        return _in_order(chosen), total

    def _current_diagnostics(self) -> list[Diagnostic]:
        found = self._diagnostics_on_module()
        for number in sorted(self._functions_with_findings):
            findings = range(len(self._checked[number].findings))
            found += [self._of_function(number, index) for index in findings]
        return _in_order(found)

    def _diagnostics_on_module(self) -> list[Diagnostic]:
        return [_diagnostic(self.module, rule, finding) for rule, finding in self._on_module]

    def _of_function(self, number: int, index: int) -> Diagnostic:
        """A diagnostic of a function; it is cached for an unchanged function at its old position."""
        checked, function = self._checked[number], self.module.functions[number]
        item, drawn = function.item, checked.item
        if drawn is None or drawn.start != item.start or drawn.offsets is not item.offsets:
            checked.item = item
            checked.diagnostics = {}
        found = checked.diagnostics.get(index)
        if found is None:
            rule, finding = checked.findings[index]
            found = _diagnostic(self.module, rule, finding)
            if _is_within(function, finding):
                checked.diagnostics[index] = found
        return found


def _in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    return sorted(set(found), key=lambda d: (d.span, d.code, d.message))


def _severity(rule: Rule, finding: Finding) -> Severity:
    return finding.severity or rule.severity


def _is_within(function: Function, finding: Finding) -> bool:
    """Whether a finding refers only to places inside its function."""
    places = [finding.place, *(place for place, _ in finding.related)]
    for remedy in (finding.fix, *finding.alternatives):
        places += (one.place for one in remedy.replacements) if remedy is not None else ()
    return all(place.owner is function.symbol.place.owner for place in places)


def _run(
    rule: Rule, check: Callable[[_T], Iterator[Finding]], subject: _T
) -> list[tuple[Rule, Finding]]:
    """Runs a rule. If it fails, only its own findings are lost."""
    try:
        return [(rule, finding) for finding in check(subject)]
    except Exception as error:
        report_failure(__name__, f"rule {rule.name} failed and was skipped", error)
        return []


def _diagnostic(module: Module, rule: Rule, finding: Finding) -> Diagnostic:
    return Diagnostic(
        rule.name,
        rule.code,
        _severity(rule, finding),
        finding.message,
        module.span(finding.place),
        tuple(Related(module.span(place), text) for place, text in finding.related),
        _fix(module, finding.fix) if finding.fix is not None else None,
        alternatives=tuple(_fix(module, remedy) for remedy in finding.alternatives),
        tag=rule.tag,
    )


def _fix(module: Module, remedy: FixProposal) -> Fix:
    edits = (_edit(module, replacement) for replacement in remedy.replacements)
    return Fix(remedy.message, tuple(edits), remedy.safe)


def _edit(module: Module, replacement: Replacement) -> Edit:
    span = module.span(replacement.place)
    if replacement.with_line:
        span = widened(module.document.source.data, span)
    return Edit(*span, replacement.text.encode())
