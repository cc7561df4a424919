"""Checks requirements against the version and target of a file."""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.isa.target import Requirement, satisfies
from ptx_lsp.model.module import Module


def is_met(module: Module, ways: Iterable[Requirement]) -> bool | None:
    """Whether the file meets one of `ways`; None if its version or target is unknown."""
    version, target = module.version, module.target
    if version is None or target is None:
        return None
    return any(satisfies(way, version, target) for way in ways)


def met_in_words(module: Module, ways: Iterable[Requirement], because: str = "") -> str:
    """A line for people: `needs PTX ISA 8.0 and sm_90 or higher ✓`."""
    listed = tuple(ways)
    texts = [text for text in map(str, listed) if text]
    if not texts:
        return ""
    wanted = f"{f'{because}: ' if because else ''}requires {', or '.join(texts)}"
    met = is_met(module, listed)
    if met is None:
        return wanted
    if met:
        return f"{wanted} ✓"
    return f"{wanted} ✗ (this file: PTX ISA {module.version}, {module.target})"
