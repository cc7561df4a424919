"""The messages of ptxas that still hold after an edit, until it has answered again.

A message is about a line. It is kept if the edit left that line as it was, and moves with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ptx_lsp.ptxas import Message
from ptx_lsp.text import Source


def kept_messages(messages: Sequence[Message], old: Source, new: Source) -> tuple[Message, ...]:
    """The messages about `old` that also hold for `new`, with their lines there. Those about the whole file
    are kept.
    """
    return tuple(_kept(messages, old, new)) if messages else ()


def _kept(messages: Sequence[Message], old: Source, new: Source) -> Iterator[Message]:
    before = _common(old.data, new.data)
    after = len(old.data) - _common(old.data[before:][::-1], new.data[before:][::-1])
    moved = new.line_count - old.line_count
    for message in messages:
        if message.line is None:
            yield message
            continue
        line = message.line - 1
        if line >= old.line_count:
            continue
        start, end = old.line_span(line)
        if end < before:
            yield message
        elif start >= after:
            yield replace(message, line=message.line + moved)
        else:
            text = old.data[start:end].strip()
            same = next((one for one in (line, line + moved) if _text(new, one) == text), None)
            if same is not None:
                yield replace(message, line=same + 1)


def _common(one: bytes, other: bytes) -> int:
    """The length of the common beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _text(source: Source, line: int) -> bytes | None:
    if not 0 <= line < source.line_count:
        return None
    start, end = source.line_span(line)
    return source.data[start:end].strip()
