"""Which rules `--select` and `--ignore` leave, and what a mistyped name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.cli.assembler import RULE
from ptx_lsp.isa.target import TARGETS, parse_target
from ptx_lsp.lint.nearest import nearest
from ptx_lsp.lint.rule import Rule


def selected(rules: Sequence[Rule], select: Sequence[str], ignore: Sequence[str]) -> frozenset[str]:
    """The names of the rules that run: those selected, or all but hints (S4xx and a few P3xx) where none is,
    without those ignored.

    Raises UsageError for what is no name, no code and no beginning of a code.
    """
    wanted = {name for word in select for name in _matching(rules, word)}
    left_out = {name for word in ignore for name in _matching(rules, word)}
    everything = {rule.name for rule in rules if rule.severity != "hint"} | {RULE}
    # What ptxas says has been asked for with --ptxas; only --ignore takes it out.
    return frozenset((wanted | {RULE} if select else everything) - left_out)


def checked_targets(names: Iterable[str]) -> tuple[str, ...]:
    """The targets by their own names, each once. Raises UsageError for one that does not exist."""
    found: list[str] = []
    for name in names:
        target = parse_target(name)
        if target is None or target not in TARGETS:
            raise UsageError(f"there is no target `{name}`{did_you_mean(name, map(str, TARGETS))}")
        found.append(str(target))
    return tuple(dict.fromkeys(found))


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean ...?`, or nothing where no candidate is close."""
    near = nearest(name, candidates)
    return f"; did you mean `{near}`?" if near is not None else ""


def _matching(rules: Sequence[Rule], word: str) -> list[str]:
    if word == RULE:
        return [RULE]
    found = [rule.name for rule in rules if rule.name == word or rule.code.startswith(word)]
    if not found:
        names = [text for rule in rules for text in (rule.name, rule.code)]
        near = did_you_mean(word, [*names, RULE]) or "; `ptx-lint --rules` lists them"
        raise UsageError(f"there is no rule or code `{word}`{near}")
    return found
