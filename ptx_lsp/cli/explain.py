"""`--explain NAME` and `--rules`: what things mean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from inspect import cleandoc

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.cli.selection import did_you_mean
from ptx_lsp.isa import directives, special_registers, table
from ptx_lsp.isa.entry import Entry
from ptx_lsp.isa.resolve import Resolution, resolve
from ptx_lsp.isa.target import OLDEST, Requirement, Version
from ptx_lsp.lint.reporters.style import SEVERITY_COLOURS, Style
from ptx_lsp.lint.rule import Rule, all_rules


def explain(name: str, style: Style) -> Iterator[str]:
    """What the rule, instruction, directive or special register `name` is, line by line.

    Raises UsageError for what is none of these.
    """
    for spelling in (name, f".{name}", f"%{name}"):
        found = _explained(spelling, style)
        if found is not None:
            return found
    raise UsageError(f"nothing is called `{name}`{did_you_mean(name, _all_names())}")


def _explained(name: str, style: Style) -> Iterator[str] | None:
    for rule in all_rules():
        if name in (rule.name, rule.code):
            return _rule(rule, style)
    directive = directives.find(name)
    if directive is not None:
        return _directive(directive, style)
    register = special_registers.find(re.sub(r"\.[xyzwrgba]$", "", name))
    if register is not None:
        return _special_register(register, style)
    return _instruction(name, style) if table.entries(name.partition(".")[0]) else None


def list_rules(format: str, style: Style) -> Iterator[str]:
    """All rules, a line each, or as JSON."""
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
    return [*names, *directives.DIRECTIVES, *registers, *table.opcodes()]


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


def _directive(directive: directives.Directive, style: Style) -> Iterator[str]:
    yield from _title(directive.name, f"{directive.kind} directive", directive.summary, style)
    yield from _section("Syntax", directive.syntax.splitlines(), style)
    yield from _section("Where", [", ".join(sorted(directive.places))], style)
    ends = [f"ptxas refuses it from PTX ISA {directive.removed} on"] if directive.removed else []
    if directive.deprecated:
        ends.insert(0, f"deprecated since PTX ISA {directive.deprecated}")
    ends += [f"not in a {place} from PTX ISA {version} on" for place, version in directive.ended]
    needs = [_way(directive.since)] if _way(directive.since) else []
    if not directive.is_accepted:
        ends = ["no ptxas of today takes it"]
    yield from _section("Needs", needs, style)
    yield from _section("Ended", ends, style)
    yield from _section("Example", directive.example.splitlines(), style)


def _special_register(row: special_registers.SpecialRegister, style: Style) -> Iterator[str]:
    yield from _title(row.name, "special register", row.summary, style)
    vector = f".v{row.vector} " if row.vector > 1 else ""
    yield from _section("Type", [f"{vector}{row.type}"], style)
    yield from _section("Needs", [_way(row.requirement)] if _way(row.requirement) else [], style)


def _instruction(spelling: str, style: Style) -> Iterator[str]:
    """All rows of an opcode; with modifiers the rows that the spelling fits, else what is wrong."""
    entries = sorted(table.entries(spelling.partition(".")[0]), key=_since)
    resolution = resolve(spelling) if "." in spelling else None
    if resolution is not None and resolution.ok:
        fitting = {candidate.entry.name: candidate.entry for candidate in resolution.candidates}
        entries = sorted(fitting.values(), key=_since)
    elif resolution is not None:
        named = [entry for entry in entries if entry.name == spelling]
        entries = named or entries
        if not named:
            for problem in resolution.problems:
                yield f"{style.paint(spelling, 'bold')}: {problem.message}"
            yield ""
    for index, entry in enumerate(entries):
        if index:
            yield ""
        yield from _entry(entry, resolution, style)


def _since(entry: Entry) -> Version:
    """The version that every spelling of a row needs; the oldest rows come first."""
    ways = [way.version for need in entry.needs if not need.because.text for way in need.ways]
    return min(ways, default=OLDEST)


def _entry(entry: Entry, resolution: Resolution | None, style: Style) -> Iterator[str]:
    fitting = [c for c in resolution.candidates if c.entry is entry] if resolution else []
    title = resolution.spelling if resolution is not None and fitting else entry.name
    yield from _title(title, "instruction", entry.summary, style)
    yield from _section("Syntax", cleandoc(entry.syntax).splitlines(), style)
    needs: list[str] = []
    for need in entry.needs:
        selector = need.because
        if fitting and not selector.about_operands and not selector.matches(fitting[0].choices):
            continue
        ways = " or ".join(text for text in map(_way, need.ways) if text)
        if ways:
            needs.append(f"{selector.text}: {ways}" if selector.text else ways)
    yield from _section("Needs", needs, style)
    excluded = [f"{when.text}: {sentence}" for when, sentence in entry.exceptions]
    yield from _section("Not", excluded, style)
    ended = [
        f"{end.when.text + ': ' if end.when.text else ''}{end.sentence} "
        f"(from PTX ISA {end.version}, sm_{end.number} on)"
        for end in entry.ends
    ]
    yield from _section("Ended", ended, style)
    yield from _section("Notes", entry.notes, style)
    yield from _section("Example", cleandoc(entry.example).splitlines(), style)


def _title(name: str, kind: str, summary: str, style: Style) -> Iterator[str]:
    yield f"{style.paint(name, 'bold')} ({kind})"
    yield summary


def _section(title: str, lines: list[str] | tuple[str, ...], style: Style) -> Iterator[str]:
    """Nothing where there is nothing to say."""
    if lines:
        yield ""
        yield style.paint(title, "bold")
        yield from (f"    {line}".rstrip() for line in lines)


def _way(requirement: Requirement) -> str:
    return str(requirement)
