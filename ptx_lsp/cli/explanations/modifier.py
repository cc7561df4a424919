"""`--explain .wide`, `--explain .e4m3`, `--explain .shared`: describes modifiers, types and state spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.cli.explanations.sections import prose, section, table, title
from ptx_lsp.isa import features
from ptx_lsp.isa.modifiers import lookup as modifiers
from ptx_lsp.isa.modifiers.lookup import Modifier
from ptx_lsp.isa.spaces import SPACES, StateSpace
from ptx_lsp.isa.target import Requirement
from ptx_lsp.isa.types import TYPES, Type
from ptx_lsp.lint.results.style import Style


def explain_word(name: str, style: Style) -> list[Iterator[str]]:
    """The meanings of a word with a dot: as a state space, as a type and as a modifier."""
    parts: list[Iterator[str]] = []
    meanings = modifiers.meanings(name)
    if name in SPACES:
        parts.append(_space(SPACES[name], _users(meanings, "state space"), style))
    if name in TYPES:
        parts.append(_type(TYPES[name], _users(meanings, "type"), style))
    found = [meaning for meaning in meanings if meaning.kind == "modifier"]
    if found:
        parts.append(_modifier(name, found, style))
    return parts


def word_names() -> list[str]:
    """The names that `explain_word` accepts, without the thousands of selectors such as `.b3210`."""
    words = [name for name in modifiers.modifiers() if not re.fullmatch(r"\.[bh]\d{2,}", name)]
    return [*SPACES, *TYPES, *words]


def needs(requirement: Requirement) -> list[str]:
    return [str(requirement) or "any PTX ISA version and target"]


def _users(meanings: tuple[Modifier, ...], kind: str) -> list[str]:
    return [opcode for meaning in meanings if meaning.kind == kind for opcode in meaning.opcodes]


def _space(space: StateSpace, users: list[str], style: Style) -> Iterator[str]:
    yield from title(space.name, "state space", space.summary, style)
    facts = [
        ("Access", space.access),
        ("Lifetime", space.lifetime),
        ("Initial values", "allowed in declarations" if space.initialisable else "none"),
    ]
    if space.deprecated:
        facts.append(("Deprecated", f"use {space.deprecated}"))
    yield from section("Properties", table(facts), style)
    yield from section("Needs", needs(space.since), style)
    yield from section("Instructions", prose([", ".join(users)]), style)


def _type(type: Type, users: list[str], style: Style) -> Iterator[str]:
    yield from title(type.name, "type", type.summary, style)
    if not type.declarable:
        yield from section("Registers", [f"only in instructions: {_register(type)}"], style)
    since = Requirement(type.since, ())
    yield from section("Needs", needs(features.TYPES.get(type.name, since)), style)
    yield from section("Instructions", prose([", ".join(users)]), style)


def _register(type: Type) -> str:
    holder = TYPES.get(f".b{type.width}")
    if holder is None or not holder.declarable:
        return "cannot be held in a register on its own"
    more = ", or a larger .bN that holds several" if type.width < _REGISTER else ""
    return f"held in registers declared as {holder.name}{more}"


_REGISTER = 32


def _modifier(name: str, meanings: list[Modifier], style: Style) -> Iterator[str]:
    """A single meaning is the summary; several are listed with their instructions."""
    if len(meanings) == 1:
        yield from title(name, "modifier", meanings[0].summary, style)
        yield from section("Instructions", prose([", ".join(meanings[0].opcodes)]), style)
        return
    yield from title(name, "modifier", "The meaning depends on the instruction.", style)
    for meaning in sorted(meanings, key=lambda one: -len(one.opcodes)):
        yield from section(", ".join(meaning.opcodes), prose([meaning.summary]), style)
