"""Text that was assembled from parts of another one, with a map of every byte back to it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from typing import TypeAlias

Encode: TypeAlias = Callable[[str], str | None]
"""How text is written at a place of the host, for example with escapes. None: it cannot be."""
PieceKind: TypeAlias = Literal["same", "replaced", "hole"]


def unwritable(text: str) -> str | None:
    """Nothing can be written here."""
    return None


def not_removable(encode: Encode) -> Encode:
    """How text is written beside something that must stay."""
    return lambda text: encode(text) if text else None


class Piece(NamedTuple):
    """The bytes from `start` on, up to the next piece, come from `host`.

    They are the `same` bytes, or `replaced` others (an escape sequence), or a placeholder for a `hole`: what
    is unknown, such as a macro.
    """

    start: int
    host: Span
    kind: PieceKind
    encode: Encode


class MappedText:
    """Bytes and the pieces of the host that they come from, in order. The pieces cover all bytes."""

    def __init__(self, data: bytes, pieces: list[Piece]) -> None:
        self.data = data
        self.pieces = pieces
        self._starts = [piece.start for piece in pieces]
        self._hosts = [piece.host.start for piece in pieces]

    def _end(self, index: int) -> int:
        return self._starts[index + 1] if index + 1 < len(self._starts) else len(self.data)

    def _piece_at(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)

    @property
    def holes(self) -> list[Span]:
        """The placeholders for what is unknown."""
        return [
            Span(piece.start, self._end(index))
            for index, piece in enumerate(self.pieces)
            if piece.kind == "hole"
        ]

    def host_offset(self, offset: int) -> int:
        """The place in the host of a byte, or of the end."""
        if offset >= len(self.data):
            return self.pieces[-1].host.end if self.pieces else 0
        piece = self.pieces[self._piece_at(offset)]
        return piece.host.start + (offset - piece.start if piece.kind == "same" else 0)

    def host_span(self, span: Span) -> Span:
        """The range of the host for a range of bytes. It includes what lies between two literals."""
        start = self.host_offset(span.start)
        if span.end <= span.start:
            if span.start:  # behind the byte before: between two literals, the end of the first
                start = self._host_end(span.start)
            return Span(start, start)
        return Span(start, self._host_end(span.end))

    def _host_end(self, end: int) -> int:
        """The place in the host behind the byte before `end`."""
        piece = self.pieces[self._piece_at(end - 1)]
        return piece.host.start + end - piece.start if piece.kind == "same" else piece.host.end

    def offset_at(self, host: int) -> int | None:
        """The offset for a place in the host; None outside of the pieces, whose ends are part of them."""
        index = bisect_right(self._hosts, host) - 1
        if index < 0:
            return None
        piece = self.pieces[index]
        if host > piece.host.end:
            return None
        if piece.kind == "same":
            return piece.start + host - piece.host.start
        return self._end(index) if host == piece.host.end else piece.start

    def pieces_in(self, span: Span) -> Iterator[tuple[Piece, Span, Span]]:
        """The pieces that have bytes of `span`: each with these bytes, and with their range in the host."""
        index = self._piece_at(span.start)
        while index < len(self.pieces) and self._starts[index] < span.end:
            piece = self.pieces[index]
            part = Span(max(span.start, piece.start), min(span.end, self._end(index)))
            if part.end > part.start:
                host = self.host_span(part) if piece.kind == "same" else piece.host
                yield piece, part, host
            index += 1

    def around(self, piece: Piece, span: Span) -> tuple[str, str]:
        """The parts of a piece before and after `span`."""
        end = self._end(self._piece_at(piece.start))
        before, behind = (
            self.data[piece.start : max(piece.start, span.start)],
            self.data[min(end, span.end) : end],
        )
        return before.decode("utf-8", "replace"), behind.decode("utf-8", "replace")

    def slice(self, span: Span) -> MappedText:
        """A part of the text, with the holes without text at its ends."""
        pieces: list[Piece] = []
        index = max(0, bisect_left(self._starts, span.start) - 1)
        while index < len(self.pieces) and self._starts[index] <= span.end:
            piece, end = self.pieces[index], self._end(index)
            part = Span(max(span.start, piece.start), min(span.end, end))
            if part.end > part.start or span.start <= piece.start == end:
                host = self.host_span(part) if piece.kind == "same" else piece.host
                pieces.append(Piece(part.start - span.start, host, piece.kind, piece.encode))
            index += 1
        return MappedText(self.data[span.start : span.end], pieces)

    def replaced(
        self,
        pattern: re.Pattern[bytes],
        replacement: Callable[[re.Match[bytes]], bytes | None],
        kind: PieceKind = "replaced",
    ) -> MappedText:
        """The text with each match replaced, where `replacement` does not answer None."""
        built = Builder()
        last = 0
        for match in pattern.finditer(self.data):
            new = replacement(match)
            if new is None:
                continue
            built.append(self.slice(Span(last, match.start())))
            host = self.host_span(Span(*match.span()))
            encode = self.pieces[self._piece_at(match.start())].encode
            built.add(new, host, kind, encode)
            last = match.end()
        if not last:
            return self
        built.append(self.slice(Span(last, len(self.data))))
        return built.text()

    def with_holes(
        self, pattern: re.Pattern[bytes], is_hole: Callable[[re.Match[bytes]], bool]
    ) -> MappedText:
        """The text with a hole for each match that is one."""
        built = Builder()
        last = 0
        for match in pattern.finditer(self.data):
            if is_hole(match):
                span = Span(*match.span())
                built.append(self.slice(Span(last, span.start)))
                built.hole(match[0], self.host_span(span), unwritable)
                last = span.end
        if not last:
            return self
        built.append(self.slice(Span(last, len(self.data))))
        return built.text()

    def with_encoding(self, wrap: Callable[[Encode], Encode]) -> MappedText:
        """This text, written into the host in another way."""
        known: dict[Encode, Encode] = {}
        pieces = [
            piece._replace(encode=known.setdefault(piece.encode, wrap(piece.encode)))
            for piece in self.pieces
        ]
        return MappedText(self.data, pieces)

    def shifted(self, by: int) -> MappedText:
        """This text, from elsewhere in the host."""
        return MappedText(
            self.data, [piece._replace(host=piece.host.shifted(by)) for piece in self.pieces]
        )

    def through(self, outer: MappedText) -> MappedText:
        """This text, whose host is `outer`, with the places in the host of that one."""
        built = Builder()
        for index, piece in enumerate(self.pieces):
            data = self.data[piece.start : self._end(index)]
            if piece.kind != "same":
                wrap = _both(piece.encode, outer.encode_at(piece.host.start))
                built.add(data, outer.host_span(piece.host), piece.kind, wrap)
                continue
            for inner, part, host in outer.pieces_in(piece.host):
                first = part.start - piece.host.start
                bytes_there = data[first : first + part.end - part.start]
                built.add(bytes_there, host, inner.kind, _both(piece.encode, inner.encode))
        return built.text()

    def encode_at(self, offset: int) -> Encode:
        """How text is written into the host at an offset."""
        return self.pieces[self._piece_at(offset)].encode


_ENOUGH = 4
_COUNT = b"1000"
"""More registers than a block uses."""
_STATEMENT_ENDS = (b"", b";", b"{", b"}", b"\n")


def _both(inner: Encode, outer: Encode) -> Encode:
    def encode(text: str) -> str | None:
        written = inner(text)
        return None if written is None else outer(written)

    return encode


class Builder:
    """Assembles a MappedText."""

    def __init__(self, holes: dict[bytes, int] | None = None, has_statements: bool = True) -> None:
        """`holes` numbers those of several texts. Without `has_statements` every hole is a name."""
        self._parts: list[bytes] = []
        self._pieces: list[Piece] = []
        self._length = 0
        self._holes: dict[bytes, int] = {} if holes is None else holes
        self._has_statements = has_statements

    @property
    def _before(self) -> bytes:
        """The last character that is no space."""
        return b"".join(self._parts[-_ENOUGH:]).rstrip(b" \t")[-1:]

    @property
    def is_between_statements(self) -> bool:
        """Whether a statement may begin here."""
        return self._has_statements and self._before in _STATEMENT_ENDS

    def hole(self, key: bytes, host: Span, encode: Encode) -> None:
        """Adds a placeholder for what is unknown; the same one for the same `key`. It is a name, so that it
        can be an operand, a modifier or the rest of a word; or the number of registers in `.reg .b32 r<9>`.
        Nothing stands for whole statements.
        """
        number = self._holes.setdefault(key, len(self._holes))
        data = b"_hole%d" % number
        if self.is_between_statements:
            data = b""
        elif self._has_statements and self._before == b"<":
            data = _COUNT
        self.add(data, host, "hole", encode)

    def add(self, data: bytes, host: Span, kind: PieceKind, encode: Encode) -> None:
        """Adds bytes that come from `host`; those of a `same` piece are as long as it."""
        if not data and kind != "hole":
            return
        self._pieces.append(Piece(self._length, host, kind, encode))
        self._parts.append(data)
        self._length += len(data)

    def append(self, text: MappedText) -> None:
        by = self._length
        self._pieces += [piece._replace(start=piece.start + by) for piece in text.pieces]
        self._parts.append(text.data)
        self._length += len(text.data)

    @property
    def length(self) -> int:
        return self._length

    def text(self) -> MappedText:
        return MappedText(b"".join(self._parts), self._pieces)
