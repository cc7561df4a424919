"""Resolves a spelling (`mul.lo.s32`) against the table, and its operands against the row.

`resolve` looks at the opcode and its modifiers; `Resolution.match` at the operands;
`Match.unmet` at `.version` and `.target`. Each is computed once for each distinct input, because
a spelling repeats thousands of times in one file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import product
from typing import Final, Literal, NamedTuple

from ptx_lsp.isa import table
from ptx_lsp.isa.entry import End, Entry, Need
from ptx_lsp.isa.ignored import is_ignored
from ptx_lsp.isa.near import is_of_class, near, near_modifiers
from ptx_lsp.isa.notation import Form, Place, Slot
from ptx_lsp.isa.operand import (
    ALL_SINKS,
    SPACES,
    Argument,
    Operand,
    element,
    is_all_sinks,
    mismatch,
)
from ptx_lsp.isa.removed import REMOVED
from ptx_lsp.isa.selector import Choices
from ptx_lsp.isa.target import Target, Version, satisfies
from ptx_lsp.isa.types import TYPES

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


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or (`style`) merely unusual.

    `index` is the operand's number for the kinds "operand" and "narrow-pointer", else the modifier's: 0 is
    the opcode, 1 the first modifier. `choices` are what would be right here: nearest names, missing
    modifiers.
    """

    kind: ProblemKind
    index: int
    message: str
    choices: tuple[str, ...] = ()
    style: bool = False


@dataclass(frozen=True)
class Candidate:
    """A form that a spelling fits. `problems` are of style only."""

    entry: Entry
    form: Form
    choices: Choices
    problems: tuple[Problem, ...] = ()
    _wanted: dict[str, Operand] = field(
        default_factory=dict[str, Operand], compare=False, repr=False
    )

    def operand(self, place: Place) -> Operand:
        """What `place` wants in this spelling."""
        found = self._wanted.get(place.name)
        if found is None:
            found = self.entry.operand(self.form, place, self.choices)
            self._wanted[place.name] = found
        return found


@dataclass(frozen=True)
class Match:
    """The form that a spelling with its operands is, and what is wrong with them.

    `places` has, for each argument in order, its place and what is wanted there.
    """

    candidate: Candidate
    places: tuple[tuple[Place, Operand], ...]
    problems: tuple[Problem, ...]
    needs: tuple[Need, ...]
    ends: tuple[End, ...]

    @property
    def entry(self) -> Entry:
        return self.candidate.entry

    def unmet(self, version: Version, target: Target) -> tuple[Need, ...]:
        """The requirements that `.version` and `.target` do not meet."""
        return tuple(
            need
            for need in self.needs
            if not any(satisfies(way, version, target) for way in need.ways)
        )

    def ended(self, version: Version, target: Target) -> tuple[End, ...]:
        """What is refused or deprecated at this version and target."""
        return tuple(end for end in self.ends if end.reached(version, target))


@dataclass(frozen=True)
class Resolution:
    """What the table knows of a spelling: the forms it fits, or what is wrong with it."""

    spelling: str
    candidates: tuple[Candidate, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return bool(self.candidates)

    def match(self, arguments: tuple[Argument, ...]) -> Match | None:
        """The form that these operands fit, or the nearest with its problems.

        None when the spelling fits no form. Among equals the first form of the table wins.
        """
        return _match(self, arguments) if self.candidates else None

    def __hash__(self) -> int:
        return hash(self.spelling)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Resolution) and other.spelling == self.spelling


@lru_cache(maxsize=16384)
def resolve(spelling: str) -> Resolution:
    """Resolves an opcode with its modifiers, such as "ld.global.v4.f32"."""
    opcode, *modifiers = spelling.split(".")
    if len(modifiers) > _MOST_MODIFIERS:
        return _shortened(spelling, opcode, modifiers)
    words = tuple("." + modifier for modifier in modifiers)
    entries = table.entries(opcode)
    if not entries:
        if opcode in REMOVED:
            message = f"`{opcode}` was removed from PTX; {REMOVED[opcode]}"
            return Resolution(spelling, (), (Problem("unknown-opcode", 0, message),))
        found = near(opcode, table.opcodes())
        taking = tuple(one for one in found if _is_right(one, words))
        message = f"`{opcode}` is not an instruction of PTX"
        return Resolution(spelling, (), (Problem("unknown-opcode", 0, message, taking or found),))
    fitting = [_fit(entry, form, words) for entry in entries for form in entry.forms]
    exact = [fit for fit in fitting if not fit.faults]
    candidates = [fit.candidate for fit in exact if not _excluded(fit)]
    if candidates:
        in_order = [one for one in candidates if not one.problems]
        return Resolution(spelling, tuple(in_order or candidates), ())
    if exact:
        return Resolution(spelling, (), tuple(_excluded(exact[0])))
    best = min(fitting, key=lambda fit: fit.distance)
    return Resolution(spelling, (), _explain(best, fitting, words))


_MOST_MODIFIERS, _MOST_ALIKE = 100, 8
"""No form has so many modifiers, nor so many times the same; but ptxas takes `.sat` as often as you like."""


def _shortened(spelling: str, opcode: str, modifiers: list[str]) -> Resolution:
    """Of a spelling with very many modifiers: what the table knows of it without repetitions, and without the
    last ones of more than `_MOST_MODIFIERS`, which make it wrong.
    """
    seen = Counter[str]()
    kept = [0]
    for number, modifier in enumerate(modifiers, 1):
        seen[modifier] += 1
        if seen[modifier] <= _MOST_ALIKE:
            kept.append(number)
    behind = kept[_MOST_MODIFIERS + 1 :]
    kept = kept[: _MOST_MODIFIERS + 1]
    known = resolve(".".join((opcode, *(modifiers[number - 1] for number in kept[1:]))))

    def placed(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return tuple([replace(problem, index=kept[problem.index]) for problem in problems])

    if behind:
        message = f"`{opcode}` does not have so many modifiers"
        extra = Problem("modifier-not-allowed", behind[0], message)
        return Resolution(spelling, (), (*placed(known.problems), extra))
    candidates = tuple([replace(one, problems=placed(one.problems)) for one in known.candidates])
    return Resolution(spelling, candidates, placed(known.problems))


class _Fit(NamedTuple):
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


def _fit(entry: Entry, form: Form, words: tuple[str, ...]) -> _Fit:
    """Gives each modifier the first free slot that admits it, in order where that is possible.

    Types and state spaces must keep their order everywhere, modifiers only where they are pinned.
    """
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
        for at, slot in enumerate(slots):
            if holder[at] < 0 and word in slot.choices:
                found = at if at > last or found < 0 else found
                if at > last:
                    break
        if found < 0:
            if _repeats(words, number, form, entry.pinned):
                style.append(_repeated(number, word))
            elif number >= entry.pinned and is_ignored(form, words, number):
                style.append(_ignored(number, word))
            else:
                extra.append(number)
            continue
        if found < last:
            style.append(_disordered(number, word, form))
            if found < last_of.get(_kept_in_order(word), -1):
                misplaced.append(number)
                reversed_types += _kept_in_order(word) == "type"
            elif found < entry.pinned:
                misplaced.append(number)
        elif number < entry.pinned and found >= entry.pinned:
            misplaced.append(number)
        last = max(last, found)
        kept = _kept_in_order(word)
        if kept:
            last_of[kept] = max(last_of.get(kept, -1), found)
        holder[found] = number
    missing = _missing(slots, holder)
    choices = Choices(
        {slot.name: words[at] for slot, at in zip(slots, holder, strict=True) if at >= 0}
    )
    candidate = Candidate(entry, form, choices, tuple(style))
    return _Fit(candidate, tuple(extra), missing, tuple(misplaced), reversed_types)


def _kept_in_order(word: str) -> Literal["", "type", "space", "layout", "operation"]:
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
))


def _missing(slots: tuple[Slot, ...], holder: list[int]) -> tuple[Slot, ...]:
    """Empty slots that are required, by themselves or by a filled slot of their group."""
    filled = [slot.groups for slot, at in zip(slots, holder, strict=True) if at >= 0]
    return tuple(
        slot
        for slot, at in zip(slots, holder, strict=True)
        if at < 0
        and (
            not slot.groups or any(groups[: len(slot.groups)] == slot.groups for groups in filled)
        )
    )


def _excluded(fit: _Fit) -> list[Problem]:
    """The exceptions that the spelling alone decides."""
    entry, _, choices, _ = _parts(fit.candidate)
    return [
        Problem("excluded", 0, sentence)
        for when, sentence in entry.exceptions
        if not when.about_operands and when.matches(choices)
    ]


def _parts(candidate: Candidate) -> tuple[Entry, Form, Choices, tuple[Problem, ...]]:
    return candidate.entry, candidate.form, candidate.choices, candidate.problems


def _repeated(number: int, word: str) -> Problem:
    return Problem("repeated-modifier", number + 1, f"`{word}` stands twice", (), style=True)


def _ignored(number: int, word: str) -> Problem:
    return Problem("ignored-modifier", number + 1, f"`{word}` means nothing here", (), style=True)


def _disordered(number: int, word: str, form: Form) -> Problem:
    message = f"`{word}` usually stands earlier: `{form.text.split(' ')[0]}`"
    return Problem("modifier-order", number + 1, message, (), style=True)


def _explain(best: _Fit, fitting: Sequence[_Fit], words: tuple[str, ...]) -> tuple[Problem, ...]:
    """Why no form fits, told against the nearest one."""
    name, form = best.candidate.entry.opcode, best.candidate.form
    known = frozenset(word for fit in fitting for word in fit.candidate.form.words)
    problems: list[Problem] = []
    is_hopeless = sum(words[number] not in known for number in best.extra) > 1  # one of them stays wrong
    for number in best.extra:
        word = words[number]
        is_twice = word in words[:number]
        if is_twice and (word not in TYPES or _is_right(name, (*words[:number], *words[number + 1 :]))):
            message = f"`{word}` stands twice"
            problems.append(Problem("repeated-modifier", number + 1, message))
        elif word in known:
            message = f"`{word}` does not go with the other modifiers of this `{name}`"
            instead = _alike(word, _instead(best, fitting))
            problems.append(Problem("modifier-not-allowed", number + 1, message, instead))
        else:
            suits = _never if is_hopeless else partial(_is_right_with, name, words, number)
            meant = near_modifiers(word, sorted(known), suits) or _alike(word, _instead(best, fitting))
            message = f"`{name}` has no modifier `{word}`"
            problems.append(Problem("unknown-modifier", number + 1, message, meant))
    for number in best.misplaced if best.extra or not best.missing else ():
        where = "cannot stand here" if _kept_in_order(words[number]) == "type" else "must stand earlier"
        message = f"`{words[number]}` {where}: `{form.text.split(' ')[0]}`"
        problems.append(Problem("modifier-not-allowed", number + 1, message))
    if not best.extra:
        for slot in best.missing:
            choices = slot.choices if len(best.missing) > 1 else _instead(best, fitting)
            message = f"`{name}` needs {_listed(choices)}"
            problems.append(Problem("missing-modifier", 0, message, choices))
    return tuple(problems)


_SHOWN = 6


def _never(_: str) -> bool:
    return False


def _is_right(opcode: str, words: tuple[str, ...]) -> bool:
    """Whether there is such an instruction. `resolve` would say why not, which takes longer."""
    fits = (_fit(entry, form, words) for entry in table.entries(opcode) for form in entry.forms)
    return any(not fit.faults and not _excluded(fit) for fit in fits)


def _is_right_with(opcode: str, words: tuple[str, ...], number: int, modifier: str) -> bool:
    """The same with another modifier in place of the one at `number`."""
    return _is_right(opcode, (*words[:number], modifier, *words[number + 1 :]))


def _alike(word: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if is_of_class(name, word))


def _instead(best: _Fit, fitting: Sequence[_Fit]) -> tuple[str, ...]:
    """What may stand in place of the modifiers that do not fit, by any form that is as near as the best."""
    found: dict[str, None] = {}
    for fit in fitting:
        if fit.distance == best.distance and fit.extra == best.extra and len(fit.missing) == 1:
            found.update(dict.fromkeys(fit.missing[0].choices))
    return tuple(found)


@lru_cache(maxsize=65536)
def _match(resolution: Resolution, arguments: tuple[Argument, ...]) -> Match:
    best: Match | None = None
    for candidate in resolution.candidates:
        for places in arrangements(candidate.form.places):
            match = _judge(candidate, places, arguments)
            if not match.problems:
                return match
            if best is None or _weight(match) < _weight(best):
                best = match
    assert best is not None
    return best


def _weight(match: Match) -> tuple[bool, int, bool]:
    """How far the operands are from a form; one that they fit, but for an exception, is nearest."""
    kinds = [problem.kind for problem in match.problems]
    return ("operand-count" in kinds, len(kinds), "excluded" not in kinds)


def arrangements(places: tuple[Place, ...]) -> Iterator[tuple[Place, ...]]:
    """The operand lists of a form: every choice of its optional groups, shortest first."""
    groups = sorted({place.groups[-1] for place in places if place.groups})
    for chosen in product((False, True), repeat=len(groups)):
        kept = {group for group, keep in zip(groups, chosen, strict=True) if keep}
        if all(
            set(place.groups) <= kept
            for place in places
            if place.groups and place.groups[-1] in kept
        ):
            yield tuple(place for place in places if set(place.groups) <= kept)


def _judge(
    candidate: Candidate, places: tuple[Place, ...], arguments: tuple[Argument, ...]
) -> Match:
    wanted = tuple((place, candidate.operand(place)) for place in places)
    problems: list[Problem] = []
    if len(places) != len(arguments):
        message = f"{_counted(places)}, not {len(arguments)}"
        problems.append(Problem("operand-count", min(len(places), len(arguments)), message))
    given: set[str] = set()
    for number, ((place, operand), argument) in enumerate(zip(wanted, arguments, strict=False)):
        given.update(_facts(place, argument))
        why = _wrong(candidate, place, operand, argument if number else _without_sink(place, argument))
        if why:
            problems.append(Problem("operand", number, why))
    choices = candidate.choices
    entry = candidate.entry
    if not problems:
        problems.extend(
            Problem("excluded", 0, sentence)
            for when, sentence in entry.exceptions
            if when.about_operands and when.matches(choices, given)
        )
    needs = tuple(need for need in entry.needs if need.because.matches(choices, given))
    ends = tuple(end for end in entry.ends if end.when.matches(choices, given))
    return Match(candidate, wanted, tuple(problems), needs, ends)


def _without_sink(place: Place, first: Argument) -> Argument:
    """ptxas passes over `|_` behind a name that is the first operand, even the label of `bra`."""
    is_sink = first.pair is not None and first.pair.kind == "sink"
    return first._replace(pair=None) if is_sink and not place.paired and first.kind in _NAMED else first


_NAMED: Final = frozenset(("register", "label"))


def _counted(places: tuple[Place, ...]) -> str:
    names = ", ".join(place.name for place in places)
    match len(places):
        case 0:
            return "no operand is expected"
        case 1:
            return f"one operand is expected (`{names}`)"
        case count:
            return f"{count} operands are expected (`{names}`)"


def _listed(choices: Sequence[str]) -> str:
    """Choices for people: all of a few, else the first ones."""
    shown = [f"`{choice}`" for choice in choices[:_SHOWN]]
    return " or ".join(shown) if len(choices) <= _SHOWN else f"{', '.join(shown)} or another of its kind"


def _facts(place: Place, argument: Argument) -> Iterator[str]:
    """What selectors may ask of a given operand: `+c`, `+c:register`, `+p` for the pair."""
    yield place.name
    yield f"{place.name}:{argument.kind}"
    if argument.pair is not None:
        yield place.pair
    if argument.negated:
        yield f"{place.name}:negated"
    if argument.suffix:
        yield f"{place.name}:suffix"
    if argument.kind == "address" and argument.parts:
        yield f"{place.name}:{argument.parts[0].kind}"
    if argument.kind == "vector" and any(part.kind == "sink" for part in argument.parts):
        yield f"{place.name}:sink"
    for part, inner in zip(place.parts, argument.parts, strict=False):
        if place.shape != "plain" and part.name != place.name:
            yield from _facts(part, inner)


def _wrong(candidate: Candidate, place: Place, wanted: Operand, given: Argument) -> str:
    reads_predicate = wanted.type == ".pred" and wanted.access == "read"
    if given.negated and not place.negatable and not reads_predicate:
        return "this operand cannot be negated"
    if given.suffix and given.suffix not in place.suffixes:
        return f"`{given.suffix}` cannot follow this operand"
    if given.pair is not None and not place.paired:
        return "a second destination cannot stand here"
    if given.pair is None and place.paired == "|":
        return f"a second destination is expected here: `{place.name}|{place.pair}`"
    if given.pair is not None:
        if given.kind == given.pair.kind == "sink":
            return "`_|_` discards both results; one of them needs a register"
        why = mismatch(candidate.operand(Place(place.pair)), given.pair)
        if why:
            return f"the second destination: {why}"
    if given.kind == "vector" and (wrong := next((part.suffix for part in given.parts if part.suffix), "")):
        return f"`{wrong}` cannot follow an element of a vector"
    if place.shape == "plain" or given.kind == "unknown":
        return mismatch(wanted, given)
    if place.shape == "vector":
        return _parted(candidate, place, given, "vector")
    if place.shape == "address" and given.kind == "address":
        return mismatch(wanted, given) or _parted(candidate, place, given, "address")
    if place.shape == "list":
        return "" if given.kind == "list" else "a list in parentheses is expected here"
    if given.kind == "element" and "element" in wanted.kinds:
        return mismatch(wanted, given)
    return "" if given.kind in wanted.kinds else "an address is expected here"


def _parted(candidate: Candidate, place: Place, given: Argument, shape: str) -> str:
    """Checks what stands inside braces or brackets (an address's own base is checked before)."""
    if given.kind != shape:
        return f"`{{{', '.join(part.name for part in place.parts)}}}` is expected here"
    if shape == "vector" and is_all_sinks(given):
        return ALL_SINKS
    for parts in arrangements(place.parts):
        if len(parts) == len(given.parts):
            skip = 1 if shape == "address" else 0
            pairs = zip(parts[skip:], given.parts[skip:], strict=True)
            if shape == "vector":
                pairs = ((part, element(one)) for part, one in pairs)
            whys = (_wrong(candidate, part, candidate.operand(part), one) for part, one in pairs)
            return next((why for why in whys if why), "")
    return f"{len(place.parts)} values are expected here, not {len(given.parts)}"


@lru_cache(maxsize=4096)
def unfinished(spelling: str) -> tuple[Candidate, ...]:
    """The forms that a spelling may become by more modifiers, or is already."""
    opcode, *modifiers = spelling.split(".")
    words = tuple("." + modifier for modifier in modifiers)
    fits = [_fit(entry, form, words) for entry in table.entries(opcode) for form in entry.forms]
    return tuple(fit.candidate for fit in fits if not (fit.extra or fit.misplaced))


def possible_next(spelling: str) -> tuple[str, ...]:
    """The modifiers that may follow an unfinished spelling, in the order of the table."""
    found: dict[str, None] = {}
    for candidate in unfinished(spelling):
        slots = candidate.form.slots
        filled = [i for i, slot in enumerate(slots) if slot.name in candidate.choices]
        for slot in slots[max(filled, default=-1) + 1 :]:
            found.update(dict.fromkeys(slot.choices))
            if not slot.groups:
                break
    return tuple(found)
