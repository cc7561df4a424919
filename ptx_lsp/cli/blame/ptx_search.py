"""Finds the PTX that a message is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ptx_lsp.cli.blame.log import Log, stem
from ptx_lsp.cli.blame.message import DRIVER, Message
from ptx_lsp.cli.blame.ptx_text import PtxText
from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.embedded.languages import language_of
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Source

_NONE, _POSSIBLE, _NAMED = 0, 1, 2
"""How well a text fits a message: not at all, it may be, it has what the message names there."""
_AROUND: Final = 12
"""Lines before the named one in which a statement may begin."""
_MOST_TEXTS: Final = 500
"""Texts that are kept."""
_WORD = lazy_pattern(r"[\w$%]+")


class PtxSearch:
    """The texts that are known, and those that the log leads to."""

    def __init__(self, given: Iterable[Input], log: Log) -> None:
        self._given = {one.path: one for one in given if language_of(one.path) is None}
        self._log = log
        self._texts: dict[str, PtxText | None] = {}
        self._printed: dict[int, PtxText] = {}
        self._found: dict[str, PtxText] = {}
        """The texts by the paths in messages."""
        self._missing: dict[str, tuple[int, int]] = {}
        """The paths for which there was no text, with what the log had then."""

    def find(self, message: Message) -> PtxText | None:
        """The text that fits a message best; None if none does."""
        known = self._found.get(message.path)
        if known is not None and (message.line or 0) <= known.source.line_count:
            return known
        tried = len(self._log.printed), len(self._log.ptx_files)
        if self._missing.get(message.path) == tried and message.path:
            return None
        found = self._best(message)
        if found is None:
            self._missing[message.path] = tried
        elif message.path and message.path != DRIVER:
            self._found[message.path] = found
        return found

    def _best(self, message: Message) -> PtxText | None:
        best, fit = None, _NONE
        for text in self._candidates(message):
            found = fitness(text, message)
            if found > fit:
                best, fit = text, found
            if fit == _NAMED:
                break
        return best

    def stale(self, message: Message) -> str | None:
        """The path of a file that the message names, but that has other text now."""
        return next((path for path in self._named(message.path) if self._text(path) is not None), None)

    def _candidates(self, message: Message) -> Iterator[PtxText]:
        """The texts, the likeliest first."""
        seen: set[int] = set()
        for text in self._likely(message):
            if text is not None and id(text) not in seen:
                seen.add(id(text))
                yield text

    def _likely(self, message: Message) -> Iterator[PtxText | None]:
        wanted = stem(message.path) if message.path != DRIVER else ""
        if wanted:
            yield from map(self._text, self._named(message.path))
            yield from (self._text(path) for path in self._given if stem(path) == wanted)
        yield from self._of_log()
        for path in reversed(self._log.ptx_files):  # what it names last is nearest
            yield from map(self._text, self._named(path))
        yield from map(self._text, self._given)

    def _named(self, path: str) -> Sequence[str]:
        """The files that a path in the log may mean."""
        if not path or path == DRIVER:
            return ()
        return [place for place in dict.fromkeys(self._log.places(path)) if Path(place).is_file()]

    def _of_log(self) -> Iterator[PtxText]:
        for one in reversed(self._log.printed):
            text = self._printed.get(one.log_line)
            if text is None:
                name = f"<log, line {one.log_line}>"
                text = self._printed[one.log_line] = PtxText(name, Source(one.text.encode()))
            yield text

    def _text(self, path: str) -> PtxText | None:
        if path not in self._texts:
            if len(self._texts) >= _MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
            try:
                data = read(self._given.get(path) or Input(path))
                self._texts[path] = PtxText(path, Source(data), path)
            except InputError:
                self._texts[path] = None
        return self._texts[path]


def fitness(text: PtxText, message: Message) -> int:
    """How well a text fits a message."""
    source = text.source
    function = message.function
    if function and not text.defines(function):
        return _NONE
    if message.line is None or (function and not message.path):
        if function:
            return _NAMED
        return _NAMED if any(one.encode() in source.data for one in message.tokens) else _NONE
    if message.line > source.line_count:
        return _NONE
    if not any(message.tokens):
        return _POSSIBLE
    last = source.line_span(message.line - 1).end
    here = source.data[source.line_start(message.line - 1) : last].decode("utf-8", "replace")
    before = source.data[source.line_start(max(0, message.line - _AROUND)) : last]
    around = before.decode("utf-8", "replace")
    for token in message.tokens:
        if token in around:
            return _NAMED
        words = _WORD.findall(token)
        if words and _WORD.search(here) and all(word in around for word in words):
            return _NAMED
    return _NONE
