"""Whether a spelling, finished or not, is possible at a `.version` and `.target`."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.resolve import possible_next, resolve, unfinished
from ptx_lsp.isa.target import Target, Version, satisfies


@lru_cache(maxsize=4096)
def is_possible(spelling: str, version: Version | None, target: Target | None) -> bool:
    """Whether a spelling is legal, or may become so by more modifiers."""
    found = resolve(spelling)
    if not found.ok:
        return bool(unfinished(spelling)) and not is_excluded(spelling)
    return any(
        is_supported(one, version, target) and not _has_ended(one, version, target)
        for one in found.candidates
    )


def is_excluded(spelling: str) -> bool:
    """Whether an exception of the table rejects a spelling that no modifier can follow."""
    found = resolve(spelling)
    is_exception = bool(found.problems) and all(one.kind == "excluded" for one in found.problems)
    return is_exception and not possible_next(spelling)


def is_supported(candidate: Candidate, version: Version | None, target: Target | None) -> bool:
    """Whether a version and a target support a form with its modifiers; True if they are unknown."""
    if version is None or target is None:
        return True
    return all(
        any(satisfies(way, version, target) for way in need.ways)
        for need in candidate.entry.needs
        if not need.because.about_operands and need.because.matches(candidate.choices)
    )


def _has_ended(candidate: Candidate, version: Version | None, target: Target | None) -> bool:
    return version is not None and target is not None and any(
        not end.deprecated and end.reached(version, target) and end.when.matches(candidate.choices)
        for end in candidate.entry.ends
    )
