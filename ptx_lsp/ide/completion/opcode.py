"""Opcodes, and the modifiers that the notation of their rows still allows."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.ide.completion.suggestion import Suggestion
from ptx_lsp.isa.description.describe import since
from ptx_lsp.isa.matching.possible import is_excluded, is_possible, is_supported
from ptx_lsp.isa.matching.resolve import possible_next, unfinished
from ptx_lsp.isa.modifiers import lookup as modifiers
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.target import Target, Version, satisfies
from ptx_lsp.model.module import Module

_UNSUPPORTED = 100
"""Added to the rank of opcodes that the file's version and target do not support."""
_LAST = frozenset((".cc",))
"""Modifiers that few instructions have, although their rows allow many."""


def opcodes(module: Module) -> tuple[Suggestion, ...]:
    """All opcodes; those supported by the file's version and target come first."""
    return _opcodes(module.version, module.target)


def next_modifiers(module: Module, spelling: str) -> tuple[Suggestion, ...]:
    """The modifiers that may follow `spelling`, in the order of the notation; supported ones come first."""
    return _next_modifiers(spelling, module.version, module.target)


def continues(module: Module, spelling: str, modifiers: str) -> bool:
    """Whether the modifiers that follow the cursor may continue a spelling."""
    return not modifiers or is_possible(spelling + modifiers, module.version, module.target)


@lru_cache(maxsize=64)
def _opcodes(version: Version | None, target: Target | None) -> tuple[Suggestion, ...]:
    found: list[Suggestion] = []
    for opcode in sorted(table.opcodes()):
        rows = sorted(table.entries(opcode), key=since)
        is_met = any(_is_met(row, version, target) for row in rows)
        rank = 0 if is_met else _UNSUPPORTED
        found.append(Suggestion(
            opcode, "opcode", opcode, rows[0].summary, rank, is_supported=is_met, key=f"opcode {opcode}"
        ))
    return tuple(found)


def _is_met(entry: Entry, version: Version | None, target: Target | None) -> bool:
    """Whether the requirements common to all spellings of a row are met."""
    if version is None or target is None:
        return True
    return all(
        any(satisfies(way, version, target) for way in need.ways)
        for need in entry.needs
        if not need.because.text
    )


@lru_cache(maxsize=1024)
def _next_modifiers(
    spelling: str, version: Version | None, target: Target | None
) -> tuple[Suggestion, ...]:
    opcode = spelling.partition(".")[0]
    found: list[Suggestion] = []
    for position, word in enumerate(possible_next(spelling)):
        described = modifiers.describe(opcode, word)
        candidates = unfinished(spelling + word)
        if not candidates or is_excluded(spelling + word):
            continue
        is_met = any(is_supported(candidate, version, target) for candidate in candidates) and (
            bool(possible_next(spelling + word)) or is_possible(spelling + word, version, target)
        )
        found.append(Suggestion(
            word, "type" if described is not None and described.kind == "type" else "modifier", word,
            described.summary if described is not None else "",
            position + _UNSUPPORTED * (word in _LAST),
            is_supported=is_met, key=f"modifier {spelling} {word}",
        ))
    return tuple(found)
