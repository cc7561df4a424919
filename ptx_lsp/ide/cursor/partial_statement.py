"""The unfinished statement before the cursor."""

from __future__ import annotations

import re

from ptx_lsp.ide.cursor.cursor_context import function_at, item_at, statement_before
from ptx_lsp.ide.cursor.tokens import Token, tokens
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span


class PartialStatement(NamedTuple):
    """`words` are the texts of the tokens before the current one, `ends` their ends. Labels and the guard
    before the statement are left out. `word` is the part of the current token before the cursor, at `span`.
    """

    module: Module
    function: Function | None
    """The function whose body contains the cursor."""
    header: Function | None
    """The function whose header contains the cursor."""
    words: tuple[str, ...]
    ends: tuple[int, ...]
    word: str
    span: Span
    guard: bool
    """Whether the predicate of a guard is being typed."""
    string: str | None
    """The part of a string before the cursor; None outside strings."""
    end: int
    """The end of the word; after the cursor if that is inside the word."""
    next_token: str
    """The next token after the word on its line; empty if there is none."""

    @property
    def is_attached(self) -> bool:
        """Whether no blank precedes the word."""
        return bool(self.ends) and self.ends[-1] == self.span.start

    @property
    def start(self) -> int:
        """The start of the statement, without labels and guard."""
        return self.ends[0] - len(self.words[0]) if self.words else self.span.start

    @property
    def spelling(self) -> str:
        """The opcode with its modifiers, without blanks; empty if absent."""
        if not self.words or not re.match(r"[A-Za-z_]", self.words[0]):
            return ""
        end = 1
        while end < len(self.words) and self.words[end].startswith("."):
            end += 1
        return "".join(self.words[:end])

    @property
    def is_labelled(self) -> bool:
        """Whether a label precedes the statement."""
        before = self.module.document.source.part(max(0, self.start - _NEAR), self.start)
        return _LABEL.search(before) is not None

    @property
    def following_modifiers(self) -> str:
        """The modifiers after the word on its line, without blanks."""
        line = self.module.document.source.part(self.end, self.end + _NEAR).partition("\n")[0]
        found = _MODIFIERS.match(line)
        return re.sub(r"\s+", "", found[0]) if found is not None else ""

    @property
    def operand_tokens(self) -> tuple[str, ...]:
        """The tokens after the spelling."""
        end = 1
        while end < len(self.words) and self.words[end].startswith("."):
            end += 1
        return self.words[end:]


_WORD = re.compile(r"(?:(?<![\w$%.:])\d+\.\d*|\.[\w:]*|[%$]?[\w$]*)\Z", re.ASCII)


def partial_statement(module: Module, offset: int) -> PartialStatement | None:
    """The unfinished statement at `offset`; None within a comment."""
    function, header = _functions(module, offset)
    start = _start(module, function, header, offset)
    text = module.document.source.part(start, offset)
    found = list(tokens(text))
    string = None
    last = found[-1] if found else None
    if last is not None and _goes_on(text, last):
        if last.kind != "string":
            return None
        begin = last.start + 1
        string = text[begin:]
        found.pop()
    else:
        prefix = _WORD.search(text, max(0, len(text) - _NEAR))
        begin = prefix.start() if prefix else len(text)
        found = [token for token in found if token.end <= begin]
    found = [token for token in found if token.kind not in ("comment", "preprocessor")]
    words = [text[token.start : token.end] for token in found]
    first, guard = _statement(text, found, words, in_body=function is not None)
    if words[first : first + 1] and words[first] in _LINES and words[-1] != "," and (
        "\n" in text[found[-1].end : begin]
    ):
        first = len(words)  # the line of the directive is complete
    return PartialStatement(
        module, function, header, tuple(words[first:]),
        tuple(start + token.end for token in found[first:]),
        text[begin:], Span(start + begin, offset), guard, string,
        *_after(module, text[begin:], string is not None, offset),
    )


def _after(module: Module, word: str, in_string: bool, offset: int) -> tuple[int, str]:
    """The end of the word at `offset`, and the first token after it on its line."""
    line = module.document.source.part(offset, offset + _NEAR).partition("\n")[0]
    rest = _rest(word, in_string).match(line)
    end = rest.end() if rest is not None else 0
    token = next(tokens(line, end), None)
    behind = line[token.start : token.end] if token is not None and token.kind != "comment" else ""
    return offset + end, behind


def _rest(word: str, in_string: bool) -> re.Pattern[str]:
    """The characters that continue a word; nothing continues an empty one."""
    if in_string:
        return _REST_OF_STRING
    if not word:
        return _NOTHING
    if word[0].isdigit():
        return _REST_OF_NUMBER
    return _REST_OF_DOTTED if word[0] == "." else _REST_OF_NAME


_NEAR = 200
"""The maximum bytes of a word around the cursor."""
_REST_OF_STRING = re.compile(r'[^"\n;]*(?=")')
_LABEL = re.compile(r"[\w$%]:\s*\Z", re.ASCII)
_MODIFIERS = re.compile(r"(?:\s*\.[\w:]+)*", re.ASCII)
_REST_OF_NUMBER = re.compile(r"[\w.]*", re.ASCII)
_REST_OF_DOTTED = re.compile(r"\w*(?:::?\w+)*", re.ASCII)
_REST_OF_NAME = re.compile(r"[\w$]*", re.ASCII)
_NOTHING = re.compile("")


def _functions(module: Module, offset: int) -> tuple[Function | None, Function | None]:
    """The functions whose body and whose header contain the offset."""
    function = function_at(module, offset) or function_at(module, max(0, offset - 1))
    if function is None:
        return None, None
    body = function.node.body
    if body is not None and function.item.offset(body.start) < offset:
        is_closed = offset >= function.span(body).end and not function.item.is_unclosed
        return (None, None) if is_closed else (function, None)
    return None, function


def _start(
    module: Module, function: Function | None, header: Function | None, offset: int
) -> int:
    """A place not far before the cursor where a statement begins."""
    if function is not None:
        before = statement_before(function, max(0, offset - 1))
        if before is not None:
            return function.item.offset(before.start)
        body = function.node.body
        return function.item.offset(body.start) if body is not None else function.item.start
    if header is not None:
        return header.item.start
    item = item_at(module, max(0, offset - 1))
    if item is not None and (
        not isinstance(item.node, nodes.Section) or not _is_in_braces(module, item, offset)
    ):
        return item.start
    items = module.document.items
    earlier = [one for one in items if one.start < offset] if len(items) < _FEW else []
    line = module.document.source.data.rfind(b"\n", 0, offset) + 1
    return max((one.end for one in earlier if one.end <= offset), default=line)


def _is_in_braces(module: Module, section: Item, offset: int) -> bool:
    """Whether the offset is after the head of a section."""
    return module.document.source.data.find(b"{", section.start, offset) >= 0


_FEW = 2000


def _goes_on(text: str, last: Token) -> bool:
    """Whether the last token of a text is an unterminated comment or string."""
    if last.kind == "string":
        return text[last.end - 1] != '"' or last.end - last.start == 1
    if last.kind == "comment" and text.startswith("/*", last.start):
        return not text.endswith("*/", last.start + 2, last.end)
    return last.kind in ("comment", "preprocessor", "dwarf") and last.end == len(text)


_LINES = frozenset((
    ".version", ".target", ".address_size", ".file", ".loc", ".loc_intermediate",
    ".b8", ".b16", ".b32", ".b64",  # the data of a section
))
"""The directives that end with their line, unless it ends with a comma."""


def _statement(
    text: str, found: list[Token], words: list[str], in_body: bool
) -> tuple[int, bool]:
    """The index of the first token of the last statement, and whether its guard is incomplete."""
    first = 0
    for index, word in enumerate(words):
        begins = words[first] if first < index else ""
        is_block = word == "{" and (
            first == index or (begins[:1] == "." and "=" not in words[first:index])
        )
        ends = word == ";" or is_block or (word == "}" and "{" not in words[first:index])
        if ends or (word == ":" and index == first + 1 and in_body):
            first = index + 1
        elif index > first and begins in _LINES and (
            "\n" in text[found[index - 1].end : found[index].start] and words[index - 1] != ","
        ):
            first = index
    guard = False
    if first < len(words) and words[first] == "@":
        first += 2 if words[first + 1 : first + 2] == ["!"] else 1
        guard = first >= len(words)
        first = min(first + 1, len(words))
    return first, guard
