"""Rows of the instruction table: `instruction(...)` and the `Entry` it makes.

A row is data, read only when it is first asked for. Used as a decorator, `instruction` also gives
the row its meaning, the function that the executor runs; a row that is a bare call has none yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from ptx_lsp.isa.schema import notation, selector
from ptx_lsp.isa.schema.notation import Form, Place
from ptx_lsp.isa.schema.operand import Operand, reads, resolved, writes
from ptx_lsp.isa.schema.selector import Choices, Selector
from ptx_lsp.isa.target import (
    Requirement,
    Target,
    Version,
    effective,
    parse_requirement,
    parse_version,
)
from ptx_lsp.isa.types import TYPES
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from typing import Final

Meaning = Callable[..., object]
MeaningT = TypeVar("MeaningT", bound=Meaning)

Since = tuple[str, str, int | str] | tuple[str, str, int | str, str, int | str]
"""(selector, version, target), and perhaps a second (version, target) that serves as well."""

Unless = tuple[str, str]
"""(selector, the sentence that a user reads when it matches)."""

Until = tuple[str, str, int, str] | tuple[str, str, int, str, Literal["deprecated"]]
"""(selector, version, least target number, sentence): an error from then on, or a warning."""


class Need(NamedTuple):
    """A requirement of a spelling: one of `ways` must be met. `because` is the selector."""

    because: Selector
    ways: tuple[Requirement, ...]


class End(NamedTuple):
    """Spellings that are refused (or deprecated) from `version` on for targets from `number`."""

    when: Selector
    version: Version
    number: int
    sentence: str
    deprecated: bool

    def reached(self, version: Version, target: Target) -> bool:
        return effective(version) >= self.version and target.number >= self.number


class Entry:
    """One row of the table: an opcode, or an opcode with its distinguishing modifiers.

    `pinned` counts the modifiers that must follow the opcode first and in order (`mul.lo`); ptxas takes the
    others in any order.
    """

    def __init__(
        self,
        name: str,
        section: str,
        module: str,
        summary: str,
        syntax: str,
        operands: Mapping[str, Operand],
        since: Sequence[Since],
        unless: Sequence[Unless],
        until: Sequence[Until],
        notes: Sequence[str],
        example: str,
        fixed_order_modifiers: int,
    ) -> None:
        self.name: Final = name
        self.opcode: Final = name.partition(".")[0]
        self.section: Final = section
        self.module: Final = module
        self.summary: Final = summary
        self.syntax: Final = syntax
        self.operands: Final = operands
        self.notes: Final = tuple(notes)
        self.example: Final = example
        self.fixed_order_modifiers: Final = fixed_order_modifiers + name.count(".")
        self.meaning: Meaning | None = None
        self._since: Final = since
        self._unless: Final = unless
        self._until: Final = until

    def __call__(self, meaning: MeaningT) -> MeaningT:
        """Gives the row its meaning (decorator)."""
        self.meaning = meaning
        return meaning

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, section={self.section!r})"

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        return notation.forms(self.syntax)

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        return tuple(_need(row) for row in self._since)

    @cached_property
    def exceptions(self) -> tuple[tuple[Selector, str], ...]:
        return tuple((selector.parse(text), sentence) for text, sentence in self._unless)

    @cached_property
    def is_about_operands(self) -> bool:
        """Whether a requirement or exception depends on which operands are given."""
        return any(
            selector.about_operands
            for selector in (
                *(need.because for need in self.needs),
                *(when for when, _ in self.exceptions),
                *(end.when for end in self.ends),
            )
        )

    @cached_property
    def ends(self) -> tuple[End, ...]:
        return tuple(
            End(selector.parse(row[0]), parse_version(row[1]), row[2], row[3], len(row) == 5)
            for row in self._until
        )

    def own_types(self, place: Place) -> frozenset[str]:
        """The types that `place` has in all spellings; none where they follow the spelling."""
        wanted = self.operands.get(place.name)
        if wanted is None or not isinstance(wanted.type, str):
            return frozenset()
        types = frozenset(wanted.type.split("|"))
        return types if types <= TYPES.keys() else frozenset()

    def operand(self, form: Form, place: Place, choices: Choices) -> Operand:
        """The requirements of `place` in this spelling, with types, spaces and counts filled in.

        An operand that the row does not describe is written when it is the form's first and read otherwise,
        with the type of the form.
        """
        wanted = self.operands.get(place.name)
        if wanted is None:
            wanted = _DESTINATION if form.places and place == form.places[0] else _SOURCE
        return resolved(wanted, choices, form_type(choices))


def form_type(choices: Choices) -> str:
    """The type of a spelling: what the slot `.type` holds, or the last modifier that is a type."""
    if "type" in choices:
        return choices["type"]
    for word in reversed(choices.values()):
        if word in TYPES:
            return word
    return ""


_DESTINATION: Final = writes()
_SOURCE: Final = reads()


def _need(row: Since) -> Need:
    ways = [parse_requirement(row[1], row[2])]
    if len(row) == 5:
        ways.append(parse_requirement(row[3], row[4]))
    return Need(selector.parse(row[0]), tuple(ways))


ENTRIES: Final[list[Entry]] = []
"""Every row that the modules imported so far have made, in their order."""


def instruction(
    name: str,
    *,
    section: str,
    summary: str,
    syntax: str,
    since: Sequence[Since],
    example: str,
    operands: Mapping[str, Operand] | None = None,
    unless: Sequence[Unless] = (),
    until: Sequence[Until] = (),
    notes: Sequence[str] = (),
    fixed_order_modifiers: int = 0,
) -> Entry:
    """Adds a row to the table. The shorthands are described at `Since`, `Unless` and `Until`.

    `section` is the anchor of the manual's page, `summary` our own words, `example` one or more lines that
    ptxas accepts. `notes` are the differences between ptxas and the manual.
    """
    entry = Entry(
        name, section, _caller(), summary, syntax, operands or {},
        since, unless, until, notes, example, fixed_order_modifiers,
    )
    ENTRIES.append(entry)
    return entry


def _caller() -> str:
    """The module that calls `instruction`. The module `inspect` would tell, but it is slow to import."""
    try:
        raise LookupError
    except LookupError as error:
        here = error.__traceback__
    caller = here.tb_frame.f_back if here is not None else None
    caller = caller.f_back if caller is not None else None
    return str(caller.f_globals["__name__"]) if caller is not None else ""
