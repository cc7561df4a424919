"""The meaning of every modifier, in one sentence.

The sentences are text in the modules beside this one, `arithmetic`, `memory` and so on, read when one is
first asked for:

    .ftz | Subnormal inputs and results become zero of the same sign.
    mul mad | .hi .lo | Opcodes in front: what the modifiers mean for these alone.
    .m<M>n<N>k<K> | A pattern: <M> is a number, <word> a word; the sentence is filled in with them.
        A line that is indented continues the sentence.

Types and state spaces have their sentences in their own tables (`types`, `spaces`). Source: PTX ISA,
"Instruction Set".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from ptx_lsp.isa.modifiers import arithmetic, asynchronous, control, matrix, memory, texture
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.spaces import SPACES
from ptx_lsp.isa.types import TYPES
from ptx_lsp.named_tuple import NamedTuple

ModifierKind = Literal["modifier", "type", "state space"]


class Modifier(NamedTuple):
    """The meaning of `name`, with its dot: after `opcodes`, or after any opcode if that is empty."""

    name: str
    summary: str
    opcodes: tuple[str, ...] = ()
    kind: ModifierKind = "modifier"


class Description(NamedTuple):
    """One line of the texts: the meaning of modifiers after `opcodes`, or after any opcode if that is empty.
    """

    opcodes: frozenset[str]
    names: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    sentence: str

    def of(self, modifier: str) -> str | None:
        """The sentence, filled in; None where it is not about this modifier."""
        if modifier in self.names:
            return self.sentence
        found = next((one for pattern in self.patterns if (one := pattern.fullmatch(modifier))), None)
        if found is None:
            return None
        return re.sub(r"<(\w+)>", lambda place: found[place[1]], self.sentence)


@lru_cache(maxsize=4096)
def describe(opcode: str, modifier: str) -> Modifier | None:
    """The meaning of `modifier` (`.wide`) after `opcode` (`mul`, or all of `mul.wide.u32`).

    None if PTX has no such modifier, or has it only after other opcodes.
    """
    rows = _by_opcode()
    for user in (opcode.partition(".")[0], ""):
        for row in rows.get(user, ()):
            sentence = row.of(modifier)
            if sentence is not None:
                return Modifier(modifier, sentence, tuple(sorted(row.opcodes)))
    if modifier in TYPES:
        return Modifier(modifier, TYPES[modifier].summary, kind="type")
    if modifier in SPACES:
        return Modifier(modifier, SPACES[modifier].summary, kind="state space")
    return None


def meanings(modifier: str) -> tuple[Modifier, ...]:
    """All meanings of a modifier, each with the opcodes of the table that have it in this sense.

    Empty where no instruction has such a modifier.
    """
    found: dict[Modifier, list[str]] = {}
    for opcode in _users().get(modifier, ()):
        meaning = describe(opcode, modifier)
        if meaning is not None:
            found.setdefault(meaning._replace(opcodes=()), []).append(opcode)
    return tuple(meaning._replace(opcodes=tuple(users)) for meaning, users in found.items())


def modifiers() -> tuple[str, ...]:
    """Every modifier that an instruction of the table has, and what may follow an operand."""
    return tuple(_users())


@lru_cache(maxsize=1)
def descriptions() -> tuple[Description, ...]:
    """All lines of the texts; exact names come before patterns."""
    rows = [_description(line) for text in _TEXTS for line in _lines(text)]
    return tuple(sorted(rows, key=lambda row: bool(row.patterns)))


@lru_cache(maxsize=1)
def _by_opcode() -> dict[str, list[Description]]:
    """The lines about each opcode, and under "" those about any."""
    found: dict[str, list[Description]] = {}
    for row in descriptions():
        for opcode in row.opcodes or ("",):
            found.setdefault(opcode, []).append(row)
    return found


_TEXTS = (
    arithmetic.TEXT,
    memory.TEXT,
    asynchronous.TEXT,
    control.TEXT,
    texture.TEXT,
    matrix.TEXT,
)


def _lines(text: str) -> Iterator[str]:
    joined = re.sub(r"\n +", " ", text.strip())
    return (line for line in joined.splitlines() if line and not line.startswith("#"))


def _description(line: str) -> Description:
    """ValueError where a line is none of the shapes above."""
    *opcodes, names, sentence = (part.strip() for part in line.split(" | "))
    if len(opcodes) > 1 or not all(name.startswith(".") for name in names.split()):
        raise ValueError(f"not a description: {line}")
    users = frozenset(opcodes[0].split()) if opcodes else frozenset[str]()
    plain = frozenset(name for name in names.split() if "<" not in name)
    patterns = tuple(_pattern(name) for name in names.split() if "<" in name)
    return Description(users, plain, patterns, sentence)


def _pattern(name: str) -> re.Pattern[str]:
    """`<N>` is a number, `<word>` letters and digits."""
    parts = re.split(r"<(\w+)>", name)
    text = "".join(
        f"(?P<{part}>{r'[0-9]+' if part.isupper() else r'[0-9a-z]+'})" if index % 2 else re.escape(part)
        for index, part in enumerate(parts)
    )
    return re.compile(text)


@lru_cache(maxsize=1)
def _users() -> dict[str, tuple[str, ...]]:
    """modifier -> the opcodes that have it, in the order of the table."""
    found: dict[str, dict[str, None]] = {}
    for entry in table.all_entries():
        for form in entry.forms:
            suffixes = (word for place in form.places for word in _suffixes(place))
            for word in (*sorted(form.words), *suffixes):
                found.setdefault(word, {})[entry.opcode] = None
    return {word: tuple(sorted(opcodes)) for word, opcodes in found.items()}


def _suffixes(place: Place) -> Iterator[str]:
    yield from place.suffixes
    for part in place.parts:
        yield from _suffixes(part)
