"""Which form operands fit, of those that a spelling has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product

from ptx_lsp.isa.matching.elements import elements
from ptx_lsp.isa.matching.fit import Candidate, Problem
from ptx_lsp.isa.matching.mismatch import ALL_SINKS, bare_address, counted, is_all_sinks, mismatch
from ptx_lsp.isa.schema.entry import End, Entry, Need
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Argument, Operand
from ptx_lsp.isa.target import Target, Version, satisfies
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Match:
    """The form that a spelling with its operands is, and what is wrong with them.

    `places` has, for each argument in order, its place and what is wanted there.
    """

    __slots__ = ("candidate", "ends", "needs", "places", "problems")

    def __init__(
        self,
        candidate: Candidate,
        places: tuple[tuple[Place, Operand], ...],
        problems: tuple[Problem, ...],
        needs: tuple[Need, ...],
        ends: tuple[End, ...],
    ) -> None:
        self.candidate: Final = candidate
        self.places: Final = places
        self.problems: Final = problems
        self.needs: Final = needs
        self.ends: Final = ends

    @property
    def entry(self) -> Entry:
        return self.candidate.entry

    def unmet(self, version: Version, target: Target) -> tuple[Need, ...]:
        """The requirements that `.version` and `.target` do not meet."""
        found: list[Need] = []
        for need in self.needs:
            for way in need.ways:
                if satisfies(way, version, target):
                    break
            else:
                found.append(need)
        return tuple(found)

    def ended(self, version: Version, target: Target) -> tuple[End, ...]:
        """The rejected and deprecated parts at this version and target."""
        return tuple([end for end in self.ends if end.reached(version, target)])


def best_match(candidates: Sequence[Candidate], arguments: tuple[Argument, ...]) -> Match:
    """The first form that these operands fit, or the nearest one with its problems."""
    for candidate in candidates:
        for places in arrangements(candidate.form.places):
            if len(places) == len(arguments):  # otherwise the number of operands is wrong
                match = _judge(candidate, places, arguments)
                if not match.problems:
                    return match
    return min(
        [
            _judge(candidate, places, arguments)
            for candidate in candidates
            for places in arrangements(candidate.form.places)
        ],
        key=lambda match: _weight(match, arguments),
    )


def _weight(match: Match, arguments: tuple[Argument, ...]) -> tuple[bool, int, int]:
    """How far the operands are from a form; one that they fit, but for a constant above another, or else but
    for an exception, is nearest.
    """
    kinds = [problem.kind for problem in match.problems]
    bounded = any(
        operand.at_most and given.kind == "integer"
        for (_, operand), given in zip(match.places, arguments, strict=False)
    )
    return ("operand-count" in kinds, len(kinds), 0 if bounded else 1 if "excluded" in kinds else 2)


@lru_cache(maxsize=1 << 12)
def arrangements(places: tuple[Place, ...]) -> list[tuple[Place, ...]]:
    """The operand lists of a form: every choice of its optional groups, shortest first."""
    if not any(place.groups for place in places):
        return [places]
    found: list[tuple[Place, ...]] = []
    groups = sorted({place.groups[-1] for place in places if place.groups})
    for chosen in product((False, True), repeat=len(groups)):
        kept = {group for group, keep in zip(groups, chosen, strict=True) if keep}
        if all(
            set(place.groups) <= kept
            for place in places
            if place.groups and place.groups[-1] in kept
        ):
            found.append(tuple([place for place in places if set(place.groups) <= kept]))
    return found


def _judge(
    candidate: Candidate, places: tuple[Place, ...], arguments: tuple[Argument, ...]
) -> Match:
    wanted = tuple([(place, candidate.operand(place)) for place in places])
    entry, choices = candidate.entry, candidate.choices
    is_about_operands = entry.is_about_operands
    problems: list[Problem] = []
    if len(places) != len(arguments):
        message = f"{_counted(places)}, found {len(arguments)}"
        problems.append(Problem("operand-count", min(len(places), len(arguments)), message))
    given: set[str] = set()
    for number, ((place, operand), argument) in enumerate(zip(wanted, arguments, strict=False)):
        if is_about_operands:
            given.update(_facts(place, argument))
        why = _wrong(candidate, place, operand, argument if number else _without_sink(place, argument))
        if why:
            problems.append(Problem("operand", number, why))
    if not problems:
        for _, operand in wanted:
            if operand.at_most:
                problems.extend(_above_others(wanted, arguments))
                break
    if not problems and is_about_operands:
        problems.extend(
            Problem("excluded", 0, sentence)
            for when, sentence in entry.exceptions
            if when.about_operands and when.matches(choices, given)
        )
    needs = tuple([need for need in entry.needs if need.because.matches(choices, given)])
    ends = tuple([end for end in entry.ends if end.when.matches(choices, given)])
    return Match(candidate, wanted, tuple(problems), needs, ends)


def _above_others(
    wanted: tuple[tuple[Place, Operand], ...], arguments: tuple[Argument, ...]
) -> Iterator[Problem]:
    """Constants above the one of another operand that bounds them."""
    values = {
        place.name: counted(given.value, operand.wraps)
        for (place, operand), given in zip(wanted, arguments, strict=True)
        if given.kind == "integer" and given.value is not None
    }
    for number, (place, operand) in enumerate(wanted):
        bounds = [values[name] for name in operand.at_most.split("|") if name in values]
        if bounds and values.get(place.name, bounds[0]) > bounds[0]:
            value = values[place.name]
            yield Problem("operand", number, f"{value} is out of range: at most {bounds[0]}")


def _without_sink(place: Place, first: Argument) -> Argument:
    """ptxas passes over `|_` behind a name that is the first operand, even the label of `bra`."""
    is_sink = first.pair is not None and first.pair.kind == "sink"
    return first._replace(pair=None) if is_sink and not place.paired and first.kind in _NAMED else first


_NAMED: Final = frozenset(("register", "label"))
_CONSTANTS: Final = frozenset(("integer", "float", "single"))


def _counted(places: tuple[Place, ...]) -> str:
    names = ", ".join(place.name for place in places)
    match len(places):
        case 0:
            return "expected no operands"
        case 1:
            return f"expected one operand (`{names}`)"
        case count:
            return f"expected {count} operands (`{names}`)"


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
    if argument.kind == "vector" and _is_no_integer(argument.parts[0]):
        yield f"{place.name}:float-index"
    for part, inner in zip(place.parts, argument.parts, strict=False):
        if place.shape != "plain" and part.name != place.name:
            yield from _facts(part, inner)


def _is_no_integer(given: Argument) -> bool:
    """Whether it cannot be the index of an array texture: a float or a predicate."""
    type = TYPES.get(given.type) if given.kind == "register" else None
    is_other = type is not None and not type.is_integer and type.kind is not Kind.BITS
    return given.kind in ("float", "single") or is_other


def _takes_functions(candidate: Candidate, place: Place, wanted: Operand) -> bool:
    """ptxas takes a function's name for a constant of a type that the instruction names, unless its elements
    are smaller than 16 bits; `mov` and `cvta` have forms of their own for it.
    """
    is_source = wanted.access == "read" and "register" in wanted.kinds and not wanted.elements
    if not is_source or candidate.entry.name in ("mov", "cvta") or not isinstance(wanted.type, str):
        return False
    own = candidate.entry.own_types(place)
    type = TYPES.get(wanted.type)
    is_small = type is not None and type.kind is Kind.ALTERNATE and type.width < 16 * type.lanes
    return not is_small and (not own or not own.isdisjoint(candidate.choices.values()))


def _takes_any_predicate(wanted: Operand, given: Argument) -> bool:
    """Where ptxas takes a predicate, but as a destination, it takes a negated one."""
    if wanted.type == ".pred":
        return wanted.access == "read"
    if given.kind != "register" or given.type != ".pred":
        return False
    if "address" in wanted.kinds:
        return "register" in wanted.kinds
    return wanted.access == "read" and not mismatch(wanted, given)


def _wrong(candidate: Candidate, place: Place, wanted: Operand, given: Argument) -> str:
    if given.negated and not place.negatable and not _takes_any_predicate(wanted, given):
        return "this operand cannot be negated"
    if given.suffix and given.suffix not in place.suffixes:
        what = f"the name of a {given.kind}" if given.kind in ("label", "function") else "this operand"
        return f"`{given.suffix}` is not allowed after {what}"
    if given.pair is not None and not place.paired:
        return "a second destination is not allowed"
    if given.pair is None and place.paired == "|":
        return f"expected a second destination: `{place.name}|{place.pair}`"
    if given.pair is not None:
        if given.kind == given.pair.kind == "sink":
            return "`_|_` discards both results; at least one must be a register"
        why = mismatch(candidate.operand(Place(place.pair)), given.pair)
        if why:
            return f"the second destination: {why}"
    if given.kind == "function" and _takes_functions(candidate, place, wanted):
        return ""
    if given.kind == "vector" and (wrong := next((part.suffix for part in given.parts if part.suffix), "")):
        beside = " beside a constant" if any(part.kind in _CONSTANTS for part in given.parts) else ""
        return f"`{wrong}` is not allowed after an element of a vector{beside}"
    if given.kind == "vector" and not is_all_sinks(given):
        first = wanted if place.shape == "plain" else candidate.operand(place.parts[0])
        parts, problem = elements(given.parts, first, candidate.entry.opcode)
        if problem:
            return problem
        if parts != given.parts:
            given = given._replace(parts=parts)
    if place.shape == "plain" or given.kind == "unknown":
        return mismatch(wanted, given)
    if place.shape == "vector":
        return _parted(candidate, place, given, "vector")
    if place.shape == "address" and given.kind == "address":
        return mismatch(wanted, given) or _parted(candidate, place, given, "address")
    if place.shape == "address" and "register" in wanted.kinds:
        return bare_address(wanted, given)
    if place.shape == "list":
        return "" if given.kind == "list" else "expected a list in parentheses"
    if given.kind == "element" and "element" in wanted.kinds:
        return mismatch(wanted, given)
    return "" if given.kind in wanted.kinds else "expected an address"


def _parted(candidate: Candidate, place: Place, given: Argument, shape: str) -> str:
    """Checks what stands inside braces or brackets (an address's own base is checked before)."""
    if given.kind != shape:
        return f"expected `{{{', '.join(part.name for part in place.parts)}}}`"
    if shape == "vector" and is_all_sinks(given):
        return ALL_SINKS
    for parts in arrangements(place.parts):
        if len(parts) == len(given.parts):
            skip = 1 if shape == "address" else 0
            for part, one in zip(parts[skip:], given.parts[skip:], strict=True):
                why = _wrong(candidate, part, candidate.operand(part), one)
                if why:
                    return why
            return ""
    return f"expected {len(place.parts)} values, found {len(given.parts)}"
