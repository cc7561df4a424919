"""The `asm` statement of C, C++ and CUDA.

Its parts are read from tokens, not from a tree: nvcc takes what the grammar of C++ does not, such as operands
without a comma between them and calls of macros in the template, and in the definition of a macro there is no
tree. https://docs.nvidia.com/cuda/inline-ptx-assembly
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import cache
from itertools import islice
from typing import Final, TypeAlias

from ptx_lsp.embedded.block import Access, Block, Clobber, Operand
from ptx_lsp.embedded.c_tokens import Token, add_literal, tokens
from ptx_lsp.embedded.c_types import evident_type
from ptx_lsp.embedded.mapped_text import Builder, Encode, MappedText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.text import Edit, Span

REGISTER_TYPES: Final = {"h": ".b16", "r": ".b32", "l": ".b64", "q": ".b128", "f": ".f32", "d": ".f64"}
"""The types of the registers that nvcc passes, by the letter of the constraint."""
Macros: TypeAlias = Callable[[bytes], bytes | None]
"""The text that an object-like macro stands for; None if it is unknown."""

KEYWORDS: Final = (b"asm", b"__asm__", b"__asm")
_QUALIFIERS: Final = (b"volatile", b"__volatile__", b"__volatile", b"goto", b"inline", b"__inline__")
_REFERENCE = lazy_pattern(rb"%(?:(?P<special>[%{|}=])|\[(?P<name>\w+)\])")
_OPENING: Final = (b"(", b"[", b"{")
_CLOSING: Final = (b")", b"]", b"}")
_MOST_TOKENS: Final = 50_000
"""A statement without an end costs no more than this."""


def asm_statement(
    data: bytes, keyword: Span, host: str, language: str, macros: Macros = lambda name: None
) -> Block | None:
    """The block whose `asm` is at `keyword`; None if none is there, or no text stands in it."""
    window = _WINDOW
    while True:
        part = data[keyword.start : keyword.start + window]
        statement = _Statement(part, keyword.end - keyword.start, macros)
        found = _block(statement, keyword, host, language)
        is_whole = not statement.is_exhausted and statement.end < window
        if is_whole or keyword.start + window >= len(data):
            return found
        window *= 8


def macros_of(data: bytes) -> Macros:
    """The texts of macros without parameters that are defined once, as string literals only."""

    @cache
    def definitions() -> dict[bytes, list[bytes]]:
        found: dict[bytes, list[bytes]] = {}
        for match in _DEFINITION.finditer(data):
            found.setdefault(match["name"], []).append(match["value"])
        return found

    def text(name: bytes) -> bytes | None:
        found = definitions().get(name, ())
        return _macro_text(found[0]) if len(found) == 1 else None

    return text


_DEFINITION = lazy_pattern(
    rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<value>(?:\\\r?\n|[^\n])*)", re.MULTILINE
)


def _macro_text(value: bytes) -> bytes | None:
    if value.startswith(b"("):
        return None
    builder = Builder()
    for token in tokens(value):
        if token.kind not in ("string", "raw"):
            return None
        add_literal(builder, value, token)
    return builder.text().data


_WINDOW: Final = 16 << 10
"""Bytes in which most statements end."""


def _block(statement: _Statement, keyword: Span, host: str, language: str) -> Block | None:
    if not statement.opened():
        return None
    builder = Builder()
    template = statement.template(builder)
    if template is None:
        return None
    has_operands = statement.mark in (b":", b"::")
    section = 0
    while statement.mark in (b":", b"::"):
        section += len(statement.mark)
        statement.section(section)
    text = builder.text()
    has_memory_edit = (
        statement.mark == b")"
        and section <= 3
        and (section or b"%" not in text.data)
        and not statement.has_unknown
    )
    if has_operands:
        text = _with_operands(text, statement)
    is_volatile = statement.is_volatile or all(one.access == "read" for one in statement.operands)
    return Block(
        host,
        language,
        keyword.start,
        statement.end,
        keyword.shifted(-keyword.start),
        text,
        template,
        tuple(statement.operands),
        tuple(statement.clobbers),
        is_volatile,
        has_operands,
        operands_known=not statement.has_unknown,
        missing_commas=tuple(statement.missing_commas),
        memory_edit=_memory_edit(section, statement) if has_memory_edit else None,
        volatile_edit=Edit(keyword.end - keyword.start, keyword.end - keyword.start, b" volatile"),
        is_context_free=not statement.has_macros and statement.mark == b")",
    )


def _memory_edit(section: int, statement: _Statement) -> Edit:
    """Adds `"memory"` to the clobbers, behind the last part of the statement."""
    at = statement.last_end
    colons = b":" * (3 - section)
    before = b", " if statement.clobbers else b" %b " % colons if colons else b" "
    return Edit(at, at, before + b'"memory"')


def _with_operands(text: MappedText, statement: _Statement) -> MappedText:
    """The template with the names of operands as PTX has them."""
    values = {
        operand.name.encode(): operand.value.encode()
        for operand in statement.operands
        if operand.value is not None
    }

    def replacement(match: re.Match[bytes]) -> bytes | None:
        special = match["special"]
        if special is not None:
            return b"0" if special == b"=" else special
        return statement.names.get(match["name"])

    text = text.replaced(_REFERENCE, replacement)
    if values:
        text = text.replaced(_OPERAND, lambda match: values.get(match[0]))
    unknown = {one.name.encode() for one in statement.operands if one.type is None and one.value is None}
    if unknown:

        def part_of_word(match: re.Match[bytes]) -> bytes | None:
            return b"_hole_%b" % match[0][1:] if match[0] in unknown else None

        text = text.replaced(_PART_OF_WORD, part_of_word, "hole")
    if not statement.operands and not statement.has_unknown:
        return text  # nvcc replaces nothing then, also not `%%`, whereas clang does
    return text.with_encoding(_percent_doubled)


_OPERAND = lazy_pattern(rb"%\d+")
_PART_OF_WORD = lazy_pattern(rb"(?<=[\w.])%\d+")
_NO_OPERAND = lazy_pattern(r"%(?!\d)")


def _percent_doubled(encode: Encode) -> Encode:
    return lambda text: encode(_NO_OPERAND.sub("%%", text))


class _Statement:
    """Reads one statement. `mark` is the last token that ended a part of it."""

    def __init__(self, data: bytes, start: int, macros: Macros) -> None:
        self._data = data
        self._tokens = islice(tokens(data, start), _MOST_TOKENS)
        self._macros = macros
        self._waiting: Token | None = None
        self.end = start
        self.is_exhausted = False
        """Whether the text ended before the statement did."""
        self.has_macros = False
        self.mark = b""
        self.is_volatile = False
        self.operands: list[Operand] = []
        self.clobbers: list[Clobber] = []
        self.has_unknown = False
        """Whether a macro may stand for operands or clobbers."""
        self.missing_commas: list[Span] = []
        self.last_end = start
        """The end of the last token before the final parenthesis."""
        self.names: dict[bytes, bytes] = {}
        """The names of operands in PTX by their symbolic names."""

    def _next(self) -> Token | None:
        token, self._waiting = self._waiting, None
        if token is None:
            token = next(self._tokens, None)
        if token is not None:
            self.last_end, self.end = self.end, token.span.end
        self.is_exhausted |= token is None
        return token

    def _text(self, token: Token) -> bytes:
        return self._data[token.span.start : token.span.end]

    def opened(self) -> bool:
        """Reads up to the parenthesis that opens it."""
        while (token := self._next()) is not None and token.kind == "word":
            if (word := self._text(token)) not in _QUALIFIERS:
                return False
            self.is_volatile |= b"volatile" in word
        return token is not None and self._text(token) == b"("

    def template(self, builder: Builder) -> Span | None:
        """Reads the template up to the mark behind it. Returns its range; None if it has no literal."""
        start: int | None = None
        end, has_literal = 0, False
        while (token := self._next()) is not None:
            text = self._text(token)
            if text in (b":", b"::", b")", b";"):
                self.mark = text
                break
            if text in KEYWORDS:  # another statement: this one has no end
                self.mark, self.end = b";", self.last_end
                break
            start = token.span.start if start is None else start
            if token.kind in ("string", "raw"):
                has_literal = True
                add_literal(builder, self._data, token)
            elif token.kind == "word" and (known := self._macros(text)) is not None:
                has_literal = self.has_macros = True
                builder.add(known, token.span, "replaced", _unwritable)
            else:
                span = self._call(token)
                self.has_macros = True
                builder.hole(self._data[span.start : span.end], span, _unwritable)
            end = self.end
        return Span(start, end) if start is not None and has_literal else None

    def _call(self, first: Token) -> Span:
        """The range of a macro with its arguments, or of a parameter with its `#`."""
        token = first
        if self._text(token) == b"#":
            token = self._next() or token
        if token.kind == "word":
            following = self._waiting = self._next()
            if following is not None and self._text(following) == b"(":
                self._waiting = None
                self._skip_balanced(KEYWORDS)
            elif following is not None:
                self.end = token.span.end
        elif self._text(token) == b"(":
            self._skip_balanced(KEYWORDS)
        return Span(first.span.start, max(self.end, first.span.end))

    def _skip_balanced(self, end: Container[bytes] = ()) -> None:
        """Skips up to the parenthesis that closes the open one, or to a word of `end`."""
        depth = 1
        while depth and (token := self._next()) is not None:
            text = self._text(token)
            if text in end:
                self._waiting = token
                return
            depth += (text in _OPENING) - (text in _CLOSING)

    def section(self, number: int) -> None:
        """Reads one part behind a colon: outputs, inputs, clobbers, or labels."""
        symbol = b""
        constraint: list[Token] = []
        self.mark = b""
        is_unknown = False
        behind_operand: int | None = None
        while (token := self._next()) is not None:
            text = self._text(token)
            if behind_operand is not None and (token.kind in ("string", "raw") or text == b"["):
                self.missing_commas.append(Span(behind_operand, behind_operand))
            behind_operand = None
            if text in (b":", b"::", b")", b";", b","):
                self.has_unknown |= is_unknown
                is_unknown = False
            if text in (b":", b"::", b")", b";"):
                self.mark = text
                return
            is_unknown |= token.kind == "word" or text == b"#"
            if token.kind in ("string", "raw"):
                if number == 3:
                    name = self._data[slice(*token.content)].decode("utf-8", "replace")
                    self.clobbers.append(Clobber(name, token.span))
                else:
                    constraint.append(token)
            elif text == b"[" and number <= 2:
                symbol = self._symbol()
            elif text == b"(":
                inside = self.end
                self._skip_balanced()
                if number <= 2:
                    is_unknown = False
                    self._add_operand(number, constraint, symbol, Span(inside, max(inside, self.end - 1)))
                    symbol = b""
                    constraint = []
                    behind_operand = self.end

    def _symbol(self) -> bytes:
        token = self._next()
        closing = self._waiting = self._next()
        if closing is not None and self._text(closing) == b"]":
            self._waiting = None
        return self._text(token) if token is not None else b""

    def _add_operand(
        self, section: int, parts: list[Token], symbol: bytes, expression: Span
    ) -> None:
        name = f"%{len(self.operands)}"
        if symbol:
            self.names[symbol] = name.encode()
        text = b"".join(self._data[slice(*part.content)] for part in parts).decode("utf-8", "replace")
        first = parts[0].span.start if parts else expression.start
        span = Span(first, parts[-1].span.end if parts else first)
        letters = text.strip().lstrip("=+&%").strip()
        access: Access = "read" if section == 2 else "both" if "+" in text else "write"
        passed = self._data[slice(*expression)].decode("utf-8", "replace").strip()
        tied = f"%{letters}" if letters.isdecimal() else None
        type = REGISTER_TYPES.get(letters)
        if tied is not None:
            type = next((one.type for one in self.operands if one.name == tied), None)
        self.operands.append(
            Operand(
                name, type, access, text, span, passed, expression,
                early_clobber="&" in text, value=_constant(letters, passed), tied_to=tied,
                symbol=symbol.decode("utf-8", "replace"),
                host_type=evident_type(passed) if tied is None and type is not None else None,
            )
        )


_NUMBER = lazy_pattern(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)(?=[uUlL]*\Z)")


def _constant(constraint: str, expression: str) -> str | None:
    """The value of a constant operand that is a literal."""
    found = _NUMBER.match(expression) if constraint == "n" else None
    return found[0] if found is not None else None


def _unwritable(text: str) -> str | None:
    return None

