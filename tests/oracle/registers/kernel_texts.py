"""The texts of the kernels of a PTX file, and what of them is the same under other names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

_ENTRY = re.compile(r"^[^\n/]*\.entry\s+([\w$%.]+)", re.MULTILINE)
_NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/|^\s*(?:\.loc|\.file|\.pragma|@@DWARF)\b[^\n]*", re.DOTALL | re.MULTILINE
)
_BRACE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|[{}]', re.DOTALL)
_NAME = re.compile(r"(?<![\w.$%])(?:%[a-zA-Z]+\d+|[A-Za-z_$][\w$]*)(?![\w$])")
_FIXED = re.compile(r"%(?:envreg|pm)\d+$")
_SPACE = re.compile(r"\s+")


class Span(NamedTuple):
    """Where a kernel stands in a file: `start` is at its linkage, `name_at` at its name."""

    name: str
    start: int
    name_at: int
    end: int


def kernels(text: str) -> Iterator[Span]:
    """The kernels that have a body, in their order."""
    for match in _ENTRY.finditer(text):
        depth = 0
        for brace in _BRACE.finditer(text, match.end()):
            if brace[0] not in "{}":
                continue
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                yield Span(match[1], match.start(), match.start(1), brace.end())
                break


def with_kernels(text: str, names: Collection[str]) -> str:
    """The file without the kernels that are not among `names`."""
    parts: list[str] = []
    at = 0
    for span in kernels(text):
        if span.name not in names:
            parts.append(text[at : span.start])
            at = span.end
    return "".join([*parts, text[at:]])


def normalised(name: str, text: str) -> str:
    """A kernel's text without comments and lines, with names numbered in their order: of registers, labels,
    parameters and symbols.

    Opcodes are kept: they have neither `_` nor `$`.
    """
    numbers: dict[str, str] = {}

    def number(match: re.Match[str]) -> str:
        found = match[0]
        if found[0] == "%":
            if _FIXED.match(found):
                return found
        elif found != name and "_" not in found and "$" not in found:
            return found
        return numbers.setdefault(found, f"{found[0] if found[0] == '%' else ''}{len(numbers)}")

    return _SPACE.sub(" ", _NAME.sub(number, _NOISE.sub("", text)))


def digests(text: str) -> dict[str, str]:
    """For each kernel a digest that is equal for kernels that are the same but for names."""
    return {
        span.name: hashlib.sha256(
            normalised(span.name, text[span.name_at : span.end]).encode()
        ).hexdigest()[:16]
        for span in kernels(text)
    }
