"""Reads regular statements of a text without a tree: plain instructions, labels, `.loc` and declarations.

A statement that is read here has the nodes that lowering its tree gives, and no problems. Any other text,
such as an expression, a comment inside a statement or an error, is not read, and the tree decides.
`tests/properties/test_scanner.py` compares both.

One regular expression finds the extent of a statement and of its operands (`operand_scanner.py`).
"""

from __future__ import annotations

import re
import sys
from typing import Final

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.operand_scanner import NAME, OPERAND, SPACE, OperandScanner

GAP: Final = r"(?>[ \t\r\n]++|//[^\n]*+|/\*[^*]*+\*++(?:[^/*][^*]*+\*++)*+/)*+"
"""What may stand between two statements."""
WHOLE: Final = r"(?>0|[1-9][0-9]*+)(?![\w$.])"
_SLOTS: Final = 5
"""More operands are found one by one."""
_NEXT: Final = rf"{SPACE},{SPACE}"
_INSTRUCTION: Final = (
    r"(?:(@!?+)([\w$%]++)[ \t]++)?+([A-Za-z_][\w$.:]*+)(?<!:)"
    rf"(?:[ \t\r\n]++({OPERAND})"
    + rf"(?:{_NEXT}({OPERAND})" * (_SLOTS - 1)
    + rf"((?:{_NEXT}{OPERAND})*+)"
    + r")?+" * _SLOTS
    + rf"{SPACE};"
)
_LABEL: Final = rf"({NAME})[ \t]*+:(?!:)"
_LOCATION: Final = rf"(\.loc)[ \t]++({WHOLE})[ \t]++({WHOLE})[ \t]++({WHOLE})"
_BRACE: Final = r"([{}])"
_STATEMENT: Final = re.compile(
    rf"{GAP}(?:{_INSTRUCTION}|{_LABEL}|{_LOCATION}|{_BRACE}"
    r"|(?=(\.(?:reg|local|shared|param|global|pragma)\b))|())",
    re.ASCII,
)
_REST: Final = 4 + _SLOTS
_LABEL_NAME: Final = _REST + 1
_LOC: Final = _REST + 2
_BRACES: Final = _REST + 6
_DECLARED: Final = _REST + 7

_EACH_OPERAND: Final = re.compile(OPERAND, re.ASCII)
_ATTRIBUTES: Final = re.compile(
    rf",[ \t]*+(function_name)[ \t]++({NAME})(?:[ \t]*+\+[ \t]*+({WHOLE}))?+[ \t]*+"
    rf",[ \t]*+(inlined_at)[ \t]++({WHOLE})[ \t]++({WHOLE})[ \t]++({WHOLE})",
    re.ASCII,
)
_PRAGMA: Final = re.compile(r"(\.pragma)[ \t]++(\"[^\"\n]*+\")[ \t]*+;")
_TYPE: Final = r"\.(?:pred|[bsuf](?:8|16|32|64)|b128|f16x2)\b"
_ALIGN: Final = rf"(?:[ \t]*+\.align[ \t]++({WHOLE}))?+"
_DECLARATION: Final = re.compile(
    rf"(\.(?:reg|local|shared|param|global)\b){_ALIGN}(?:[ \t]*+(\.v[248]))?+[ \t]*+({_TYPE})"
    rf"(?:[ \t]*+(\.ptr)(?:[ \t]*+(\.(?:global|shared|local|const)))?+{_ALIGN})?+[ \t]++",
    re.ASCII,
)
_DECLARATOR: Final = re.compile(rf"({NAME})(?:<({WHOLE})>|\[({WHOLE})\])?+[ \t]*+([,;]?+){SPACE}", re.ASCII)
_NO_NAMES: Final = frozenset({"_", "function_name", "inlined_at"})


class Scanner(OperandScanner):
    """Reads statements of `text`, which has one character per byte of the file; offsets count from `base`."""

    __slots__ = ("base", "brace", "end", "text")

    def __init__(self, text: str, base: int) -> None:
        super().__init__()
        self.text = text
        self.base = base
        self.end = 0
        """The end of the statement that was read last, in the text."""
        self.brace = ""
        """The `{` or `}` that was read instead of a statement."""

    def statement(self, at: int) -> nodes.Statement | None:
        """The statement at offset `at` of the text, or behind blanks and comments there; None if it is not
        regular.
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
        spelling = self.opcodes.get(groups[2]) or self.opcode(groups[2])
        if spelling is None:
            return None
        begin, behind = found.span(3)
        start = begin - base
        opcode = nodes.Opcode(start, behind - base, spelling)
        guard: nodes.Guard | None = None
        if groups[0] is not None:
            predicate = names.get(groups[1]) or self.name(groups[1])
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
            operand = self.operand(word, at)
            if operand is None:
                return None
            if isinstance(operand, nodes.Member):
                has_member = True
            operands.append(operand)
        if groups[_REST - 1]:
            first, last = found.span(_REST)
            for more in _EACH_OPERAND.finditer(self.text, first, last):
                operand = self.operand(more[0], more.start() - base)
                if operand is None:
                    return None
                operands.append(operand)
        end = found.end()
        if (has_member or groups[_REST - 1]) and "\n" in self.text[begin:end]:
            return None  # `membar.gl` on a line of its own may begin a statement
        self.end = end
        return nodes.Instruction(start, end - base, guard, opcode, tuple(operands))

    # -- other statements -----------------------------------------------------------------------

    def _label(self, found: re.Match[str]) -> nodes.Label | None:
        start, end = found.span(_LABEL_NAME)
        known = self.name(found[_LABEL_NAME])
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
            known = self.names.get(name) or self.name(name)
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
            first - base, end - base, (), space, None, tuple(modifiers), None, alignment, (),
            tuple(declarators),
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

