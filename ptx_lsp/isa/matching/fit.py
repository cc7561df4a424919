"""How modifiers fit a form: in which of its slots each stands, and what is left over."""

from __future__ import annotations

import sys
from functools import lru_cache

from ptx_lsp.isa.matching.ignored_modifiers import IGNORABLE, is_ignored
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.notation import Form, Place, Slot
from ptx_lsp.isa.schema.operand import SPACES, Operand
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

ProblemKind = Literal[
    "unknown-opcode",
    "unknown-modifier",  # no form of this opcode has it
    "modifier-not-allowed",  # it belongs to another form
    "missing-modifier",
    "repeated-modifier",
    "modifier-order",  # ptxas accepts it: a matter of style
    "ignored-modifier",  # ptxas accepts it, though it means nothing here
    "excluded",  # an exception of the row, see the message
    "operand-count",
    "operand",  # wrong kind, type, size or value
    "narrow-pointer",  # less bits than `.address_size` says
]


class Problem:
    """One thing that is wrong, or (`style`) merely unusual.

    `index` is the operand's number for the kinds "operand" and "narrow-pointer", else the modifier's: 0 is
    the opcode, 1 the first modifier. `choices` are what would be right here: nearest names, missing
    modifiers.
    """

    __slots__ = ("choices", "index", "kind", "message", "style")

    def __init__(
        self,
        kind: ProblemKind,
        index: int,
        message: str,
        choices: tuple[str, ...] = (),
        style: bool = False,
    ) -> None:
        self.kind: Final = kind
        self.index: Final = index
        self.message: Final = message
        self.choices: Final = choices
        self.style: Final = style

    def at(self, index: int) -> Problem:
        """This problem, of another modifier or operand."""
        return Problem(self.kind, index, self.message, self.choices, self.style)


class Candidate:
    """A form that a spelling fits. `problems` are of style only."""

    __slots__ = ("_wanted", "choices", "entry", "form", "problems")

    def __init__(
        self,
        entry: Entry,
        form: Form,
        choices: Choices,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        self.entry: Final = entry
        self.form: Final = form
        self.choices: Final = choices
        self.problems: Final = problems
        self._wanted: Final[dict[str, Operand]] = {}

    def operand(self, place: Place) -> Operand:
        """The requirements of `place` in this spelling."""
        found = self._wanted.get(place.name)
        if found is None:
            found = self.entry.operand(self.form, place, self.choices)
            self._wanted[place.name] = found
        return found


class Fit(NamedTuple):
    """How well modifiers fit a form: `extra` and `missing` are what does not."""

    candidate: Candidate
    extra: tuple[int, ...]
    missing: tuple[Slot, ...]
    misplaced: tuple[int, ...]
    reversed_types: int
    """How many of those misplaced are types: in another order they are another instruction."""

    @property
    def faults(self) -> bool:
        return bool(self.extra or self.missing or self.misplaced)

    @property
    def distance(self) -> tuple[int, int]:
        faults = len(self.extra) + len(self.missing) + len(self.misplaced) + self.reversed_types
        return (faults, len(self.extra))


class Outline(NamedTuple):
    """A form with what is looked up in it for each spelling."""

    form: Form
    words: frozenset[str]
    """Its modifiers."""
    known: frozenset[str]
    """These, and those that ptxas ignores: others do not fit."""
    required: tuple[tuple[str, ...], ...]
    """The choices of its required slots."""
    slots_of: dict[str, tuple[int, ...]]
    """The numbers of the slots that admit each modifier."""


@lru_cache(maxsize=4096)  # limited, so that it is dropped with closed files (`server/memory.py`)
def outlines(entry: Entry) -> list[Outline]:
    """The forms of a row."""
    return list(map(_outline, entry.forms))


def _outline(form: Form) -> Outline:
    slots_of: dict[str, tuple[int, ...]] = {}
    for at, slot in enumerate(form.slots):
        for choice in slot.choices:
            slots_of[choice] = (*slots_of.get(choice, ()), at)
    words = frozenset(slots_of)
    required = tuple([slot.choices for slot in form.slots if not slot.groups])
    return Outline(form, words, words | IGNORABLE, required, slots_of)


def fits_without_faults(entry: Entry, words: tuple[str, ...]) -> list[Fit]:
    """The forms of a row that the modifiers fit. Most forms are ruled out at little cost."""
    distinct = frozenset(words)
    fits = [
        fit(entry, outline, words)
        for outline in outlines(entry)
        if distinct <= outline.known and not _least_faults(outline, distinct)
    ]
    return [found for found in fits if not found.faults]


def nearest_fits(entries: Iterable[Entry], words: tuple[str, ...]) -> list[Fit]:
    """The fits to the nearest forms of these rows, in their order; and to a few more."""
    every = [(entry, outline) for entry in entries for outline in outlines(entry)]
    distinct = frozenset(words)
    bounds = [(_least_faults(outline, distinct), number) for number, (_, outline) in enumerate(every)]
    found: dict[int, Fit] = {}
    least = sys.maxsize
    for bound, number in sorted(bounds):
        if bound > least:
            break
        one = found[number] = fit(*every[number], words)
        least = min(least, one.distance[0])
    return [found[number] for number in sorted(found)]


def _least_faults(outline: Outline, words: frozenset[str]) -> int:
    """A lower bound of the faults in `Fit.distance`."""
    faults = len(words - outline.known)
    for choices in outline.required:
        if words.isdisjoint(choices):
            faults += 1
    return faults


def fit(entry: Entry, outline: Outline, words: tuple[str, ...]) -> Fit:
    """Gives each modifier the first free slot that admits it, in order where that is possible.

    Types and state spaces must keep their order everywhere, modifiers only where they are pinned.
    """
    form = outline.form
    slots = form.slots
    holder: list[int] = [-1] * len(slots)
    extra: list[int] = []
    style: list[Problem] = []
    misplaced: list[int] = []
    reversed_types = 0
    last = -1
    last_of: dict[str, int] = {}
    for number, word in enumerate(words):
        found = -1
        for at in outline.slots_of.get(word, ()):
            if holder[at] < 0:
                found = at if at > last or found < 0 else found
                if at > last:
                    break
        if found < 0:
            if _repeats(words, number, form, entry.fixed_order_modifiers):
                style.append(_repeated(number, word))
            elif number >= entry.fixed_order_modifiers and is_ignored(form, words, number):
                style.append(_ignored(number, word))
            else:
                extra.append(number)
            continue
        if found < last:
            style.append(_disordered(number, word, form))
            if found < last_of.get(kept_in_order(word), -1):
                misplaced.append(number)
                reversed_types += kept_in_order(word) == "type"
            elif found < entry.fixed_order_modifiers:
                misplaced.append(number)
        elif number < entry.fixed_order_modifiers and found >= entry.fixed_order_modifiers:
            misplaced.append(number)
        last = max(last, found)
        kept = kept_in_order(word)
        if kept:
            last_of[kept] = max(last_of.get(kept, -1), found)
        holder[found] = number
    missing = _missing(slots, holder)
    choices = Choices(
        {slot.name: words[at] for slot, at in zip(slots, holder, strict=True) if at >= 0}
    )
    candidate = Candidate(entry, form, choices, tuple(style))
    return Fit(candidate, tuple(extra), missing, tuple(misplaced), reversed_types)


def kept_in_order(word: str) -> Literal["", "type", "space", "layout", "operation"]:
    """Types keep their order among themselves (`.f32.f16`), state spaces too (copies: to, from).

    So do the layouts of two matrices, and what happens to their bits (`.xor.popc`). `.b1024` is
    no operand's type but the size of a tensor-map.
    """
    if (word in TYPES and word != ".b1024") or word in _FORMATS:
        return "type"
    if word in (".row", ".col"):
        return "layout"
    if word in (".xor", ".and", ".popc"):
        return "operation"
    return "space" if word.partition("::")[0] in SPACES else ""


_FORMATS: Final = (".b8x16", ".b6x16_p32", ".b4x16_p64", ".b2", ".b4")
"""Of a copy: to, from; of a sparse vector: those of its elements and of its indices."""


def _repeats(words: tuple[str, ...], number: int, form: Form, pinned: int) -> bool:
    """ptxas lets a plain flag be repeated (`.sat.sat`), but no type, no mode, nor `_ONCE`."""
    word = words[number]
    return (
        word in words[:number]
        and word not in TYPES
        and word not in _ONCE
        and "::" not in word
        and not word[1:].removeprefix("m")[:1].isdigit()  # a shape: .16x256b, .m8n8
        and any(slot.choices == (word,) for slot in form.slots[pinned:])
    )


_ONCE: Final = frozenset((
    ".rn", ".rz", ".rm", ".rp", ".ftz", ".oob", ".xorsign", ".abs", ".weak", ".volatile", ".nc",
    ".rna", ".rs", ".pzo", ".mmio", ".sys", ".global", ".proxy::readonly", ".aligned", ".alias",
    ".noComplete", ".trans", ".ashift", ".block_scale", ".sp", ".warpx4", ".down", ".b8x16",
    ".relaxed", ".release", ".acquire", ".cta", ".cluster", ".gpu", ".bulk_group", ".L1", ".L2",
    ".ca", ".cg", ".noinc", ".row", ".col", ".popc", ".and", ".read", ".tile", ".ignore_oob", ".cp_mask",
    ".tensormap", ".valid_addr", ".noftz", ".add", ".exch", ".cas", ".v2", ".v4",
    ".force_unnormalized_coords", ".is_canceled", ".get_first_ctaid", ".async", ".mbarrier_init",
    ".any", ".ballot", ".all", ".po", ".elemtype", ".global_address", ".global_stride", ".rank",
    ".swizzle_mode", ".swizzle_atomicity", ".interleave_layout", ".fill_mode", ".multimem", ".exclusive",
    ".acq_rel", ".fabric", ".b2",
))


def _missing(slots: tuple[Slot, ...], holder: list[int]) -> tuple[Slot, ...]:
    """Empty slots that are required, by themselves or by a filled slot of their group."""
    empty = [slot for slot, at in zip(slots, holder, strict=True) if at < 0]
    if not empty:
        return ()
    begun: set[tuple[int, ...]] = {()}
    for slot, at in zip(slots, holder, strict=True):
        if at >= 0:
            begun.update([slot.groups[:depth] for depth in range(1, len(slot.groups) + 1)])
    return tuple([slot for slot in empty if slot.groups in begun])


def excluded(found: Fit) -> list[Problem]:
    """The exceptions that the spelling alone decides."""
    return [
        Problem("excluded", 0, sentence)
        for when, sentence in found.candidate.entry.exceptions
        if not when.about_operands and when.matches(found.candidate.choices)
    ]


def is_right(opcode: str, words: tuple[str, ...]) -> bool:
    """Whether there is such an instruction. `resolve` would say why not, which takes longer."""
    fits = (one for entry in table.entries(opcode) for one in fits_without_faults(entry, words))
    return any(not excluded(one) for one in fits)


def _repeated(number: int, word: str) -> Problem:
    return Problem("repeated-modifier", number + 1, f"duplicate modifier `{word}`", (), style=True)


def _ignored(number: int, word: str) -> Problem:
    return Problem("ignored-modifier", number + 1, f"`{word}` has no effect", (), style=True)


def _disordered(number: int, word: str, form: Form) -> Problem:
    message = f"`{word}` should come earlier: `{form.text.split(' ')[0]}`"
    return Problem("modifier-order", number + 1, message, (), style=True)
