"""Whether an instruction reads or writes each of its operands."""

from __future__ import annotations

from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import AccessMode, Operand


class OperandAccess:
    """How one operand is accessed: `parts` if its parts differ, `pair` for the part after `|`."""

    __slots__ = ("own", "pair", "parts")

    def __init__(
        self, own: AccessMode, parts: tuple[OperandAccess, ...] = (), pair: AccessMode = "none"
    ) -> None:
        self.own: AccessMode = own
        self.parts = parts
        self.pair: AccessMode = pair


def operand_accesses(match: Match | None, count: int) -> tuple[OperandAccess, ...]:
    """How each of `count` operands is accessed. Without a match, the first is written and the others are
    read.
    """
    if match is None:
        first: AccessMode = "write" if count > 1 else "read"
        return (OperandAccess(first), *[OperandAccess("read")] * (count - 1))[:count]
    found = [_access(match, place, wanted) for place, wanted in match.places]
    return (*found, *[OperandAccess("read")] * (count - len(found)))[:count]


def _access(match: Match, place: Place, wanted: Operand) -> OperandAccess:
    own: AccessMode = "read" if place.shape == "address" else wanted.access
    pair: AccessMode = match.candidate.operand(Place(place.pair)).access if place.paired else "none"
    if place.shape not in ("vector", "list"):
        return OperandAccess(own, (), pair)
    parts = tuple([_access(match, part, match.candidate.operand(part)) for part in place.parts])
    if parts:
        own = parts[0].own  # a list longer than its notation: all as its first
    return OperandAccess(own, parts, pair)
