"""Aligns the text of inline assembly in PTX with the template in the host that it was made from.

1. The compiler copies the template and replaces each operand by a register or a constant.
2. So a template matches a text if they are the same except for white space, operands, and what is unknown,
   such as macros. The match gives the place in the template of each place in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

_PIECE: Final = re.compile(rb"\s+|[%$]\d+|[%$]?[\w]+|.", re.DOTALL)
_MOST_BYTES: Final = 1 << 16
_MOST_UNKNOWN: Final = 8
"""Unknown parts of a template; with more, anything would match."""
_OPERAND: Final = rb"[^\s,;(){}\[\]]+?"
_UNKNOWN: Final = rb".*?"


class _Template(NamedTuple):
    pattern: re.Pattern[bytes]
    places: tuple[Span, ...]
    """What each group of the pattern matches, in the text of the block."""


class Alignment:
    """A template and the text that was made from it."""

    def __init__(self, block: Block, places: tuple[Span, ...], match: re.Match[bytes], start: int) -> None:
        self.block = block
        self._places = places
        self._spans = [Span(*match.span(number + 1)).shifted(start) for number in range(len(places))]
        self._starts = [span.start for span in self._spans]

    def host_span(self, span: Span) -> Span:
        """The range of the host for a range of the PTX."""
        start = self._place(span.start, at_end=False)
        end = self._place(max(span.start, span.end - 1), at_end=True)
        return self.block.text.host_span(Span(start, max(start, end))).shifted(self.block.start)

    def _place(self, offset: int, *, at_end: bool) -> int:
        """The place in the template of a byte of the PTX, or behind that of it."""
        index = max(0, bisect_right(self._starts, offset) - 1)
        here, place = self._spans[index], self._places[index]
        if offset >= here.end:  # in white space between pieces
            return place.end
        if here.end - here.start == place.end - place.start:
            return place.start + offset - here.start + at_end
        return place.end if at_end else place.start


def align(block: Block, made: bytes, start: int) -> Alignment | None:
    """The alignment of a block with the part of a PTX text from `start` on; None if that has another origin.
    """
    if len(made) > _MOST_BYTES or len(block.text.data) > _MOST_BYTES:
        return None
    template = _template(block)
    if template is None:
        return None
    match = template.pattern.fullmatch(made)
    return Alignment(block, template.places, match, start) if match is not None else None


@lru_cache(maxsize=4096)
def _template(block: Block) -> _Template | None:
    written: list[bytes] = [rb"\s*"]
    places: list[Span] = []
    unknown = 0
    for piece, what in _pieces(block):
        if what is None:
            written.append(rb"\s*")
            continue
        if what == _UNKNOWN:
            unknown += 1
        written.append(b"(" + what + b")")
        places.append(piece)
    if unknown > _MOST_UNKNOWN or unknown == len(places):
        return None
    written.append(rb"\s*")
    return _Template(re.compile(b"".join(written), re.DOTALL), tuple(places))


def _pieces(block: Block) -> Iterator[tuple[Span, bytes | None]]:
    """The parts of a template, each with the pattern of what it becomes; None for white space."""
    data, holes = block.text.data, block.text.holes
    constants = {one.name.encode() for one in block.operands if one.type is None}
    names = {one.name.encode() for one in block.operands}
    at = 0
    for hole in [*holes, Span(len(data), len(data))]:
        for found in _PIECE.finditer(data, at, hole.start):
            span = Span(*found.span())
            word = found[0]
            if word.isspace():
                yield span, None
            elif word in constants:  # such as a modifier
                yield span, _UNKNOWN
            elif word in names or (not block.operands_known and word[:1] in b"%$" and word[1:].isdigit()):
                yield span, _OPERAND
            else:
                yield span, re.escape(word)
        if hole.start < len(data) or hole.end > hole.start:
            yield hole, _UNKNOWN
        at = hole.end
