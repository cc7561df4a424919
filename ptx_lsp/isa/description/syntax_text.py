"""The *Syntax* of a row for people: a statement on each line, and only what one spelling needs."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ptx_lsp.isa.schema import notation
from ptx_lsp.isa.schema.notation import Form

_DASHES: Final = re.compile(r"\n\s*-{3,}\s*\n")


def syntax_text(text: str, forms: Collection[Form] = ()) -> str:
    """The notation with each statement on a line of its own; blocks are separated by dashes.

    With `forms`, only these and the definitions that they use.
    """
    blocks = [_statements(block) for block in _DASHES.split(text)]
    if forms:
        shared: dict[str, str] = {}
        for block in blocks:
            shared = _definitions(block) | shared  # the first one counts, as in `notation`
        blocks = [_part(block, shared, forms) for block in blocks]
    return "\n-----\n".join("\n".join(block) for block in blocks if block)


def _part(block: list[str], shared: dict[str, str], forms: Collection[Form]) -> list[str]:
    """The lines of a block that are among `forms`, with what they use."""
    own = _definitions(block)
    definitions = own | {name: line for name, line in shared.items() if name not in own}
    kept: list[str] = []
    for line in block:
        if not line.startswith((".", "::")):
            read = notation.read("\n".join((line, *_used([line], definitions))))
            kept += [line] if read[0] in forms else []
    return [*kept, *_used(kept, definitions)]


def _statements(block: str) -> list[str]:
    block = re.sub(r"//[^\n]*", "", block)
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
    """The definitions that lines name, in this order, and those that they name in turn."""
    used: dict[str, None] = {}
    waiting = list(lines)
    while waiting:
        words = re.findall(r"(?:\.|::)[\w:]+", waiting.pop(0))
        words += [f"::{tail}" for word in words for tail in word.split("::")[1:]]
        fresh = [definitions[word] for word in words if word in definitions]
        waiting += [line.partition("{")[2] for line in fresh if line not in used]
        used.update(dict.fromkeys(fresh))
    return list(used)
