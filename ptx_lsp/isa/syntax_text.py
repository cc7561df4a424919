"""The *Syntax* of a row for people: a statement on each line, and only what one spelling needs."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

_DASHES: Final = re.compile(r"\n\s*-{3,}\s*\n")


def syntax_text(text: str, forms: Collection[str] = ()) -> str:
    """The notation with each statement on a line of its own; blocks are separated by dashes.

    With `forms` (texts of `Form`), only these and the definitions that they use.
    """
    blocks = [_statements(block) for block in _DASHES.split(text)]
    if not forms:
        return "\n-----\n".join("\n".join(block) for block in blocks)
    shown: list[str] = []
    for block in blocks:
        kept = [one for one in block if " ".join(one.rstrip(";").split()) in forms]
        if kept:
            own = _definitions(block)
            others: dict[str, str] = {}
            for other in blocks:
                others = _definitions(other) | others  # the first one counts, as in `notation`
            shown += [line for line in [*kept, *_used(kept, others | own)] if line not in shown]
    return "\n".join(shown)


def _statements(block: str) -> list[str]:
    found = (re.sub(r"\s*\n\s*", " ", one.strip()) for one in block.split(";"))
    return [f"{one};" for one in found if one]


def _definitions(block: list[str]) -> dict[str, str]:
    """Name of a slot -> the statement that defines it."""
    return {
        name.strip(): line
        for line in block
        if line.startswith((".", "::"))
        for name in line.partition("{")[0].split("=")[:-1]
    }


def _used(lines: list[str], definitions: dict[str, str]) -> list[str]:
    """The definitions that lines name, or that such definitions name in turn."""
    used: list[str] = []
    waiting = list(lines)
    while waiting:
        words = set(re.findall(r"(?:\.|::)[\w:]+", waiting.pop(0)))
        words |= {f"::{word.rpartition('::')[2]}" for word in words if "::" in word}
        fresh = [line for name, line in definitions.items() if name in words and line not in used]
        fresh = list(dict.fromkeys(fresh))
        used += fresh
        waiting += [line.partition("{")[2] for line in fresh]
    return used
