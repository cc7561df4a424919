"""The modifiers that an instruction lacks, and that make it whole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ptx_lsp.isa.matching.verdict import judge
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.notation import Slot
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.target import Target, Version
from ptx_lsp.named_tuple import NamedTuple

_MOST_TRIED = 200
"""Spellings; where there are more, it is hardly one of them alone."""


class Insertion(NamedTuple):
    """A modifier to be inserted after modifier number `behind` of a spelling; 0 is the opcode."""

    behind: int
    modifier: str


@lru_cache(maxsize=4096)
def ways(
    spelling: str,
    arguments: tuple[Argument, ...],
    version: Version | None,
    target: Target | None,
    most: int,
    address_size: int = 64,
) -> tuple[tuple[Insertion, ...], ...]:
    """The insertions that make a spelling match its operands, the version and the target: each way; empty
    where there are more than `most`.

    What a form demands is inserted; where it demands nothing more, one of its optional modifiers. A way that
    inserts what another way leaves out besides is none (`.cta.popc` beside `.popc`).
    """
    found: dict[str, tuple[Insertion, ...]] = {}
    for tried, (completed, inserted) in enumerate(_completed(spelling)):
        if tried == _MOST_TRIED:
            return ()
        if completed not in found and judge(completed, arguments, version, target, address_size) is None:
            found[completed] = inserted
            if len(found) > most:
                return ()
    return tuple(way for way in found.values() if not any(set(other) < set(way) for other in found.values()))


def _completed(spelling: str) -> Iterator[tuple[str, tuple[Insertion, ...]]]:
    """The spellings that the forms of an opcode make of this one, with what they insert."""
    opcode, *modifiers = spelling.split(".")
    words = tuple(f".{modifier}" for modifier in modifiers)
    for entry in table.entries(opcode):
        for form in entry.forms:
            inserted: tuple[Insertion, ...] = ()
            for inserted in _ways(form.slots, words, 0, optional=False):
                yield opcode + _with(words, inserted), inserted
            if not inserted:
                for inserted in _ways(form.slots, words, 0, optional=True):
                    yield opcode + _with(words, inserted), inserted


def _ways(
    slots: tuple[Slot, ...], words: tuple[str, ...], index: int, optional: bool
) -> Iterator[tuple[Insertion, ...]]:
    """What to insert for `words` from `index` on to fill `slots` in order, `optional` with one modifier
    that the form does not demand.
    """
    if not slots:
        if index == len(words) and not optional:
            yield ()
        return
    slot, rest = slots[0], slots[1:]
    if index < len(words) and words[index] in slot.choices:
        yield from _ways(rest, words, index + 1, optional)
    if slot.groups:
        yield from _ways(rest, words, index, optional)
    if not slot.groups or optional:
        for following in _ways(rest, words, index, optional and not slot.groups):
            for choice in slot.choices:
                yield (Insertion(index, choice), *following)


def _with(words: tuple[str, ...], inserted: tuple[Insertion, ...]) -> str:
    parts = list(words)
    for index, modifier in reversed(inserted):
        parts.insert(index, modifier)
    return "".join(parts)
