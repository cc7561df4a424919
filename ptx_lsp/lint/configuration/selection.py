"""Selects the rules that run, and their severities: layers of choices, later ones override earlier ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptx_lsp.lint.configuration.rule_index import RuleEntry, rule_index
from ptx_lsp.lint.diagnostic import Diagnostic, Severity
from ptx_lsp.lint.failures import report_failure
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptx_lsp.lint.rule import Rule
    from ptx_lsp.model.module import Module

PTXAS = "ptxas"
OVER_BUDGET = "over-budget"
OUTSIDE = {
    PTXAS: (
        "What ptxas itself says of a file, with `--ptxas`.",
        "Where it speaks of a line in which ptx-lint has found an error, its words are a note on that one.",
        "It has no columns: the token that it names is marked, or else the whole line.",
    ),
    OVER_BUDGET: (
        "A kernel that uses more than the configuration allows it.",
        "`[budgets]` has them by the pattern of names of kernels: `registers <= 128`, `occupancy >= 50 %`, "
        "`shared <= 48 KiB`, `spills == 0`.",
        "The figure is measured if ptxas was asked, else exact or estimated; the message says which.",
    ),
}
"""Names, and codes, of findings that do not come from rules, with a description. They are reported on
request, unless ignored.
"""
EVERY = "ALL"
"""The word for all rules, including hints."""


class UnknownRuleError(ValueError):
    """A word that is not a rule name, a code or a prefix of a code."""


class Choice(NamedTuple):
    """One layer: words are rule names, codes or prefixes of codes."""

    select: tuple[str, ...] | None = None
    """Runs only these; None keeps the choice of earlier layers."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    """Rules to skip, even if this layer selects them."""
    severity: tuple[tuple[str, Severity], ...] = ()


class Rules(NamedTuple):
    """The names of the rules that run, and the severities that differ from a rule's own."""

    names: frozenset[str]
    severities: tuple[tuple[str, Severity], ...] = ()

    def chosen(self) -> list[Rule]:
        """The rules that run."""
        return _imported([one for one in rule_index() if one.name in self.names])

    def awake(self, module: Module) -> list[Rule]:
        """The rules of them that may find something in a module. The others are not imported."""
        from ptx_lsp.model._core import words_in
        from ptx_lsp.model.module_wakes import Occurring

        entries = [one for one in rule_index() if one.name in self.names and not one.on_block]
        wanted = {word for one in entries for word in one.words}
        words = words_in(module.document.source.data, list(wanted))
        entries = [one for one in entries if not one.words or not words.isdisjoint(one.words)]
        if any(one.wake for one in entries):
            try:
                occurring = Occurring(module)
            except Exception as error:
                report_failure(__name__, "all rules run: it is unknown what occurs in the module", error)
            else:
                entries = [one for one in entries if occurring.wakes(one.wake)]
        return _imported(entries)

    def of_blocks(self) -> list[Rule]:
        """The rules of them about blocks of inline assembly."""
        return _imported([one for one in rule_index() if one.name in self.names and one.on_block])

    def judged(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The diagnostics of rules that run, with their configured severity."""
        own = dict(self.severities)
        for found in diagnostics:
            if found.rule in self.names:
                yield found if found.rule not in own else found._replace(severity=own[found.rule])


def _imported(entries: Iterable[RuleEntry]) -> list[Rule]:
    from ptx_lsp.lint.registry import rules_of

    return list(rules_of(one.module for one in entries))


def chosen(layers: Iterable[Choice]) -> Rules:
    """The result of the layers; initially all rules except hints. Raises UnknownRuleError."""
    everything = rule_index()
    names = {rule.name for rule in everything if rule.severity != "hint"} | set(OUTSIDE)
    severities: dict[str, Severity] = {}
    for layer in layers:
        if layer.select is not None:
            names = _all_matching(everything, layer.select) | set(OUTSIDE)
        names |= _all_matching(everything, layer.extend_select)
        names -= _all_matching(everything, layer.ignore)
        for word, severity in layer.severity:
            severities |= dict.fromkeys(matching(everything, word), severity)
    return Rules(frozenset(names), tuple(sorted(severities.items())))


def matching(rules: Sequence[RuleEntry], word: str) -> list[str]:
    """The names of the rules that a word refers to. Raises UnknownRuleError."""
    if word in OUTSIDE:
        return [word]
    if word == EVERY:
        return [rule.name for rule in rules]
    found = [rule.name for rule in rules if rule.name == word or rule.code.startswith(word)]
    if not found or not word:
        names = [text for rule in rules for text in (rule.name, rule.code)]
        near = did_you_mean(word, [*names, *OUTSIDE]) or "; `ptx-lint --rules` lists them"
        raise UnknownRuleError(f"unknown rule or code `{word}`{near}")
    return found


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing if no candidate is close."""
    near = similar_name(name, candidates)
    return f"; did you mean `{near}`?" if near is not None else ""


def _all_matching(rules: Sequence[RuleEntry], words: Iterable[str]) -> set[str]:
    return {name for word in words for name in matching(rules, word)}
