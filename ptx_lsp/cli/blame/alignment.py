"""Aligns the text of inline assembly in PTX with the template in the host that it was made from.

1. The compiler copies the template and replaces each operand by a register or a constant.
2. So a template matches a text if they are the same except for white space, operands, and what is unknown,
   such as macros. The match gives the place in the template of each place in the text.
3. The parts between what is unknown are looked for one after the other, each at its first place: a regular
   expression for all of them would try every combination of places.
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
_MOST_OPERANDS: Final = 4
"""Operands without a separator between them; the parts of such a text could belong to any of them."""
_OPERAND: Final = rb"[^\s,;(){}\[\]]+?"
_SEPARATORS: Final = frozenset(re.escape(bytes([one])) for one in b",;(){}[]")
"""Pieces that are in no operand."""
_SPACE: Final = rb"\s*"
_UNKNOWN: Final = rb""
"""Text of any kind and length."""


class _Part(NamedTuple):
    """A part of a template without anything unknown."""

    pattern: re.Pattern[bytes]
    places: tuple[Span, ...]
    """What each group of the pattern matches, in the text of the block."""


class _Template(NamedTuple):
    parts: tuple[_Part, ...]
    unknown: tuple[Span, ...]
    """What is between the parts."""

    def match(self, made: bytes) -> list[tuple[Span, Span]] | None:
        """The places in the template and in a text made from it, in order; None if the text is another."""
        found: list[tuple[Span, Span]] = []
        end = 0
        for number, part in enumerate(self.parts):
            match = part.pattern.search(made, end) if number else part.pattern.match(made)
            if match is None:
                return None
            if number:
                between = made[end : match.start()].rstrip()
                found.append((self.unknown[number - 1], Span(end, end + len(between))))
            found += [(place, Span(*match.span(group))) for group, place in enumerate(part.places, 1)]
            end = match.end()
        return found


class Alignment:
    """A template and the text that was made from it."""

    def __init__(self, block: Block, places: list[tuple[Span, Span]], start: int) -> None:
        self.block = block
        self._places = [place for place, _ in places]
        self._spans = [span.shifted(start) for _, span in places]
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
    places = template.match(made)
    return Alignment(block, places, start) if places is not None else None


@lru_cache(maxsize=4096)
def _template(block: Block) -> _Template | None:
    parts: list[_Part] = []
    unknown: list[Span] = []
    written, places = [_SPACE], list[Span]()
    known = operands = 0
    for piece, what in _pieces(block):
        if what is None:
            written += [_SPACE] if written and written[-1] != _SPACE else []
        elif what == _UNKNOWN:
            parts.append(_part(written, places))
            unknown.append(piece)
            written, places = list[bytes](), list[Span]()
        else:
            known += 1
            written.append(b"(" + what + b")")
            places.append(piece)
        operands = operands + (what == _OPERAND) if what and what not in _SEPARATORS else 0
        if operands > _MOST_OPERANDS:
            return None
    if len(unknown) > _MOST_UNKNOWN or not known:
        return None
    written += [_SPACE] if written and written[-1] != _SPACE else []
    parts.append(_part([*written, rb"\Z"], places))
    return _Template(tuple(parts), tuple(unknown))


def _part(written: list[bytes], places: list[Span]) -> _Part:
    return _Part(re.compile(b"".join(written)), tuple(places))


def _pieces(block: Block) -> Iterator[tuple[Span, bytes | None]]:
    """The parts of a template, each with the pattern of what it becomes; None for white space."""
    data, holes = block.text.data, block.text.holes
    constants = {one.name.encode() for one in block.operands if one.type is None}
    names = {one.name.encode() for one in block.operands}
    at = 0
    for hole in [*holes, None]:
        for found in _PIECE.finditer(data, at, hole.start if hole is not None else len(data)):
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
        if hole is not None:
            yield hole, _UNKNOWN
            at = hole.end
