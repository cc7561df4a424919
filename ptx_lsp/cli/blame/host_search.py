"""Finds the inline assembly of host files that a part of a PTX text was made from."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from ptx_lsp.cli.blame.alignment import Alignment, align
from ptx_lsp.cli.blame.log import Log, stem
from ptx_lsp.cli.blame.message import Message
from ptx_lsp.cli.inputs import Input, InputError, read
from ptx_lsp.demangler import demangled, short_name
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import MissingGrammarError, language_of
from ptx_lsp.lint.configuration.rule_index import rule_index
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Diagnostic, Origin
from ptx_lsp.lint.reporters.places import from_here
from ptx_lsp.lint.results.report import Locator
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Source, Span

_INCLUDE: Final = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_MOST_FILES: Final = 500
"""Files that are looked into for one text."""


class HostFile:
    """A readable file, with its blocks of inline assembly."""

    def __init__(self, path: str, source: Source) -> None:
        self.path = path
        self.source = source
        self.locator = Locator(source)

    @cached_property
    def _document(self) -> HostDocument | None:
        language = language_of(self.path)
        try:
            return HostDocument(self.source, language) if language is not None else None
        except MissingGrammarError:
            return None

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self._document.blocks if self._document is not None else ()

    @cached_property
    def errors(self) -> list[Diagnostic]:
        """Our errors about its blocks, which need no PTX file."""
        from ptx_lsp.lint.inline.block_linter import BlockLinter

        names = frozenset(one.name for one in rule_index() if one.code.startswith("E"))
        document = self._document
        return BlockLinter(Rules(names)).diagnostics(document) if document is not None else []


class Match(NamedTuple):
    """A place in a host file that a message may be about. `error` is ours about its line, if any."""

    file: HostFile
    span: Span
    block: Block | None
    error: Diagnostic | None

    @property
    def place(self) -> str:
        """The path and the line."""
        return f"{from_here(self.file.path)}:{self.file.locator.point(self.span.start).line}"


class HostSearch:
    """The host files: those given, those that PTX names, and those that the log leads to."""

    def __init__(self, given: Iterable[Input], log: Log) -> None:
        self._given = [one.path for one in given if language_of(one.path) is not None]
        self._log = log
        self._files: dict[str, HostFile | None] = {}

    def open(self, path: str) -> HostFile | None:
        """The file that a `.file` directive names, possibly on another machine."""
        for place in self._places(path):
            found = self._file(place)
            if found is not None:
                return found
        return None

    def at(self, file: HostFile, line: int, made: bytes, start: int) -> list[Alignment]:
        """The blocks of a file that inline assembly of a source line was made from, the likeliest first."""
        near = [block for block in file.blocks if _lines(file, block)[0] <= line <= _lines(file, block)[1]]
        for blocks in (near, file.blocks):
            found = [one for block in blocks if (one := align(block, made, start)) is not None]
            if found:
                return found
        return []

    def anywhere(self, path: str, made: bytes, start: int) -> list[tuple[HostFile, Alignment]]:
        """The blocks of all known files that inline assembly was made from. `path` is that of the PTX."""
        found: list[tuple[HostFile, Alignment]] = []
        for file in self.sources(path):
            for block in file.blocks:
                one = align(block, made, start)
                found += [(file, one)] if one is not None else []
        return found

    def likely(self, message: Message) -> list[Match]:
        """The places in all known files that a message may be about, without the PTX.

        1. What the message names. If that is at several places, those with an error of ours count.
        2. Our only error in all of the files, or for a syntax error, our only syntax error.
        """
        files = list(self.sources(message.path))
        if message.line is None:
            return self.declaring(message)
        found: list[Match] = []
        for token in [] if message.is_syntax_error else message.tokens:
            found = [one for file in files for one in _naming(file, token)]
            if found:
                break
        wrong = [one for one in found if one.error is not None]
        if len(found) <= 1 or wrong:
            found = wrong or found
        elif all(one.block is found[0].block for one in found):
            found = found[:1]
        if len(found) == 1:
            return found
        errors = [(file, one) for file in files for one in file.errors]
        if message.is_syntax_error:
            errors = [(file, one) for file, one in errors if one.rule == "syntax-error"]
        if len(errors) == 1:
            file, error = errors[0]
            is_behind = message.is_syntax_error and error.related  # what is missing is missing before it
            return [Match(file, error.related[0].span if is_behind else error.span, None, error)]
        return found

    def declaring(self, message: Message) -> list[Match]:
        """The kernels with the name of the function that a message is about."""
        files = self.sources(message.path)
        return [one for file in files for one in _declaring(file, message.function)]

    def sources(self, path: str) -> Iterator[HostFile]:
        """The given files; those with the name of the PTX that the log names, or that are in the current
        folder; and what they include.
        """
        name = stem(path)
        waiting = [*self._given]
        if name:
            waiting += self._log.sources.get(name, ())
        else:
            waiting += [one for paths in self._log.sources.values() for one in paths][:_MOST_FILES]
        if name and not waiting:
            waiting.append(f"{name}.cu")
        seen: set[str] = set()
        while waiting and len(seen) < _MOST_FILES:
            file = self.open(waiting.pop(0))
            if file is None or os.path.realpath(file.path) in seen:
                continue
            seen.add(os.path.realpath(file.path))
            yield file
            folder = Path(file.path).parent
            for include in _INCLUDE.findall(file.source.data):
                waiting.append(str(folder / os.fsdecode(include)))

    def _places(self, path: str) -> Iterator[str]:
        """Where a file may be: at its path, in the folders of the log, or among the given ones."""
        yield from self._log.places(path)
        name = path.replace("\\", "/").rpartition("/")[2]
        same = [one for one in self._given if Path(one).name == name]
        yield from sorted(same, key=lambda one: -_common_end(one, path))

    def _file(self, path: str) -> HostFile | None:
        path = os.path.normpath(path)
        if path not in self._files:
            try:
                self._files[path] = HostFile(path, Source(read(Input(path))))
            except InputError:
                self._files[path] = None
        return self._files[path]


def _naming(file: HostFile, token: str) -> Iterator[Match]:
    """The places in blocks that have a word."""
    before = rb"(?<![\w$%])" if token[:1].isalnum() else b""
    word = re.compile(before + re.escape(token.encode()) + rb"(?![\w$])")
    for block in file.blocks:
        for one in word.finditer(block.text.data):
            span = block.text.host_span(Span(*one.span())).shifted(block.start)
            line = file.source.line_of(span.start)
            errors = (error for error in file.errors if file.source.line_of(error.span.start) == line)
            yield Match(file, span, block, next(errors, None))


def _declaring(file: HostFile, function: str) -> Iterator[Match]:
    """The kernels with the name of a function, which may be mangled."""
    name = short_name(demangled([function]).get(function, function)).rpartition("::")[2].partition("<")[0]
    if not re.fullmatch(r"\w+", name):
        return
    kernel = re.compile(rb"\b__global__\b[^;{}]*?\b(" + name.encode() + rb")\s*\(")
    for found in kernel.finditer(file.source.data):
        yield Match(file, Span(*found.span(1)), None, None)


def mark_at(file: HostFile, place: Origin) -> Span | None:
    """The word at a line and a column; None if the file has no such line."""
    if not 0 < place.line <= file.source.line_count:
        return None
    start, end = file.source.line_span(place.line - 1)
    at = min(start + place.column - 1, end)
    word = re.compile(rb"[\w$]+|\S").match(file.source.data, at, end)
    return Span(*word.span()) if word is not None else Span(at, at)


def _lines(file: HostFile, block: Block) -> tuple[int, int]:
    source = file.source
    return source.line_of(block.start) + 1, source.line_of(block.span.end) + 1


def _common_end(one: str, other: str) -> int:
    """The number of equal folders at the ends of two paths."""
    pairs = zip(reversed(one.split("/")), reversed(other.replace("\\", "/").split("/")), strict=False)
    count = 0
    for mine, theirs in pairs:
        if mine != theirs:
            break
        count += 1
    return count
