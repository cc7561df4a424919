"""Spells the instruction table out as lines of PTX: what it allows, and what nearly is.

For every form: each choice of each slot by itself, a cover of all pairs of choices, both at the
least version and target and one below each; and near misses. Each `Case` carries the line and what
the table says of it, so that another judge (ptxas) can be compared.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.match import arrangements
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.entry import Entry, Need
from ptx_lsp.isa.schema.notation import Form, Place
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.target import LATEST, OLDEST, TARGETS, VERSIONS, Target, Version, satisfies
from tests.oracle.instructions.operands import argument, plain_argument, written
from tests.oracle.instructions.rows import Row, rows

Point = tuple[Version, Target]


class Case(NamedTuple):
    """A line to judge at a `.version` and `.target`, and whether the table accepts it there."""

    spelling: str
    operands: str
    version: Version
    target: Target
    accepted: bool
    why: str = ""

    @property
    def line(self) -> str:
        return f"{self.spelling} {self.operands};".replace(" ;", ";")


def cases(entry: Entry) -> Iterator[Case]:
    """Every case of a row, without repetitions."""
    seen: set[tuple[str, str, Version, Target]] = set()
    for case in _all(entry):
        if case[:4] not in seen:
            seen.add(case[:4])
            yield case


def _all(entry: Entry) -> Iterator[Case]:
    for form in entry.forms:
        single, paired = rows(form)
        for row in single:
            for spelling, arguments in _lines(entry, form, row):
                for point in _points(spelling, arguments, newest_point(spelling, arguments)):
                    yield _case(spelling, arguments, point)
        for row in paired:
            for spelling, arguments in _lines(entry, form, row):
                yield _case(spelling, arguments, newest_point(spelling, arguments))
        yield from _misses(entry, form, single)


def plain_lines(entry: Entry) -> Iterator[tuple[Form, Row, str, tuple[Argument, ...]]]:
    """A line of each form with each choice of each slot by itself, where the table accepts it."""
    for form in entry.forms:
        for row in rows(form)[0]:
            spelling = form.opcode + "".join(row)
            for places in arrangements(form.places):
                arguments = _arguments(entry, form, row, places)
                match = resolve(spelling).match(arguments)
                if match is not None and not match.problems:
                    yield form, row, spelling, arguments


OLD_POINTS: Final = tuple(
    (version, Target(number))
    for version in (Version(6, 3), Version(8, 8))
    for number in (50, 53, 60, 61, 70, 72)
)
"""Targets that only ptxas 12.9 still makes code for, and versions that it knows."""


def old_cases(entry: Entry) -> Iterator[Case]:
    """One line of each form that is of use at an old target, at all of them."""
    for form in entry.forms:
        single, _ = rows(form)
        lines = (line for row in single for line in _lines(entry, form, row))
        for spelling, arguments in lines:
            if any(not verdict(spelling, arguments, *point) for point in OLD_POINTS):
                yield from (_case(spelling, arguments, point) for point in OLD_POINTS)
                break


def _case(spelling: str, arguments: tuple[Argument, ...], point: Point) -> Case:
    why = verdict(spelling, arguments, *point)
    return Case(spelling, ", ".join(map(written, arguments)), *point, not why, why)


def verdict(
    spelling: str, arguments: tuple[Argument, ...], version: Version, target: Target
) -> str:
    """Why the table refuses a line; "" when it accepts it."""
    resolution = resolve(spelling)
    match = resolution.match(arguments)
    if match is None:
        return resolution.problems[0].message
    if match.problems:
        return match.problems[0].message
    for need in match.unmet(version, target):
        return f"[{need.because.text}] needs {' or '.join(map(str, need.ways))}"
    for end in match.ended(version, target):
        if not end.deprecated:
            return end.sentence
    return ""


# Lines: a row with operands.


def _lines(entry: Entry, form: Form, row: Row) -> Iterator[tuple[str, tuple[Argument, ...]]]:
    chance = random.Random("".join((form.text, *row)))
    for places in arrangements(form.places):
        plain = _arguments(entry, form, row, places)
        yield form.opcode + "".join(row), plain
        for at, place in enumerate(places):
            for other in _dressed(place, plain[at], _candidate(entry, form, row), chance):
                yield form.opcode + "".join(row), (*plain[:at], other, *plain[at + 1 :])


def _dressed(
    place: Place, plain: Argument, candidate: Candidate, chance: random.Random
) -> Iterator[Argument]:
    """The operand with what its place allows: a sign, one of its suffixes, a second destination."""
    if place.negatable and plain.kind == "register":
        yield plain._replace(negated=True)
    for suffix in chance.sample(place.suffixes, min(1, len(place.suffixes))):
        yield plain._replace(suffix=suffix)
    if place.paired == "{":
        yield plain._replace(pair=plain_argument(candidate.operand(Place(place.pair))))


def _candidate(entry: Entry, form: Form, row: Row) -> Candidate:
    chosen = zip(form.slots, row, strict=True)
    return Candidate(entry, form, Choices({slot.name: word for slot, word in chosen if word}))


def _arguments(
    entry: Entry, form: Form, row: Row, places: Sequence[Place]
) -> tuple[Argument, ...]:
    candidate = _candidate(entry, form, row)
    return _named(form.opcode, tuple(argument(candidate, place) for place in places))


def _named(opcode: str, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Chooses the function, or the label of a list or prototype, that agrees with the rest.

    The prelude numbers them: 1 has a parameter, 2 a result, 3 both. `L1` is a plain label, `L2`
    one of a list of branch targets, and `L10` the first of the prototypes.
    """
    returns = any(given.kind == "list" for given in arguments[:1])
    takes = any(given.kind == "list" for given in arguments[1:])
    number = 2 * returns + takes
    label = {"brx": 2, "call": 10 + number}.get(opcode, 1)
    values = {"function": number, "label": label}
    return tuple(given._replace(value=values.get(given.kind, given.value)) for given in arguments)


# Points: where to judge a line.


def newest_point(spelling: str, arguments: tuple[Argument, ...]) -> Point:
    """The newest version, and a target that serves."""
    needs = _needs(spelling, arguments)
    for target in reversed(TARGETS):
        usual = target.number not in (101, 82, 21) and _met(needs, LATEST, target)
        if usual and not _refused(spelling, arguments, LATEST, target):
            return LATEST, target
    for version, target in ((v, t) for v in reversed(VERSIONS) for t in TARGETS):
        exists = TARGETS[target] <= version and _met(needs, version, target)
        if exists and not _refused(spelling, arguments, version, target):
            return version, target
    return LATEST, Target(121, "a")


def _refused(
    spelling: str, arguments: tuple[Argument, ...], version: Version, target: Target
) -> bool:
    match = resolve(spelling).match(arguments)
    return match is not None and any(
        not end.deprecated for end in match.ended(version, target)
    )


def _needs(spelling: str, arguments: tuple[Argument, ...]) -> tuple[Need, ...]:
    match = resolve(spelling).match(arguments)
    return match.needs if match is not None else ()


def _met(needs: Sequence[Need], version: Version, target: Target) -> bool:
    return all(any(satisfies(way, version, target) for way in need.ways) for need in needs)


def _points(
    spelling: str, arguments: tuple[Argument, ...], top: Point
) -> Iterator[Point]:
    """The top, the least version and target, one below each, and every suffix that counts."""
    yield top
    match = resolve(spelling).match(arguments)
    if match is None or match.problems:
        return
    needs = match.needs
    least = _least(needs)
    if least is not None:
        yield least
        yield from _below(*least)
    features = {t for need in needs for way in need.ways for t in way.targets if t.suffix}
    for feature in features:
        yield LATEST, feature
        yield LATEST, Target(feature.number)
        other = Target(feature.number, "f" if feature.suffix == "a" else "a")
        if other in TARGETS:
            yield LATEST, other
    if features:
        yield LATEST, Target(90, "a")
    for end in match.ends:
        target = next((t for t in TARGETS if t.number >= max(end.number, 10)), Target(90))
        yield max(end.version, TARGETS[target]), target
        yield from _below(end.version, target)


def _least(needs: Sequence[Need]) -> Point | None:
    points = (
        (version, target)
        for version in VERSIONS
        if version != (5, 1)
        for target, since in TARGETS.items()
        if since <= version and _met(needs, version, target)
    )
    return next(points, None)


def _below(version: Version, target: Target) -> Iterator[Point]:
    """The same target one version before, and the same version one target before."""
    if version > OLDEST:
        before = VERSIONS[VERSIONS.index(version) - 1]
        if before == (5, 1):
            before = Version(5, 0)
        if TARGETS[target] <= before:
            yield before, target
    lower = [
        one
        for one, since in TARGETS.items()
        if one.number < target.number and not one.suffix and since <= version
    ]
    if lower:
        yield version, lower[-1]


# Near misses.


def _misses(entry: Entry, form: Form, single: Sequence[Row]) -> Iterator[Case]:
    good = [row for row in single if resolve(form.opcode + "".join(row)).ok][:3]
    for row in good:
        words = [word for word in row if word]
        places = arrangements(form.places)[0]
        arguments = _arguments(entry, form, row, places)
        for changed in _wrong_words(entry, words):
            spelling = form.opcode + "".join(changed)
            yield _case(spelling, arguments, newest_point(spelling, arguments))
        spelling = form.opcode + "".join(words)
        top = newest_point(spelling, arguments)
        for broken in _wrong_operands(arguments):
            yield _case(spelling, broken, top)


STRANGERS = (".sat", ".ftz", ".rn", ".global", ".cc", ".wide", ".relu", ".s32", ".f32", ".lo")


def _wrong_words(entry: Entry, words: list[str]) -> Iterator[list[str]]:
    """A foreign or a neighbour's modifier, one left out, two swapped, one repeated."""
    neighbours = dict.fromkeys(word for form in entry.forms for word in sorted(form.words))
    for word in (*tuple(neighbours)[:24], *STRANGERS):
        if word not in words:
            yield [*words[:-1], word, *words[-1:]]
            yield [*words[:-1], word]
    for at in range(len(words)):
        yield words[:at] + words[at + 1 :]
        yield words[: at + 1] + words[at:]
        if at:
            yield [*words[: at - 1], words[at], words[at - 1], *words[at + 1 :]]
    if len(words) > 2:
        yield words[::-1]


_REGISTERS = (".pred", ".b16", ".s16", ".u32", ".s32", ".f32", ".b32", ".u64", ".s64", ".f64",
              ".b64", ".f16", ".b8")


def _wrong_operands(arguments: tuple[Argument, ...]) -> Iterator[tuple[Argument, ...]]:
    """Each operand as a register of every type and as every other kind; one more and one less."""
    others = (
        Argument("integer", value=1),
        Argument("float"),
        Argument("single"),
        Argument("address", parts=(Argument("register", ".u64"),)),
        Argument("vector", parts=(Argument("register", ".b32"),) * 2),
        Argument("variable", ".u32", ".global"),
        Argument("special", ".u32|.u16"),
    )
    for at in range(len(arguments)):
        for other in (*(Argument("register", type) for type in _REGISTERS), *others):
            if arguments[at].kind == "label" and other.kind == "variable":
                continue  # a table of functions is one, too: what it holds decides
            if arguments[at].kind != "address" or other.kind != "register":
                yield (*arguments[:at], other, *arguments[at + 1 :])
            else:
                inner = Argument("address", parts=(other, *arguments[at].parts[1:]))
                yield (*arguments[:at], inner, *arguments[at + 1 :])
    yield arguments[:-1]
    if arguments:
        yield (*arguments, arguments[-1])
