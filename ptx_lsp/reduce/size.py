"""The size of a PTX text. A reduction only ever gets smaller, so it ends."""

from __future__ import annotations

import re

from ptx_lsp.named_tuple import NamedTuple

_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"]*\"|[%$\w]+|\.\w+(?:::\w+)*|[^\s]", re.DOTALL
)
_NAME = re.compile(rb"[%$A-Za-z_]")


class Size(NamedTuple):
    """Sizes are compared in the order of the fields. Blanks and line ends do not count."""

    tokens: int
    names: int
    """The tokens that are not numbers, modifiers or punctuation: a constant is simpler than a register."""
    length: int
    text: bytes
    """The tokens themselves, so that no two different texts are equally large."""


def size_of(data: bytes) -> Size:
    """The size of a text; a comment is one token."""
    tokens: list[bytes] = _TOKEN.findall(data)
    names = sum(_NAME.match(token) is not None for token in tokens)
    return Size(len(tokens), names, sum(map(len, tokens)), b" ".join(tokens))
