"""Locates a message: the PTX, then the place in it, then the place in the source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ptx_lsp.cli.blame.alignment import Alignment
from ptx_lsp.cli.blame.host_search import HostFile, HostSearch, mark_at
from ptx_lsp.cli.blame.located import How, Located, PtxPlace
from ptx_lsp.cli.blame.log import Log
from ptx_lsp.cli.blame.meanings import advice, meaning
from ptx_lsp.cli.blame.message import DRIVER, Message
from ptx_lsp.cli.blame.ptx_search import PtxSearch
from ptx_lsp.cli.blame.ptx_text import PtxText
from ptx_lsp.cli.blame.statement import Place, finding, findings_at, place_of
from ptx_lsp.cli.inputs import Input
from ptx_lsp.demangler import demangled
from ptx_lsp.text import Span

_MOST_PLACES: Final = 5
_LONGEST: Final = 160
"""Of a statement that is shown, in characters."""


class MessageLocator:
    """Locates one message after another."""

    def __init__(self, given: Iterable[Input], log: Log) -> None:
        inputs = list(given)
        self.log = log
        self._ptx = PtxSearch(inputs, log)
        self._hosts = HostSearch(inputs, log)
        self._advised: set[str] = set()
        self._located = Counter[tuple[str, str]]()
        """How often a message without a line was located of a text."""

    def has_ptx(self, message: Message) -> bool:
        """Whether the text is known already, or none is needed."""
        return self._ptx.find(message) is not None

    def locate(self, message: Message) -> Located:
        """The message at the best place that is known."""
        text = self._ptx.find(message)
        located = self._in_text(message, text) if text is not None else self._without(message)
        names = demangled([located.function, *(one.function for one in located.calls)])
        return located._replace(
            meaning=meaning(message.text),
            function=names.get(located.function, located.function),
            calls=tuple(
                one._replace(function=names.get(one.function, one.function)) for one in located.calls
            ),
        )

    def _in_text(self, message: Message, text: PtxText) -> Located:
        number = self._located[text.name, message.text] if message.line is None else 0
        self._located[text.name, message.text] += message.line is None
        place = place_of(message, text, number)
        if place is None:
            return Located(message, "none", function=message.function)
        ptx = _ptx_place(text, place)
        calls = text.calls(place.span.start)
        located = Located(
            message, "ptx", text.name, text.locator.mark(place.span), ptx=ptx, function=ptx.function,
            calls=tuple(calls),
            notes=place.notes, findings=findings_at(message, text, place),
        )
        if place.is_function:
            return self._at_function(located, text, place)
        inline = text.inline_block(place.span.start)
        if inline is not None:
            found = self._in_block(located, text, place, inline)
            if found is not None:
                return found
        if not calls:
            return located
        source = calls[0].place
        located = located._replace(how="loc")
        file = self._hosts.open(source.path)
        span = mark_at(file, source) if file is not None else None
        if file is None or span is None:
            note = f"`{source.path}` cannot be read here, so the line of the PTX is shown"
            return located._replace(line=source.line, column=source.column, notes=(*located.notes, note))
        return _at(located, "loc", file, span)

    def _in_block(self, located: Located, text: PtxText, place: Place, inline: Span) -> Located | None:
        """The message at the instruction in the `asm` statement that the PTX was made from."""
        made, start = text.template_of(inline), inline.start
        calls = text.calls(place.span.start)
        file = self._hosts.open(calls[0].place.path) if calls else None
        found: list[tuple[HostFile, Alignment]] = []
        if file is not None:
            found = [(file, one) for one in self._hosts.at(file, calls[0].place.line, made, start)]
        if not found:
            found = self._hosts.anywhere(located.message.path, made, start)
        if not found:
            return None
        file, one = found[0]
        notes = located.notes
        if len(found) > 1 and not calls:
            others = ", ".join(
                f"{other.path}:{other.source.line_of(block.block.start) + 1}" for other, block in found[1:4]
            )
            notes += (
                f"the same inline PTX is also at {others}; compile with `-lineinfo` to distinguish them",
            )
        return _at(located._replace(notes=notes), "asm", file, one.host_span(place.span))

    def _at_function(self, located: Located, text: PtxText, place: Place) -> Located:
        """A message about a whole function, at the first line that `.loc` gives in it, or at its declaration.
        """
        call = text.first_call(place.span.start)
        file = self._hosts.open(call.place.path) if call is not None else None
        span = mark_at(file, call.place) if file is not None and call is not None else None
        if file is not None and span is not None:
            return _at(located, "loc", file, span)
        found = self._hosts.declaring(located.message)
        return _at(located, "name", found[0].file, found[0].span) if len(found) == 1 else located

    def _without(self, message: Message) -> Located:
        """The message where there is no PTX: at what it names, if only one place in the sources fits."""
        located = Located(message, "none", function=message.function)
        note = self._missing(message) if message.path else ""
        found = self._hosts.likely(message)
        if len(found) != 1:
            places = [one.place for one in found]
            others = f"without the PTX, it may be any of {_listed(places)}" if places else ""
            return located._replace(notes=tuple(filter(None, (others, note))))
        file, span, _, error = found[0]
        guess = "without the PTX this is a guess: it is the only place in the sources that fits"
        located = located._replace(notes=tuple(filter(None, (guess, note))))
        if error is not None:
            located = located._replace(findings=(finding(error),))
        return _at(located, "name", file, span)

    def _missing(self, message: Message) -> str:
        """How to get the PTX; empty if that was said before."""
        if message.path in self._advised:
            return ""
        self._advised.add(message.path)
        stale = self._ptx.stale(message)
        if stale is not None:
            return f"`{stale}` has other text in line {message.line}; was it written again after this log?"
        what = "the PTX" if message.path == DRIVER else f"`{message.path}`"
        return f"{what} is missing: {advice(message.path)}"


def _listed(places: list[str]) -> str:
    more = len(places) - _MOST_PLACES
    return ", ".join(places[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def _at(located: Located, how: How, file: HostFile, span: Span) -> Located:
    mark = file.locator.mark(span)
    line, column = mark.start
    return located._replace(how=how, path=file.path, mark=mark, line=line, column=column)


def _ptx_place(text: PtxText, place: Place) -> PtxPlace:
    start, end = text.locator.point(place.span.start), text.locator.point(place.span.end)
    words = " ".join(text.source.decoded(*place.statement).split())
    shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
    column = end.column if end.line == start.line else start.column + 1
    function = text.function_at(place.span.start)
    return PtxPlace(text.name, start.line, start.column, column, shown, function, text.path)

