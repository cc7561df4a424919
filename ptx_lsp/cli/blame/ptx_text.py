"""A PTX text that messages are about: its functions, the source lines that `.loc` gives, and inline assembly.

All of this is read from the lines, so that it is there in texts with syntax errors too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Final

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.configuration.rule_index import rule_index
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Diagnostic, Origin
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.results.report import Locator
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source, Span

_FUNCTION = re.compile(rb"^[^\n/\"]*?\.(?:entry|func)\b(?:\s*\([^()]*\))?\s*([\w$%]+)", re.MULTILINE)
_LOC = re.compile(
    rb"^[ \t]*\.loc[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9})"
    rb"(?:[ \t]*,[ \t]*function_name[ \t]+([\w$]+)(?:[ \t]*\+[ \t]*\d+)?)?"
    rb"(?:[ \t]*,[ \t]*inlined_at[ \t]+(\d{1,9})[ \t]+(\d{1,9})[ \t]+(\d{1,9}))?",
    re.MULTILINE,
)
_LOC_LINE = re.compile(rb"^[ \t]*\.loc[ \t][^\n;]*", re.MULTILINE)
_FILE = re.compile(rb'^[ \t]*\.file[ \t]+(\d{1,9})[ \t]+"((?:[^"\\\n]|\\.)*)"', re.MULTILINE)
_BEGIN, _END = b"// begin inline asm", b"// end inline asm"
_BYTES = lazy_pattern(r"\s*\.b8\s+(\d[\d,\s]*)")
_NUMBER = lazy_pattern(r"\d{1,9}")
_LONGEST_LABEL: Final = 1 << 16
"""Bytes of a label in `.debug_str`, as PTX writes them."""
_DEEPEST: Final = 64
"""Inlined calls that are followed."""
_ADVICE: Final = ("setmaxnreg", "wgmma")
"""The opcodes with which the names of rules begin that predict advice."""


class Call(NamedTuple):
    """A place in the source, and the function whose code stands there; empty if unknown."""

    place: Origin
    function: str = ""


class _Loc(NamedTuple):
    at: tuple[int, int, int]
    label: bytes
    inlined_at: tuple[int, int, int] | None


class PtxText:
    """One text. `name` is what users see: a path, or where it stands."""

    def __init__(self, name: str, source: Source, path: str | None = None) -> None:
        self.name = name
        self.path = path
        """The file that it was read from."""
        self.source = source
        self.locator = Locator(source)

    @cached_property
    def _functions(self) -> tuple[list[int], list[str]]:
        found = [(one.start(1), one[1].decode()) for one in _FUNCTION.finditer(self.source.data)]
        return [at for at, _ in found], [name for _, name in found]

    @cached_property
    def _locs(self) -> tuple[list[int], list[_Loc]]:
        starts: list[int] = []
        locs: list[_Loc] = []
        for one in _LOC.finditer(self.source.data):
            starts.append(one.start())
            inlined = (int(one[5]), int(one[6]), int(one[7])) if one[5] else None
            locs.append(_Loc((int(one[1]), int(one[2]), int(one[3])), one[4] or b"", inlined))
        return starts, locs

    @cached_property
    def _files(self) -> dict[int, str]:
        return {int(one[1]): one[2].decode("utf-8", "replace") for one in _FILE.finditer(self.source.data)}

    def defines(self, function: str) -> bool:
        """Whether a function has this name."""
        return function in self._functions[1]

    def function_start(self, function: str) -> int | None:
        """The offset of the name of a function, at its last declaration."""
        starts, names = self._functions
        at = [start for start, name in zip(starts, names, strict=True) if name == function]
        return at[-1] if at else None

    def function_at(self, offset: int) -> str:
        """The name of the function around an offset; empty before the first."""
        starts, names = self._functions
        index = bisect_right(starts, offset) - 1
        return names[index] if index >= 0 else ""

    def calls(self, offset: int) -> list[Call]:
        """The source of an offset: the place itself, then each place that its function is inlined at."""
        starts, locs = self._locs
        functions = self._functions[0]
        index = bisect_right(starts, offset) - 1
        first = functions[bisect_right(functions, offset) - 1] if functions and functions[0] <= offset else 0
        found: list[Call] = []
        while index >= 0 and starts[index] >= first and len(found) < _DEEPEST:
            loc = locs[index]
            path = self._files.get(loc.at[0])
            if path is None or not loc.at[1]:
                break
            found.append(Call(Origin(path, loc.at[1], max(1, loc.at[2])), self._label(loc.label)))
            if loc.inlined_at is None:
                break
            at = loc.inlined_at
            index -= 1
            while index >= 0 and starts[index] >= first and locs[index].at != at:
                index -= 1
            if index < 0 or starts[index] < first:  # the outer place is known all the same
                if (outer := self._files.get(at[0])) is not None:
                    found.append(Call(Origin(outer, at[1], max(1, at[2]))))
                break
        return found

    def first_call(self, offset: int) -> Call | None:
        """The first source line after an offset, of its function."""
        starts, locs = self._locs
        functions = self._functions[0]
        index = bisect_right(functions, offset)
        end = functions[index] if index < len(functions) else len(self.source.data)
        index = bisect_right(starts, offset)
        if index >= len(starts) or starts[index] >= end:
            return None
        at = locs[index].at
        path = self._files.get(at[0])
        return Call(Origin(path, at[1], max(1, at[2]))) if path is not None and at[1] else None

    def _label(self, label: bytes) -> str:
        """The text at a label of `.debug_str`: the name of a function."""
        if not label:
            return ""
        data = self.source.data
        at = data.find(b"\n" + label + b":")
        if at < 0:
            return ""
        letters = bytearray()
        for line in data[at + len(label) + 2 : at + _LONGEST_LABEL].decode("latin-1").split("\n"):
            numbers = _BYTES.match(line)
            if numbers is None and line.strip():
                break
            for number in _NUMBER.findall(numbers[1]) if numbers is not None else ():
                if int(number) == 0:
                    return letters.decode("utf-8", "replace")
                letters.append(int(number) & 0xFF)
        return ""

    def inline_block(self, offset: int) -> Span | None:
        """The text of the inline assembly around an offset, without the comments that enclose it."""
        data = self.source.data
        line_end = data.find(b"\n", offset)
        line_end = len(data) if line_end < 0 else line_end
        begin = data.rfind(_BEGIN, 0, line_end)
        if begin < 0 or data.rfind(_END, begin, offset) >= 0:
            return None
        start = data.find(b"\n", begin) + 1
        end = data.find(_END, start)
        if start <= 0 or end < 0 or offset < start:
            return None
        return Span(start, end)

    def template_of(self, inline: Span) -> bytes:
        """The text of inline assembly, with blanks for each `.loc` that the compiler put into it."""
        return _LOC_LINE.sub(lambda found: b" " * len(found[0]), self.source.data[slice(*inline)])

    @cached_property
    def module(self) -> Module:
        """The text, parsed."""
        return Module(Document.read(self.source))

    @cached_property
    def findings(self) -> list[Diagnostic]:
        """The findings of the rules about errors, and of those that predict the advice of ptxas."""
        names = frozenset(
            one.name for one in rule_index() if one.code.startswith("E") or one.name.startswith(_ADVICE)
        )
        return LintSession(self.module, Rules(names).awake(self.module)).diagnostics

    def statement(self, line: int) -> Span | None:
        """The instruction that reaches into a line, counted from 0; None if there is none."""
        start, end = self.source.line_span(line)
        function = self.module.function_at(max(start, end - 1)) or self.module.function_at(start)
        if function is None:
            return None
        for one in function.body.instructions:
            span = function.span(one)
            if span.start < end and span.end > start:
                return span
        return None
