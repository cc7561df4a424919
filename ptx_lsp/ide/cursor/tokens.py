"""The text of a file as tokens and comments, valid or not.

Statements come from the tree. This module provides tokens that the tree does not keep (comments, keywords,
single modifiers) and unfinished text. The tokens are those of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Source

Kind: TypeAlias = Literal[
    "comment", "preprocessor", "dwarf", "string", "number", "word", "dotted", "mark", "other"
]
"""`word` is an identifier, `dotted` a directive, type or modifier with its dot, `mark` punctuation."""


class Token(NamedTuple):
    """Bytes `start` to `end` of a text. A comment is also one token."""

    start: int
    end: int
    kind: Kind

    def moved(self, by: int) -> Token:
        return Token(self.start + by, self.end + by, self.kind)


_TOKEN = re.compile(
    r"""[ \t\n\f\r\x1a]*(?:
      (?P<word> [A-Za-z_][\w$]* | [$%][\w$]+ )
    | (?P<mark> && | \|\| | << | >> | <= | >= | == | != | (?!//|/\*|@@) [-,;:(){}\[\]@!=|<>+*/%&^~?] )
    | (?P<number> \d+\.\d*(?:[eE][+-]?\d+)? | \d+[eE][+-]?\d+(?![\w$]) | \d[\w$]* )
    | (?P<dotted> \.\w+ (?: ::\w+ (?: :\d+ )? )* )
    | (?P<comment> //[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<string> "[^"\n]*" | "[^"]*"(?=[ \t\r\f\x1a]*[;,]) | "[^"\n;]* )
    | (?P<preprocessor> \#[^\n]* )
    | (?P<dwarf> @@[^\n]* )
    | (?P<other> [^ \t\n\f\r\x1a] )
    )""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of `text` (one character per byte) that begin from `start` to before `end`.

    `start` must not be within a token.
    """
    match = _TOKEN.match
    stop = len(text) if end is None else end
    found = match(text, start)
    while found is not None:
        kind = cast("Kind", found.lastgroup)
        first, last = found.span(kind)
        if first >= stop:
            return
        yield Token(first, min(last, stop), kind)  # an unterminated comment extends to the end of the file
        found = match(text, last)


def token_at(source: Source, start: int, end: int, offset: int) -> Token | None:
    """The token between `start` and `end` that contains `offset`, else the one that ends there."""
    before: Token | None = None
    for token in tokens(source.part(start, end)):
        if start + token.start > offset:
            break
        before = token.moved(start)
        if offset < before.end:
            return before
    return before if before is not None and before.end == offset else None
