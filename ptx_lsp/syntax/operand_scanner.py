"""Reads operands that are words, addresses and lists of words, without a tree.

What a word is depends on its text alone: it must be a token of the grammar, which is asked once a text.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from ptx_lsp.syntax import nodes

NAME: Final = r"(?>[A-Za-z_][\w$]*+|[$%][\w$]++)"
SPACE: Final = r"[ \t\r\n]*+"
_FLAT: Final = r"[^][(){};\"/|\n]*+"
OPERAND: Final = (
    r"(?>[-!]?+[\w$%][\w$%.|]*+"
    rf"|\[{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})?+\]"
    rf"|\{{{_FLAT}\}}"
    r"|\([^][(){};\"/|]*+\))"
)
"""The extent of an operand."""
_NAMES: Final = re.compile(NAME, re.ASCII)
_OPCODES: Final = re.compile(r"[A-Za-z_][\w$]*(?:\.\w+(?:::\w+(?::[0-9]+)?)*)*", re.ASCII)
_INTEGERS: Final = re.compile(r"0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?")
_FLOATS: Final = re.compile(r"[0-9]+\.[0-9]*(?:[eE][0-9]+)?")
_EXACT_FLOATS: Final = re.compile(r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}")
_ADDRESS: Final = re.compile(
    rf"[ \t]*+(?:({NAME})(?:[ \t]*+\+[ \t]*+(-?+)([0-9]\w*+))?+|(\{{[^{{}}]*+\}}))[ \t]*+(?:,|$)", re.ASCII
)
_MOST_WORDS: Final = 100_000
_names: Final[dict[str, str]] = {}
"""The names read so far, which are then known to be names."""
_opcodes: Final[dict[str, str]] = {}
_numbers: Final[dict[str, str]] = {}
"""The kinds of numbers by their text; empty for text that is no number."""


class OperandScanner:
    """Reads operands; None where one is not regular. Positions are those of the nodes."""

    __slots__ = ("names", "numbers", "opcodes")

    def __init__(self) -> None:
        self.names = _names
        self.numbers = _numbers
        self.opcodes = _opcodes

    def opcode(self, word: str) -> str | None:
        if _OPCODES.fullmatch(word) is None:
            return None
        if len(self.opcodes) > _MOST_WORDS:
            self.opcodes.clear()
        word = sys.intern(word)
        self.opcodes[word] = word
        return word

    def name(self, word: str) -> str | None:
        if _NAMES.fullmatch(word) is None:
            return None
        if len(self.names) > _MOST_WORDS:
            self.names.clear()
        word = sys.intern(word)
        self.names[word] = word
        return word

    def _kind(self, word: str) -> str:
        """The kind of a number; empty if it is none."""
        kind = self.numbers.get(word)
        if kind is None:
            kind = (
                "integer" if _INTEGERS.fullmatch(word)
                else "exact_float" if _EXACT_FLOATS.fullmatch(word)
                else "float" if _FLOATS.fullmatch(word)
                else ""
            )
            if len(self.numbers) > _MOST_WORDS:
                self.numbers.clear()
            self.numbers[word] = kind
        return kind

    # -- operands -------------------------------------------------------------------------------

    def operand(self, word: str, at: int) -> nodes.Operand | None:
        """An operand of an instruction that begins at `at`, from the base."""
        first = word[0]
        if first == "[":
            return self._address(word, at)
        if first == "{":
            items = self._items(word, at, is_group=False)
            return None if items is None else nodes.Vector(at, at + len(word), items)
        if first == "(":
            items = self._items(word, at, is_group=True)
            return None if items is None else nodes.Group(at, at + len(word), items)
        return self._word(word, at)

    def _word(self, word: str, at: int) -> nodes.Operand | None:
        known = self.names.get(word)
        end = at + len(word)
        if known is not None:
            return nodes.Name(at, end, known)
        first = word[0]
        if first == "-":
            kind = self._kind(word[1:])
            if not kind:
                return None
            return nodes.Unary(at, end, "-", nodes.Number(at + 1, end, word[1:], kind))
        if first == "!":
            known = self.name(word[1:])
            return None if known is None else nodes.Unary(at, end, "!", nodes.Name(at + 1, end, known))
        if first in "0123456789":
            kind = self._kind(word)
            return nodes.Number(at, end, word, kind) if kind else None
        known = self.name(word)
        if known is not None:
            return nodes.Name(at, end, known)
        if "|" in word:
            one, _, other = word.partition("|")
            left, right = self.name(one), self.name(other)
            if left is None or right is None:
                return None
            middle = at + len(one)
            return nodes.Pair(at, end, nodes.Name(at, middle, left), nodes.Name(middle + 1, end, right))
        one, _, other = word.partition(".")
        left = self.name(one)
        if left is None or not other or not other.replace("_", "a").isalnum():
            return None
        middle = at + len(one)
        component = nodes.Name(middle, end, sys.intern("." + other))
        return nodes.Member(at, end, nodes.Name(at, middle, left), (component,))

    def _items(self, word: str, at: int, is_group: bool) -> tuple[nodes.Operand, ...] | None:
        """The items between two brackets."""
        items: list[nodes.Operand] = []
        if is_group and not word[1:-1].strip(" \t\r\n"):
            return ()
        names = self.names
        start = at + 1
        for part in word[1:-1].split(","):
            text = part.strip(" \t\r\n")
            if not text:
                return None
            begin = start if len(text) == len(part) else start + part.index(text)
            known = names.get(text)
            if known is not None:
                items.append(nodes.Name(begin, begin + len(text), known))
            else:
                item = self._word(text, begin)
                if item is None or isinstance(item, nodes.Pair):
                    return None
                if is_group and isinstance(item, nodes.Member):
                    return None
                if isinstance(item, nodes.Unary) and item.operator == "!":
                    return None
                items.append(item)
            start += len(part) + 1
        return tuple(items)

    def _address(self, word: str, at: int) -> nodes.Address | None:
        inside = word[1:-1]
        end = at + len(word)
        known = self.names.get(inside)
        if known is not None and known != "_":
            return nodes.Address(at, end, (nodes.Name(at + 1, end - 1, known),), None)
        items: list[nodes.Operand] = []
        position, last = 0, len(inside)
        while True:
            found = _ADDRESS.match(inside, position)
            if found is None:
                return None
            base, sign, offset, vector = found.groups()
            if vector is not None:
                begin = at + 1 + found.start(4)
                inner = self._items(vector, begin, is_group=False) if items else None
                if inner is None:
                    return None
                items.append(nodes.Vector(begin, begin + len(vector), inner))
            else:
                known = self.names.get(base) or self.name(base)
                if known is None or known == "_":
                    return None
                begin = at + 1 + found.start(1)
                value: nodes.Operand = nodes.Name(begin, begin + len(known), known)
                if offset is not None:
                    if self._kind(offset) != "integer":
                        return None
                    first = at + 1 + found.start(3)
                    stop = first + len(offset)
                    number: nodes.Number | nodes.Unary = nodes.Number(first, stop, offset, "integer")
                    if sign:
                        number = nodes.Unary(first - 1, stop, "-", number)
                    value = nodes.Binary(begin, stop, "+", value, number)
                items.append(value)
            position = found.end()
            if position == last:
                break
        if inside[-1] == ",":
            return None
        return nodes.Address(at, end, tuple(items), None)
