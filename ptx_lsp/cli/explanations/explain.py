"""`--explain NAME` and `--rules`: documentation in the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.cli.explanations.instruction import explain_instruction
from ptx_lsp.cli.explanations.modifier import explain_word, needs, word_names
from ptx_lsp.cli.explanations.sections import prose, section, title
from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.finding_kinds.registry import KINDS
from ptx_lsp.isa import directives, special_registers
from ptx_lsp.isa.keywords import Keyword, explanations
from ptx_lsp.isa.schema import table
from ptx_lsp.lint.configuration.selection import OUTSIDE, did_you_mean
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, Style
from ptx_lsp.lint.rule import Rule


def explain(name: str, style: Style) -> Iterator[str]:
    """The description of `name`, line by line: a rule, kind of finding, instruction, directive, special
    register, modifier, type or state space.

    Raises UsageError for any other name.
    """
    kind = KINDS.get(name)
    last = [] if kind is None else [_kind(kind, style)]
    for spelling in (name, f".{name}", f"%{name}"):
        found = _explained(spelling, style)
        if found:
            return _joined([*found, *last])
    if last:
        return _joined(last)
    raise UsageError(f"unknown name `{name}`{did_you_mean(name, _all_names())}")


def _explained(name: str, style: Style) -> list[Iterator[str]]:
    """The description of every item with this name; a directive comes first."""
    for rule in all_rules():
        if name in (rule.name, rule.code):
            return [_rule(rule, style)]
    if name in OUTSIDE:
        summary, *more = OUTSIDE[name]
        return [iter([*title(name, "of no rule", summary, style), *section("Notes", prose(more), style)])]
    register = special_registers.find(re.sub(r"\.[xyzwrgba]$", "", name))
    if register is not None:
        return [_special_register(register, style)]
    if table.entries(name.partition(".")[0]):
        return [explain_instruction(name, style)]
    if words := explanations(name):
        return [_word(name, word, style) for word in words]
    directive = directives.find(name)
    found = [_directive(directive, style)] if directive is not None else []
    return [*found, *explain_word(name, style)]


def _joined(parts: Iterable[Iterator[str]]) -> Iterator[str]:
    for index, part in enumerate(parts):
        if index:
            yield ""
        yield from part


def list_rules(format: str, style: Style) -> Iterator[str]:
    """All rules, one per line, or as JSON."""
    rules = all_rules()
    if format == "json":
        rows = [
            {"rule": r.name, "code": r.code, "severity": r.severity, "summary": r.summary}
            for r in rules
        ]
        yield json.dumps(rows, indent=2)
        return
    size = max(len(rule.name) for rule in rules)
    for rule in rules:
        severity = style.paint(f"{rule.severity:7}", SEVERITY_COLOURS[rule.severity])
        name = style.paint(f"{rule.name:{size}}", "bold")
        yield f"{rule.code}  {severity}  {name}  {rule.summary}"


def _all_names() -> list[str]:
    names = [text for rule in all_rules() for text in (rule.name, rule.code)]
    registers = [pattern for pattern, _ in special_registers.rows()]
    names += KINDS
    return [*names, *OUTSIDE, "WARP_SZ", *directives.DIRECTIVES, *registers, *table.opcodes(), *word_names()]


def _rule(rule: Rule, style: Style) -> Iterator[str]:
    severity = style.paint(f"{rule.severity}[{rule.code}]", SEVERITY_COLOURS[rule.severity])
    yield f"{severity} {style.paint(rule.name, 'bold')}"
    yield ""
    in_code = False
    for line in rule.documentation.splitlines():
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            yield f"    {line}".rstrip()
        elif line.startswith("## "):
            yield style.paint(line.removeprefix("## "), "bold")
        else:
            yield line


def _kind(kind: FindingKind, style: Style) -> Iterator[str]:
    yield from title(kind.name, kind.title, kind.summary, style)
    for heading, lines in kind.sections():
        yield from section(heading, lines, style)


def _directive(directive: directives.Directive, style: Style) -> Iterator[str]:
    yield from title(directive.name, f"{directive.kind} directive", directive.summary, style)
    yield from section("Syntax", directive.syntax.splitlines(), style)
    yield from section("Where", [", ".join(sorted(directive.places))], style)
    ends = [f"removed in PTX ISA {directive.removed}"] if directive.removed else []
    if directive.deprecated:
        ends.insert(0, f"deprecated since PTX ISA {directive.deprecated}")
    ends += [f"not allowed in a {place} since PTX ISA {version}" for place, version in directive.ended]
    if not directive.is_accepted:
        ends = ["not accepted by current versions of ptxas"]
    yield from section("Needs", needs(directive.since), style)
    yield from section("Ended", prose(ends), style)
    yield from section("Example", directive.example.splitlines(), style)


def _word(name: str, word: Keyword, style: Style) -> Iterator[str]:
    yield from title(name, word.kind, word.summary, style)
    yield from section("Example", [word.example] if word.example else [], style)


def _special_register(row: special_registers.SpecialRegister, style: Style) -> Iterator[str]:
    yield from title(row.name, "special register", row.summary, style)
    vector = f".v{row.vector} " if row.vector > 1 else ""
    yield from section("Type", [f"{vector}{row.type}"], style)
    yield from section("Needs", needs(row.requirement), style)
    yield from section("Example", [row.example], style)
