"""Whether an instruction reads or writes each of its operands."""

from __future__ import annotations

from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import AccessMode, Operand
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

NONE: Final = 0
READ: Final = 1
WRITE: Final = 2
BOTH: Final = 3
_CODES: Final[dict[AccessMode, int]] = {"none": NONE, "read": READ, "write": WRITE, "both": BOTH}


class OperandAccess:
    """How one operand is accessed: `parts` if its parts differ, `pair` for the part after `|`."""

    __slots__ = ("own", "pair", "parts")

    def __init__(self, own: int, parts: tuple[OperandAccess, ...] = (), pair: int = NONE) -> None:
        self.own = own
        self.parts = parts
        self.pair = pair


def operand_accesses(match: Match | None, count: int) -> tuple[OperandAccess, ...]:
    """How each of `count` operands is accessed. Without a match, the first is written and the others are
    read.
    """
    read = OperandAccess(READ)
    if match is None:
        first = OperandAccess(WRITE if count > 1 else READ)
        return (first, *[read] * (count - 1))[:count]
    found = [_access(match, place, wanted) for place, wanted in match.places]
    return (*found, *[read] * (count - len(found)))[:count]


def _access(match: Match, place: Place, wanted: Operand) -> OperandAccess:
    own = READ if place.shape == "address" else _CODES[wanted.access]
    pair = _CODES[match.candidate.operand(Place(place.pair)).access] if place.paired else NONE
    if place.shape not in ("vector", "list"):
        return OperandAccess(own, (), pair)
    parts = tuple([_access(match, part, match.candidate.operand(part)) for part in place.parts])
    if parts:
        own = parts[0].own  # a list longer than its notation: all as its first
    return OperandAccess(own, parts, pair)
