"""`--explain mul.wide.u32`: describes an instruction, or one of its spellings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

from ptx_lsp.cli.explanations.sections import prose, section, statements, table, title
from ptx_lsp.isa.description.describe import concerns, describe_operands, describe_selector, since
from ptx_lsp.isa.description.syntax_text import syntax_text
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.resolve import Resolution, resolve
from ptx_lsp.isa.modifiers.lookup import Modifier, describe
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.table import entries
from ptx_lsp.lint.results.style import Style

_MOST = 16
"""The maximum number of listed modifiers or rejections; an instruction may have hundreds."""


def explain_instruction(spelling: str, style: Style) -> Iterator[str]:
    """All rows of an opcode. With modifiers: the rows that match the spelling, else the error."""
    rows = sorted(entries(spelling.partition(".")[0]), key=since)
    resolution = resolve(spelling) if "." in spelling else None
    if resolution is not None and resolution.ok:
        fitting = {candidate.entry.name: candidate.entry for candidate in resolution.candidates}
        rows = sorted(fitting.values(), key=since)
    elif resolution is not None:
        named = [row for row in rows if row.name == spelling]
        rows = named or rows
        if not named:
            for problem in resolution.problems:
                yield f"{style.paint(spelling, 'bold')}: {problem.message}"
            yield ""
    for index, row in enumerate(rows):
        if index:
            yield ""
        yield from _entry(row, resolution, style)


def _entry(entry: Entry, resolution: Resolution | None, style: Style) -> Iterator[str]:
    fitting = [c for c in resolution.candidates if c.entry is entry] if resolution else []
    name = resolution.spelling if resolution is not None and fitting else entry.name
    yield from title(name, "instruction", entry.summary, style)
    yield from section("Syntax", _syntax(entry, fitting), style)
    yield from section("Modifiers", _modifiers(entry, name if fitting else ""), style)
    yield from section("Operands", _operands(fitting), style)
    yield from section("Results", _results(entry, fitting, name), style)
    yield from section("Needs", prose(_needs(entry, fitting)), style)
    yield from section("Refused", prose(_refused(entry, fitting)), style)
    yield from section("Ended", prose(_ended(entry, fitting)), style)
    yield from section("Notes", prose(entry.notes), style)
    yield from section("Example", cleandoc(entry.example).splitlines(), style)


def _syntax(entry: Entry, fitting: list[Candidate]) -> list[str]:
    """With a spelling, the forms that it fits."""
    forms = {candidate.form for candidate in fitting}
    lines = statements(syntax_text(entry.syntax, forms))
    left = len(entry.forms) - len(forms) if fitting else 0
    return [*lines, f"({left} more: --explain {entry.name})"] if left else lines


def _modifiers(entry: Entry, spelling: str) -> list[str]:
    """The modifiers of the spelling, in its order. Without modifiers: all modifiers except types, if there
    are not too many.
    """
    if spelling:
        words = [f".{word}" for word in spelling.split(".")[1:]]
        found = [describe(entry.opcode, word) for word in dict.fromkeys(words)]
        return table((one.name, one.summary) for one in found if one is not None)
    every = dict.fromkeys(
        choice for form in entry.forms for slot in form.slots for choice in slot.choices
    )
    described = [one for word in every if (one := describe(entry.opcode, word)) is not None]
    rows = _families([one for one in described if one.kind == "modifier"])
    more = [f"and {len(rows) - _MOST} more; use --explain with the dot for details"]
    return table(rows[:_MOST]) + (more if len(rows) > _MOST else [])


def _families(described: list[Modifier]) -> list[tuple[str, str]]:
    """One representative of the modifiers that differ only in numbers."""
    families: dict[tuple[str, str], list[Modifier]] = {}
    for one in described:
        family = (re.sub(r"\d+", "0", one.name), re.sub(r"\d+|One|s\b", "0", one.summary))
        families.setdefault(family, []).append(one)
    return [
        (f"{first.name} ..." if others else first.name, first.summary)
        for first, *others in families.values()
    ]


def _operands(fitting: list[Candidate]) -> list[str]:
    """Each operand of the matching forms, without duplicates; adjacent operands with the same requirements
    share a line.
    """
    rows: list[tuple[str, str]] = []
    seen: set[tuple[str, str]] = set()
    for candidate in fitting:
        fresh = [row for row in describe_operands(candidate) if row not in seen]
        seen.update(fresh)
        for name, text in fresh:
            if rows and rows[-1][1] == text:
                rows[-1] = (f"{rows[-1][0]}, {name}", text)
            else:
                rows.append((name, text))
    return table(rows)


def _results(entry: Entry, fitting: list[Candidate], spelling: str) -> list[str]:
    """The results of a spelling for values at the limits of its types."""
    if not fitting or entry.meaning is None:
        return []
    from ptx_lsp.executor.launching.preview import (
        preview_instruction,  # NumPy is loaded for this only
    )

    found = preview_instruction(spelling)
    heads = (*found.operands, *found.results)
    rows = [heads, *((*row.operands, *row.results) for row in found.rows)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(heads))]
    middle = len(found.operands)
    lines: list[str] = []
    for row in rows if found.rows else ():
        cells = [f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)]
        arrow = "    " if row is heads else " -> "
        lines.append("  ".join(cells[:middle]) + arrow + "  ".join(cells[middle:]))
    return [*lines, found.note] if lines and found.note else lines


def _needs(entry: Entry, fitting: list[Candidate]) -> list[str]:
    lines: list[str] = []
    for need in entry.needs:
        ways = " or ".join(text for text in map(str, need.ways) if text)
        if ways and concerns(need.because, fitting):
            lines.append(f"{describe_selector(need.because)}: {ways}" if need.because.text else ways)
    return lines or ["any PTX ISA version and target"]


def _refused(entry: Entry, fitting: list[Candidate]) -> list[str]:
    sentences = list(dict.fromkeys(
        sentence for when, sentence in entry.exceptions if concerns(when, fitting)
    ))
    more = [f"and {len(sentences) - _MOST} more"] if len(sentences) > _MOST else []
    return sentences[:_MOST] + more


def _ended(entry: Entry, fitting: list[Candidate]) -> Iterator[str]:
    for end in entry.ends:
        if concerns(end.when, fitting):
            named = f"{describe_selector(end.when)}: " if end.when.text else ""
            yield f"{named}{end.sentence} (from PTX ISA {end.version}, sm_{end.number} on)"
