"""Reads whole functions of a text without a tree."""

from __future__ import annotations

import re
import sys
from typing import Final

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.scanner import GAP, NAME, WHOLE, Scanner

_FUNCTION: Final = re.compile(r"^[ \t]*+(?=\.(?:visible|extern|weak|entry|func)\b)", re.MULTILINE)
_HEADER: Final = re.compile(
    r"(?:(\.visible|\.extern|\.weak)[ \t]++)?+(\.entry|\.func)[ \t]*+(\()?+", re.ASCII
)
_NAME: Final = re.compile(rf"[ \t]*+({NAME}){GAP}(\()?+", re.ASCII)
_PARAMETER: Final = re.compile(rf"{GAP}(?:(?=(\.))|(\)))", re.ASCII)
_AFTER_PARAMETER: Final = re.compile(rf"{GAP}(?:(,)|(\)))", re.ASCII)
_DIRECTIVE: Final = re.compile(
    rf"{GAP}(?:([{{;])|(\.(?:maxntid|reqntid|minnctapersm|maxnreg|noreturn))"
    rf"(?:[ \t]++({WHOLE})(?:[ \t]*+,[ \t]*+({WHOLE}))?+(?:[ \t]*+,[ \t]*+({WHOLE}))?+)?+(?=[ \t\r\n{{;/]))",
    re.ASCII,
)
_MOST_DEEP: Final = 100


class ScannedFunction(NamedTuple):
    """A function from byte `start` to `end` of the text."""

    start: int
    end: int
    node: nodes.Function


def scanned_functions(text: str) -> list[ScannedFunction]:
    """The functions that can be read without a tree, unless a comment or string contains them."""
    scanner = _FunctionScanner(text, 0)
    found: list[ScannedFunction] = []
    position = 0
    while True:
        line = _FUNCTION.search(text, position)
        if line is None:
            return found
        start = line.end()
        node = scanner.function(start)
        if node is None:
            position = start + 1
        else:
            found.append(ScannedFunction(start, scanner.end, node))
            position = scanner.end


class _FunctionScanner(Scanner):
    __slots__ = ()

    def function(self, start: int) -> nodes.Function | None:
        self.base = start
        text = self.text
        header = _HEADER.match(text, start)
        if header is None:
            return None
        linkage = () if header[1] is None else (self._found(header, 1),)
        kind = self._found(header, 2)
        position = header.end()
        returns: tuple[nodes.Declaration, ...] | None = None
        if header[3] is not None:
            returns = self._parameters(position)
            if returns is None:
                return None
            position = self.end
        named = _NAME.match(text, position)
        if named is None or named[1] == "call":
            return None
        name = self._found(named, 1)
        position = named.end(1)
        parameters: tuple[nodes.Declaration, ...] | None = None
        if named[2] is not None:
            parameters = self._parameters(named.end())
            if parameters is None:
                return None
            position = self.end
        directives: list[nodes.Directive] = []
        while True:
            found = _DIRECTIVE.match(text, position)
            if found is None:
                return None
            if found[1] is not None:
                break
            directives.append(self._directive(found))
            position = found.end()
        body: nodes.Block | None = None
        if found[1] == "{":
            body = self._body(found.end())
            if body is None:
                return None
        else:
            self.end = found.end()
        return nodes.Function(
            0, self.end - start, linkage, kind, (), returns, name, (), parameters, tuple(directives), body
        )

    def _found(self, found: re.Match[str], group: int) -> nodes.Name:
        start, end = found.span(group)
        return nodes.Name(start - self.base, end - self.base, sys.intern(found[group]))

    def _parameters(self, position: int) -> tuple[nodes.Declaration, ...] | None:
        """The parameters behind a `(`."""
        text = self.text
        parameters: list[nodes.Declaration] = []
        first = _PARAMETER.match(text, position)
        if first is None:
            return None
        if first[2] is not None:
            self.end = first.end()
            return ()
        while True:
            parameter = self._declaration(first.end(), "")
            if parameter is None:
                return None
            parameters.append(parameter)
            behind = _AFTER_PARAMETER.match(text, self.end)
            if behind is None:
                return None
            if behind[2] is not None:
                self.end = behind.end()
                return tuple(parameters)
            first = _PARAMETER.match(text, behind.end())
            if first is None or first[1] is None:
                return None

    def _directive(self, found: re.Match[str]) -> nodes.Directive:
        name = self._found(found, 2)
        numbers = [self._number(found, group) for group in (3, 4, 5) if found[group] is not None]
        return nodes.Directive(
            name.start, numbers[-1].end if numbers else name.end, (), name, tuple(numbers)
        )

    def _body(self, position: int) -> nodes.Block | None:
        """The block behind a `{`."""
        base = self.base
        statements: list[nodes.Statement] = []
        starts = [position - 1 - base]
        around: list[list[nodes.Statement]] = []
        while True:
            found = self.statement(position)
            if found is not None:
                statements.append(found)
                position = self.end
            elif self.brace == "{":
                if len(starts) == _MOST_DEEP:
                    return None
                position = self.end
                starts.append(position - 1 - base)
                around.append(statements)
                statements = []
            elif self.brace == "}":
                position = self.end
                block = nodes.Block(starts.pop(), position - base, None, tuple(statements))
                if not around:
                    return block
                statements = around.pop()
                statements.append(block)
            else:
                return None
