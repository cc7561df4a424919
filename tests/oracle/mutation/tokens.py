"""PTX cut into tokens and statements, well enough to damage it in a chosen place.

It shares nothing with the grammar that it helps to judge, and is only used on files that ptxas takes.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "instruction", "declaration", "label", "open", "close", "head", "line", "section"
]
"""`head` is a function up to its `{` or `;`; `line` a directive that its line ends."""

LINKAGE = frozenset({".visible", ".extern", ".weak", ".common"})
_ENDED_BY_LINE = frozenset({".version", ".target", ".address_size", ".file", ".loc"})
_TOKEN = re.compile(
    r"""
    (?P<space> \s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]* )
  | (?P<string> "[^"\n]*" )
  | (?P<number> 0[fFdD][0-9a-fA-F]{8,16} | 0[xX][0-9a-fA-F]+U? | \d+(?:\.\d*)?(?:[eE][+-]?\d+)?U? )
  | (?P<word> [A-Za-z_$%][\w$]* )
  | (?P<dotted> \.\w+(?:::\w+)* )
  | (?P<mark> . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


class Token(NamedTuple):
    """`kind` is the name of a group of `_TOKEN`; offsets count characters of the file."""

    kind: str
    start: int
    end: int
    text: str


class Statement(NamedTuple):
    """Consecutive tokens. `function` counts from 0, -1 at module level; `block` names the innermost
    open `{` by its offset, -1 at module level.
    """

    kind: Kind
    tokens: tuple[Token, ...]
    function: int
    block: int

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end

    @property
    def opcode(self) -> tuple[Token, ...]:
        """The word and the modifiers of an instruction."""
        begin = next(
            i for i, token in enumerate(self.tokens)
            if token.kind == "word" and (i == 0 or self.tokens[i - 1].text not in ("@", "!"))
        )
        stop = begin + 1
        while self.tokens[stop].kind == "dotted":
            stop += 1
        return self.tokens[begin:stop]

    @property
    def operands(self) -> tuple[tuple[Token, ...], ...]:
        """The operands of an instruction, each with its brackets and without its comma."""
        operands: list[tuple[Token, ...]] = []
        current: list[Token] = []
        depth = 0
        begin = self.tokens.index(self.opcode[-1]) + 1
        for token in self.tokens[begin:-1]:
            depth += (token.text in "([{") - (token.text in ")]}")
            if token.text == "," and depth == 0:
                operands.append(tuple(current))
                current = []
            else:
                current.append(token)
        return (*operands, tuple(current)) if current else tuple(operands)


class PtxFile:
    """A file that ptxas takes, cut into statements."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.tokens = [
            Token(match.lastgroup, match.start(), match.end(), match[0])
            for match in _TOKEN.finditer(text)
            if match.lastgroup is not None and match.lastgroup != "space"
        ]
        self.statements = list(_Statements(self).all())

    def of(self, *kinds: Kind) -> list[Statement]:
        return [statement for statement in self.statements if statement.kind in kinds]


class _Statements:
    def __init__(self, file: PtxFile) -> None:
        self.text = file.text
        self.tokens = file.tokens
        self.at = 0
        self.functions = -1
        self.blocks: list[int] = []

    def all(self) -> list[Statement]:
        found: list[Statement] = []
        while self.at < len(self.tokens):
            begin = self.at
            kind = self._next()
            tokens = tuple(self.tokens[begin : self.at])
            block = self.blocks[-1] if self.blocks else -1
            inside = kind == "head" or bool(self.blocks) or kind == "close"
            found.append(Statement(kind, tokens, self.functions if inside else -1, block))
            if kind == "open":
                self.blocks.append(tokens[0].start)
            elif kind == "close":
                self.blocks.pop()
        return found

    def _next(self) -> Kind:
        token = self.tokens[self.at]
        following = self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else token
        if token.text in "{}":
            self.at += 1
            return "open" if token.text == "{" else "close"
        if token.kind == "word" and following.text == ":":
            self.at += 2
            return "label"
        if token.text in _ENDED_BY_LINE:
            self._to_line_end()
            return "line"
        if token.text == ".section":
            self._past("}")
            return "section"
        if token.kind == "dotted":
            after = following.text if token.text in LINKAGE else token.text
            if after in (".entry", ".func"):
                self.functions += 1
                self._past_head()
                return "head"
            self._past(";")
            return "declaration"
        self._past(";")
        return "instruction"

    def _to_line_end(self) -> None:
        stop = self.text.find("\n", self.tokens[self.at].start)
        while self.at < len(self.tokens) and self.tokens[self.at].start < stop:
            self.at += 1

    def _past(self, mark: str) -> None:
        while self.tokens[self.at].text != mark:
            self.at += 1
        self.at += 1

    def _past_head(self) -> None:
        while self.tokens[self.at].text != "{":
            self.at += 1
            if self.tokens[self.at - 1].text == ";":
                return
