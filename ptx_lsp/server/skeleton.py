"""The skeleton of a text that is too large to be analysed: the same text with blank bodies."""

from __future__ import annotations

import re

MOST_BYTES = 20 << 20
"""Larger files are served by their skeleton: reading one completely takes about 100 times as much memory."""

_TOKEN = re.compile(rb'//[^\n]*|/\*.*?\*/|"[^"\n]*"|[{}]', re.DOTALL)
_BLANK = bytes(byte if byte in b"\r\n" else 0x20 for byte in range(256))


def skeleton(data: bytes) -> bytes:
    """The text with blanks in place of everything inside outermost braces."""
    pieces: list[bytes] = []
    depth = kept = opened = 0
    for token in _TOKEN.finditer(data):
        match token[0]:
            case b"{":
                if not depth:
                    opened = token.end()
                depth += 1
            case b"}" if depth:
                depth -= 1
                if not depth:
                    pieces += (data[kept:opened], data[opened : token.start()].translate(_BLANK))
                    kept = token.start()
            case _:
                pass
    if depth:
        pieces += (data[kept:opened], data[opened:].translate(_BLANK))
    else:
        pieces.append(data[kept:])
    return b"".join(pieces)
