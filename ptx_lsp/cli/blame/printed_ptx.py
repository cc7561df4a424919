"""PTX that stands in a log, as Triton prints it with an error."""

from __future__ import annotations

from typing import Final

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple

_VERSION = lazy_pattern(r"\s*\.version\s+\d+\.\d+\s*(?://.*)?$")
_BEFORE = lazy_pattern(r"\s*(?://.*)?$")
"""Comments and empty lines may precede `.version`; ptxas counts them."""
_OUTSIDE = lazy_pattern(r"\s*(?://|/\*|\*|[.{}();,]|$)|\s+[\w$%]|[\w$%.]+\s*\($")
"""The beginning of a line outside functions."""
_END = lazy_pattern(r"={5,}|-{5,}|```|Traceback |Repro command|please share the reproducer")
_MOST_BYTES: Final = 64 << 20
_MOST_BEFORE: Final = 200


class PrintedPtx(NamedTuple):
    """A text, and the line of the log, from 1, that it begins in."""

    text: str
    log_line: int


class PtxReader:
    """Finds texts line by line."""

    def __init__(self) -> None:
        self._before: list[str] = []
        """The comments and empty lines before this one, of which the text may begin with some."""
        self._lines: list[str] = []
        self._size = self._depth = self._first = 0

    @property
    def is_open(self) -> bool:
        return bool(self._lines)

    def feed(self, line: str, number: int) -> PrintedPtx | None:
        """Reads a line; returns the text that ended before it."""
        if not self._lines:
            if _VERSION.match(line) is not None:
                while self._before and not self._before[0].strip():  # those separate it from the message
                    self._before.pop(0)
                self._lines = [*self._before, line]
                self._first, self._depth = number - len(self._before), 0
                self._before = []
                self._size = 0
            elif _BEFORE.match(line) is not None:
                self._before.append(line)
                del self._before[:-_MOST_BEFORE]
            else:
                self._before.clear()
            return None
        is_other = _END.match(line) or (self._depth <= 0 and _OUTSIDE.match(line) is None)
        if is_other or _VERSION.match(line) or self._size > _MOST_BYTES:
            found = self.stop()
            self.feed(line, number)
            return found
        self._lines.append(line)
        self._size += len(line)
        code = line.partition("//")[0]
        self._depth += code.count("{") - code.count("}")
        return None

    def stop(self) -> PrintedPtx | None:
        """The text that is being read ends here."""
        lines = self._lines
        self._lines = []
        self._before.clear()
        if not any(".target" in line for line in lines[:_MOST_BEFORE]):
            return None
        while lines and not lines[-1].strip():
            lines.pop()
        return PrintedPtx("\n".join(lines) + "\n", self._first)
