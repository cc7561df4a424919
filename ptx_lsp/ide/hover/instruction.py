"""Hover text for an instruction and its requirements, from the table row that validation and the executor
also use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from typing import TypeAlias

from ptx_lsp.executor.arithmetic.literals import bits, constant
from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.ide.cursor.needs_met import met_in_words
from ptx_lsp.isa.description.describe import concerns, describe_operands, describe_selector, since
from ptx_lsp.isa.description.syntax_text import syntax_text
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import Resolution, resolve
from ptx_lsp.isa.modifiers import lookup as modifiers
from ptx_lsp.isa.schema.entry import Entry, Need
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.schema.table import entries
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.syntax import nodes

Constants: TypeAlias = tuple[tuple[int, int], ...]
"""The indices of the constants among the operands of an instruction, and their values."""

MANUAL = "https://docs.nvidia.com/cuda/parallel-thread-execution/#"
_MOST = 8
_MOST_CHOICES = 16


def instruction_text(function: Function, instruction: nodes.Instruction) -> str:
    """The text for an instruction of a function: its row, narrowed by its spelling and operands."""
    given = arguments(function, instruction)
    operands = [_text(function, operand) for operand in instruction.operands]
    constants = tuple(_constants(instruction, given))
    return spelling_text(module_of(function), instruction.opcode.text, given, operands, constants)


def _constants(instruction: nodes.Instruction, given: tuple[Argument, ...]) -> Iterator[tuple[int, int]]:
    """The bits of the constants among the operands; the value of one that no register can replace."""
    match = resolve(instruction.opcode.text).match(given)
    if match is None:
        return
    for at, ((_, wanted), operand) in enumerate(zip(match.places, instruction.operands, strict=False)):
        value = constant(operand)
        type = TYPES.get(str(wanted.type).partition("|")[0])
        if "register" in wanted.kinds and type is not None:
            found = bits(operand, type.width, type.kind is Kind.FLOAT)
            if found is not None:
                yield at, found
        elif isinstance(value, int):
            yield at, value


def spelling_text(
    module: Module,
    spelling: str,
    given: tuple[Argument, ...] | None = None,
    operands: list[str] | None = None,
    constants: Constants = (),
) -> str:
    """The text for a spelling such as `mul.wide.u32`, or for an opcode alone. `operands` are the actual
    operands, and `given` the same in the terms of the table; `constants` are those among them.
    """
    resolution = resolve(spelling)
    if not resolution.ok:
        return _unresolved(module, spelling, resolution)
    match = resolution.match(given) if given is not None else None
    candidates = (match.candidate,) if match is not None else resolution.candidates
    entry = candidates[0].entry
    return paragraphs([
        f"**{spelling}**: {entry.summary}",
        fenced(_short(syntax_text(entry.syntax, {candidate.form for candidate in candidates}))),
        listed(_modifiers(entry, spelling)),
        _operands(candidates, match, operands or []),
        listed(_needs(module, entry, candidates, match)),
        listed(_objections(module, match)),
        _preview(spelling, constants),
        listed(entry.notes),
        _manual(entry),
    ])


def opcode_text(module: Module, opcode: str) -> str:
    """The text for an opcode without its modifiers: a summary of all its rows."""
    rows = sorted(entries(opcode), key=since)
    return paragraphs(
        part
        for row in rows[:_MOST]
        for part in (
            f"**{row.name}**: {row.summary}",
            fenced(_short(syntax_text(row.syntax))),
            listed(_needs(module, row, (), None)),
            f"Example: {code(cleandoc(row.example).splitlines()[0])}",
        )
    )


def _short(syntax: str) -> str:
    """The syntax with the first and last of long lists of choices."""

    def shortened(found: re.Match[str]) -> str:
        choices = found[1].split(",")
        if len(choices) <= _MOST_CHOICES:
            return found[0]
        first, second, last = (one.strip() for one in (*choices[:2], choices[-1]))
        return f"{{ {first}, {second}, ..., {last} }}"

    return re.sub(r"\{([^{}]*)\}(?=;)", shortened, syntax)


def modifier_text(module: Module, opcode: str, modifier: str, match: Match | None) -> str | None:
    """The meaning and requirements of one modifier of `opcode`; None if unknown."""
    found = modifiers.describe(opcode, modifier)
    if found is None:
        return None
    needs: list[str] = []
    for need in match.needs if match is not None else ():
        values = {value for term in need.because.terms if not term.negated for value in term.values}
        if modifier in values:
            needs.append(met_in_words(module, need.ways))
    kind = f" ({found.kind} of `{opcode}`)" if found.kind == "modifier" else f" ({found.kind})"
    return paragraphs([f"**{modifier}**{kind}: {found.summary}", listed(filter(None, needs))])


def _unresolved(module: Module, spelling: str, resolution: Resolution) -> str:
    opcode = spelling.partition(".")[0]
    if not entries(opcode):
        near = resolution.problems[0].choices if resolution.problems else ()
        hint = f" Did you mean {', '.join(map(code, near))}?" if near else ""
        return f"{code(opcode)} is not a PTX instruction.{hint}"
    messages = [problem.message for problem in resolution.problems] if "." in spelling else []
    return paragraphs([listed(messages), opcode_text(module, opcode)])


def _modifiers(entry: Entry, spelling: str) -> Iterator[str]:
    words = dict.fromkeys(f".{word}" for word in spelling.split(".")[1:])
    for word in words:
        found = modifiers.describe(entry.opcode, word)
        if found is not None:
            yield f"{code(word)} {found.summary}"


def _operands(candidates: tuple[Candidate, ...], match: Match | None, texts: list[str]) -> str:
    """Each operand once, with the actual operand if the form is known."""
    rows: dict[tuple[str, str], None] = {}
    for candidate in candidates:
        rows.update(dict.fromkeys(describe_operands(candidate)))
    here: dict[str, str] = {}
    if match is not None:
        for (place, _), text in zip(match.places, texts, strict=False):
            here[place.name] = text
    return listed(
        f"{code(name)}{f' = {code(here[name])}' if name in here else ''}: {text}"
        for name, text in rows
    )


def _needs(
    module: Module, entry: Entry, candidates: tuple[Candidate, ...], match: Match | None
) -> Iterator[str]:
    if match is not None:
        needs: tuple[Need, ...] = match.needs
    else:
        needs = tuple(need for need in entry.needs if concerns(need.because, candidates))
    lines = [met_in_words(module, need.ways, _because(need, match)) for need in needs]
    messages = [line for line in lines if line]
    yield from messages or ["any PTX ISA version and target"]


def _because(need: Need, match: Match | None) -> str:
    """The part with the requirement: of alternatives, the one in the spelling."""
    if match is None:
        return describe_selector(need.because)
    modifiers = match.candidate.choices.modifiers
    terms = [
        term._replace(values=term.values & modifiers or term.values) if not term.negated else term
        for term in need.because.terms
    ]
    return describe_selector(need.because._replace(terms=tuple(terms)))


def _objections(module: Module, match: Match | None) -> Iterator[str]:
    """Errors of the operands, and removed forms."""
    if match is None:
        return
    yield from (problem.message for problem in match.problems)
    if module.version is not None and module.target is not None:
        yield from (end.sentence for end in match.ended(module.version, module.target))


def _preview(spelling: str, constants: Constants) -> str:
    """The result for some operands and the given constants, computed as in the executor; empty if it is not a
    single value.
    """
    from ptx_lsp.executor.launching.preview import (
        preview_instruction,  # NumPy is imported only when a hover needs it
    )

    found = preview_instruction(spelling, seconds=_SECONDS, constants=constants)
    if not found.rows:
        return ""
    columns = [*found.operands, *found.results]
    lines = ["| " + " | ".join(map(code, columns)) + " |", "|" + " --- |" * len(columns)]
    for row in found.rows:
        cells = (*map(code, row.operands), *(f"**{code(one)}**" for one in row.results))
        lines.append("| " + " | ".join(cells) + " |")
    return paragraphs(["\n".join(lines), found.note])


_SECONDS = 0.25


def _manual(entry: Entry) -> str:
    return f"[PTX ISA: {entry.name}]({MANUAL}{entry.section})"


def _text(function: Function, operand: nodes.Operand) -> str:
    text = function.module.document.source.decoded(*function.span(operand))
    return " ".join(text.split())[:80]
