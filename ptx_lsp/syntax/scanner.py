"""Reads the regular statements of a text without a tree: plain instructions, labels, `.loc` and declarations.

A statement that is read here has the nodes that lowering its tree gives, and no problems. Any other text, such
as an expression, a comment inside a statement or an error, is not read, and the tree decides
(`tests/properties/test_scanner.py` compares both).

One expression finds the extent of a statement and of its operands. What a word is depends on its text alone: it
must be a token of the grammar, which is asked once for each text.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from ptx_lsp.syntax import nodes

GAP: Final = r"(?>[ \t\r\n]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+"
"""What may stand between two statements."""
NAME: Final = r"(?>[A-Za-z_][\w$]*+|[$%][\w$]++)"
WHOLE: Final = r"(?>0|[1-9][0-9]*+)(?![\w$.])"
_FLAT: Final = r"[^][(){};\"/|\n]*+"
_OPERAND: Final = (
    r"(?>[-!]?+[\w$%][\w$%.|]*+"
    rf"|\[{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})?+\]"
    rf"|\{{{_FLAT}\}}"
    r"|\([^][(){};\"/|]*+\))"
)
_SLOTS: Final = 5
"""More operands are found one by one."""
_SPACE: Final = r"[ \t\r\n]*+"
_NEXT: Final = rf"{_SPACE},{_SPACE}"
_INSTRUCTION: Final = (
    r"(?:(@!?+)([\w$%]++)[ \t]++)?+([A-Za-z_][\w$.:]*+)(?<!:)"
    rf"(?:[ \t\r\n]++({_OPERAND})"
    + rf"(?:{_NEXT}({_OPERAND})" * (_SLOTS - 1)
    + rf"((?:{_NEXT}{_OPERAND})*+)"
    + r")?+" * _SLOTS
    + rf"{_SPACE};"
)
_LABEL: Final = rf"({NAME})[ \t]*+:(?!:)"
_LOCATION: Final = rf"(\.loc)[ \t]++({WHOLE})[ \t]++({WHOLE})[ \t]++({WHOLE})"
_BRACE: Final = r"([{}])"
_STATEMENT: Final = re.compile(
    rf"{GAP}(?:{_INSTRUCTION}|{_LABEL}|{_LOCATION}|{_BRACE}|(?=(\.(?:reg|local|shared|param|global|pragma)\b))|())",
    re.ASCII,
)
_REST: Final = 4 + _SLOTS
_LABEL_NAME: Final = _REST + 1
_LOC: Final = _REST + 2
_BRACES: Final = _REST + 6
_DECLARED: Final = _REST + 7

_NAMES: Final = re.compile(NAME, re.ASCII)
_OPCODES: Final = re.compile(r"[A-Za-z_][\w$]*(?:\.\w+(?:::\w+(?::[0-9]+)?)*)*", re.ASCII)
_INTEGERS: Final = re.compile(r"0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?")
_FLOATS: Final = re.compile(r"[0-9]+\.[0-9]*(?:[eE][0-9]+)?")
_EXACT_FLOATS: Final = re.compile(r"0[fF][0-9A-Fa-f]{8}|0[dD][0-9A-Fa-f]{16}")
_EACH_OPERAND: Final = re.compile(_OPERAND, re.ASCII)
_EACH_ITEM: Final = re.compile(rf"[ \t\r\n]*+({_OPERAND})[ \t\r\n]*+(?:,|$)", re.ASCII)
_ADDRESS: Final = re.compile(
    rf"[ \t]*+({NAME})(?:[ \t]*+\+[ \t]*+(-?+)([0-9]\w*+))?+[ \t]*+(?:,|$)|[ \t]*+(\{{[^{{}}]*+\}})[ \t]*+(?:,|$)", re.ASCII
)
_ATTRIBUTES: Final = re.compile(
    rf",[ \t]*+(function_name)[ \t]++({NAME})(?:[ \t]*+\+[ \t]*+({WHOLE}))?+[ \t]*+"
    rf",[ \t]*+(inlined_at)[ \t]++({WHOLE})[ \t]++({WHOLE})[ \t]++({WHOLE})",
    re.ASCII,
)
_PRAGMA: Final = re.compile(r"(\.pragma)[ \t]++(\"[^\"\n]*+\")[ \t]*+;")
_TYPE: Final = r"\.(?:pred|[bsuf](?:8|16|32|64)|b128|f16x2)\b"
_DECLARATION: Final = re.compile(
    rf"(\.(?:reg|local|shared|param|global)\b)(?:[ \t]*+\.align[ \t]++({WHOLE}))?+(?:[ \t]*+(\.v[248]))?+[ \t]*+({_TYPE})"
    rf"(?:[ \t]*+(\.ptr)(?:[ \t]*+(\.(?:global|shared|local|const)))?+(?:[ \t]*+\.align[ \t]++({WHOLE}))?+)?+[ \t]++",
    re.ASCII,
)
_DECLARATOR: Final = re.compile(rf"({NAME})(?:<({WHOLE})>|\[({WHOLE})\])?+[ \t]*+([,;]?+){_SPACE}", re.ASCII)
_MOST_WORDS: Final = 100_000
_NO_NAMES: Final = frozenset({"_", "function_name", "inlined_at"})


class Scanner:
    """Reads statements of `text`, which has one character per byte of the file; offsets count from `base`."""

    __slots__ = ("base", "brace", "end", "names", "numbers", "opcodes", "text")

    def __init__(self, text: str, base: int) -> None:
        self.text = text
        self.base = base
        self.end = 0
        """The end of the statement that was read last, in the text."""
        self.brace = ""
        """The `{` or `}` that was read instead of a statement."""
        self.names: dict[str, str] = _names
        self.numbers: dict[str, str] = _numbers
        self.opcodes: dict[str, str] = _opcodes

    def statement(self, at: int) -> nodes.Statement | None:
        """The statement at offset `at` of the text or behind blanks and comments there; None if it is not read
        here.
        """
        found = _STATEMENT.match(self.text, at)
        self.brace = ""
        if found is None or found.lastindex is None:
            return None
        kind = found.lastindex
        if kind <= _REST:
            return self._instruction(found)
        if kind == _LABEL_NAME:
            return self._label(found)
        if kind < _BRACES:
            return self._location(found)
        if kind == _DECLARED:
            at = found.start(_DECLARED)
            if self.text.startswith(".pragma", at):
                return self._pragma(at)
            return self._declaration(at, ";")
        if kind == _BRACES:
            self.brace = found[_BRACES]
            self.end = found.end()
        return None

    # -- instructions ---------------------------------------------------------------------------

    def _instruction(self, found: re.Match[str]) -> nodes.Instruction | None:
        base = self.base
        names = self.names
        groups = found.groups()
        spelling = self.opcodes.get(groups[2]) or self._opcode(groups[2])
        if spelling is None:
            return None
        begin, behind = found.span(3)
        start = begin - base
        opcode = nodes.Opcode(start, behind - base, spelling)
        guard: nodes.Guard | None = None
        if groups[0] is not None:
            predicate = names.get(groups[1]) or self._name(groups[1])
            if predicate is None:
                return None
            first, last = found.span(2)
            name = nodes.Name(first - base, last - base, predicate)
            negated = len(groups[0]) == 2
            start = found.start(1) - base
            guard = nodes.Guard(start, last - base, negated, name)
        operands: list[nodes.Operand] = []
        has_member = False
        for slot in range(3, 3 + _SLOTS):
            word = groups[slot]
            if word is None:
                break
            at = found.start(slot + 1) - base
            known = names.get(word)
            if known is not None:
                operands.append(nodes.Name(at, at + len(word), known))
                continue
            operand = self._operand(word, at)
            if operand is None:
                return None
            if isinstance(operand, nodes.Member):
                has_member = True
            operands.append(operand)
        if groups[_REST - 1]:
            first, last = found.span(_REST)
            for more in _EACH_OPERAND.finditer(self.text, first, last):
                operand = self._operand(more[0], more.start() - base)
                if operand is None:
                    return None
                operands.append(operand)
        end = found.end()
        if (has_member or groups[_REST - 1]) and "\n" in self.text[begin:end]:
            return None  # `membar.gl` on a line of its own may begin a statement
        self.end = end
        return nodes.Instruction(start, end - base, guard, opcode, tuple(operands))

    def _opcode(self, word: str) -> str | None:
        if _OPCODES.fullmatch(word) is None:
            return None
        if len(self.opcodes) > _MOST_WORDS:
            self.opcodes.clear()
        word = sys.intern(word)
        self.opcodes[word] = word
        return word

    def _name(self, word: str) -> str | None:
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

    def _operand(self, word: str, at: int) -> nodes.Operand | None:
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

    def _word(self, word: str, at: int) -> nodes.Name | nodes.Number | nodes.Unary | nodes.Member | nodes.Pair | None:
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
            known = self._name(word[1:])
            return None if known is None else nodes.Unary(at, end, "!", nodes.Name(at + 1, end, known))
        if first in "0123456789":
            kind = self._kind(word)
            return nodes.Number(at, end, word, kind) if kind else None
        known = self._name(word)
        if known is not None:
            return nodes.Name(at, end, known)
        if "|" in word:
            one, _, other = word.partition("|")
            left, right = self._name(one), self._name(other)
            if left is None or right is None:
                return None
            middle = at + len(one)
            return nodes.Pair(at, end, nodes.Name(at, middle, left), nodes.Name(middle + 1, end, right))
        one, _, other = word.partition(".")
        left = self._name(one)
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
                if item is None or isinstance(item, nodes.Pair) or (is_group and isinstance(item, nodes.Member)):
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
                known = self.names.get(base) or self._name(base)
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

    # -- other statements -----------------------------------------------------------------------

    def _label(self, found: re.Match[str]) -> nodes.Label | None:
        start, end = found.span(_LABEL_NAME)
        known = self._name(found[_LABEL_NAME])
        if known is None or known == "WARP_SZ":  # behind a `.loc`, that is a number
            return None
        base = self.base
        name = nodes.Name(start - base, end - base, known)
        self.end = found.end()
        return nodes.Label(start - base, found.end() - base, name)

    def _pragma(self, at: int) -> nodes.Directive | None:
        found = _PRAGMA.match(self.text, at)
        if found is None:
            return None
        base = self.base
        name = nodes.Name(at - base, found.end(1) - base, ".pragma")
        value = nodes.String(found.start(2) - base, found.end(2) - base, found[2])
        self.end = found.end()
        return nodes.Directive(at - base, found.end() - base, (), name, (value,))

    def _declaration(self, at: int, closing: str) -> nodes.Declaration | None:
        """A declaration that ends with `;`, or where `closing` is empty, one parameter of a list."""
        text, base = self.text, self.base
        head = _DECLARATION.match(text, at)
        if head is None or (head[5] is not None and closing):
            return None
        if head[2] is not None and head[7] is not None:
            return None
        first, last = head.span(1)
        space = nodes.Name(first - base, last - base, sys.intern(head[1]))
        modifiers: list[nodes.Name] = []
        for group in (3, 4, 5, 6):
            word = head[group]
            if word is not None:
                begin = head.start(group) - base
                modifiers.append(nodes.Name(begin, begin + len(word), sys.intern(word)))
        alignment: nodes.Number | None = None
        for group in (2, 7):
            if head[group] is not None:
                alignment = self._number(head, group)
        declarators: list[nodes.Declarator] = []
        position = head.end()
        while True:
            found = _DECLARATOR.match(text, position)
            if found is None:
                return None
            name, count, size, mark = found.groups()
            known = self.names.get(name) or self._name(name)
            if known is None:
                return None
            begin, behind = found.span(1)
            node = nodes.Name(begin - base, behind - base, known)
            number: nodes.Number | None = None
            dimensions: tuple[nodes.Expression | None, ...] = ()
            if count is not None:
                number = self._number(found, 2)
                behind = found.end(2) + 1
                if not closing:
                    return None
            elif size is not None:
                dimensions = (self._number(found, 3),)
                behind = found.end(3) + 1
            declarators.append(
                nodes.Declarator(node.start, behind - base, node, number, dimensions, None)
            )
            position = found.end()
            if not closing:
                end = behind
                break
            if mark == ";":
                end = found.end(4)
                break
            if mark != ",":
                return None
        self.end = end
        return nodes.Declaration(
            first - base, end - base, (), space, None, tuple(modifiers), None, alignment, (), tuple(declarators)
        )

    def _number(self, found: re.Match[str], group: int) -> nodes.Number:
        start, end = found.span(group)
        return nodes.Number(start - self.base, end - self.base, found[group], "integer")

    def _location(self, found: re.Match[str]) -> nodes.Location | None:
        end = found.end()
        start = found.start(_LOC) - self.base
        attributes: tuple[nodes.LocationAttribute, ...] = ()
        if self.text.startswith(",", end):
            more = _ATTRIBUTES.match(self.text, end)
            if more is None or more[2] in _NO_NAMES:
                return None
            end = more.end()
            attributes = self._attributes(more)
        numbers = [self._number(found, group) for group in (_LOC + 1, _LOC + 2, _LOC + 3)]
        self.end = end
        return nodes.Location(start, end - self.base, numbers[0], numbers[1], numbers[2], attributes)

    def _attributes(self, found: re.Match[str]) -> tuple[nodes.LocationAttribute, ...]:
        base = self.base
        label = nodes.Name(found.start(2) - base, found.end(2) - base, sys.intern(found[2]))
        values: tuple[nodes.Name | nodes.Number, ...] = (label,)
        if found[3] is not None:
            values = (label, self._number(found, 3))
        function = nodes.Name(found.start(1) - base, found.end(1) - base, "function_name")
        inlined = nodes.Name(found.start(4) - base, found.end(4) - base, "inlined_at")
        place = tuple([self._number(found, group) for group in (5, 6, 7)])
        return (
            nodes.LocationAttribute(function.start, values[-1].end, function, values),
            nodes.LocationAttribute(inlined.start, found.end() - base, inlined, place),
        )


_names: dict[str, str] = {}
"""The names that were read, which are then known to be names."""
_numbers: dict[str, str] = {}
"""The kinds of numbers by their text; empty for what is not a number."""
_opcodes: dict[str, str] = {}
