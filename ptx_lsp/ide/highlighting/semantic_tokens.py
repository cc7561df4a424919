"""Semantic tokens: the kind of every word, using the model to resolve names."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal, TypeAlias

from ptx_lsp.ide.cursor.cursor_context import statement_before
from ptx_lsp.ide.cursor.tokens import Token as Word
from ptx_lsp.ide.cursor.tokens import tokens
from ptx_lsp.isa import directives
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.body import predefined
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import anchor
from ptx_lsp.model.symbols import Declared, Predefined, Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Span

TokenType: TypeAlias = Literal[
    "opcode", "modifier", "type", "register", "special register", "variable", "parameter", "label",
    "kernel", "function", "directive", "constant", "number", "string", "comment", "operator",
]
TOKEN_TYPES: tuple[TokenType, ...] = (
    "opcode", "modifier", "type", "register", "special register", "variable", "parameter", "label",
    "kernel", "function", "directive", "constant", "number", "string", "comment", "operator",
)
TokenModifier: TypeAlias = Literal["declaration", "definition", "readonly", "undeclared", "deprecated"]
TOKEN_MODIFIERS: tuple[TokenModifier, ...] = (
    "declaration", "definition", "readonly", "undeclared", "deprecated",
)


class SemanticToken(NamedTuple):
    """Bytes `start` to `end`, which may be several lines of a comment."""

    start: int
    end: int
    type: TokenType
    modifiers: tuple[TokenModifier, ...] = ()


def semantic_tokens(module: Module, span: Span | None = None) -> Iterator[SemanticToken]:
    """The tokens of a file in order, or those that the part `span` touches. Punctuation has none."""
    text = module.document.source.text
    first, last = span if span is not None else (0, len(text))
    position = 0
    for item in module.document.items:
        if item.start < position:
            continue  # it is inside the previous one
        if item.start > last:
            break
        if item.end >= first:
            yield from between(text, position, item.start, Span(first, last))
            yield from of_item(module, item, max(first, item.start), last)
        position = item.end
    yield from between(text, position, len(text), Span(first, last))


def of_item(module: Module, item: Item, first: int, last: int) -> Iterator[SemanticToken]:
    """The tokens of one top-level statement that touch the bytes `first` to `last` of the file."""
    function = module.function_of(item)
    if function is not None:
        yield from _of_function(function, first, last)
    else:
        yield from _outside(module, item, first, last)


def between(text: str, start: int, end: int, span: Span) -> Iterator[SemanticToken]:
    """The comments between two statements that touch `span`."""
    for token in tokens(text, start, end):
        if token.start >= span.end:
            return
        if token.kind == "comment" and token.end > span.start:
            yield SemanticToken(token.start, token.end, "comment")


def _outside(module: Module, item: Item, first: int, last: int) -> Iterator[SemanticToken]:
    """A statement outside of functions. Of a section with debugging data only what is asked for."""
    text = module.document.source.text
    start = item.start
    if isinstance(item.node, nodes.Section) and first > start:
        start = max(start, text.rfind("\n", start, first) + 1)
    declared = _declared(module, item)
    for word in tokens(text, start, item.end):
        if word.start >= last:
            return
        token = _plain(text, word)
        if token is None and word.kind == "word":
            name = text[word.start : word.end]
            symbol = declared.get(item.mark(word.start))
            known = symbol or module.find(name, item.end) or predefined(name)
            token = _named(word, known, symbol is not None) if known is not None else None
        if token is not None:
            yield token


def _declared(module: Module, item: Item) -> dict[int, Declared]:
    """The symbols that a statement declares, by the start of their names."""
    match item.node:
        case nodes.Declaration(declarators=declarators):
            names = [one.name for one in declarators]
        case nodes.Aggregate(name=nodes.Name() as name) | nodes.Alias(name=nodes.Name() as name):
            names = [name]
        case nodes.Label(name=name):
            names = [name]
        case _:
            return {}
    return {
        name.start: symbol
        for name in names
        for _, symbol in module.names.get(name.text, ())
        if symbol.place.owner is anchor(item.node)
    }


def _plain(text: str, word: Word) -> SemanticToken | None:
    """A token determined by its kind alone."""
    start, end, kind = word
    match kind:
        case "comment":
            return SemanticToken(start, end, "comment")
        case "string":
            return SemanticToken(start, end, "string")
        case "number":
            return SemanticToken(start, end, "number")
        case "preprocessor" | "dwarf":
            return SemanticToken(start, end, "directive")
        case "dotted":
            return _dotted(text, start, end)
        case _:
            return None


def _dotted(text: str, start: int, end: int) -> SemanticToken:
    name = text[start:end]
    if name in TYPES:
        return SemanticToken(start, end, "type")
    row = directives.find(name)
    if row is None:
        return SemanticToken(start, end, "modifier")
    is_old = row.deprecated is not None or not row.is_accepted
    return SemanticToken(start, end, "directive", ("deprecated",) if is_old else ())


def _of_function(function: Function, first: int, last: int) -> Iterator[SemanticToken]:
    """From the statement at byte `first` of the file to that at `last`."""
    item, instructions = function.item, function.body.instructions
    before = statement_before(function, first)
    begin = item.offset(before.start) if before is not None else item.start
    index = bisect_left(instructions, begin, key=lambda one: item.offset(one.start))
    opcode = _opcode(function, index)
    for word in tokens(function.module.document.source.text, begin, item.end):
        if word.start >= last:
            return
        while opcode.end <= word.start and index < len(instructions):
            following = _opcode(function, index + 1)
            if word.start < following.start:
                break
            index, opcode = index + 1, following
        token = _painted(function, word, opcode)
        if token is not None and token.end > first:
            yield token


def behind_instruction(function: Function, first: int, last: int) -> Iterator[SemanticToken]:
    """The tokens between an instruction of the body, or statements read with it, and the next one."""
    for word in tokens(function.module.document.source.text, first, last):
        token = _painted(function, word, _NOWHERE)
        if token is not None:
            yield token


_NOWHERE = Span(-1, -1)


def of_instruction(function: Function, instruction: nodes.Instruction) -> Iterator[SemanticToken]:
    """The tokens of one instruction, with the comments in it."""
    start, end = function.span(instruction)
    opcode = function.span(instruction.opcode)
    for word in tokens(function.module.document.source.text, start, end):
        token = _painted(function, word, opcode)
        if token is not None:
            yield token


def _opcode(function: Function, index: int) -> Span:
    """The opcode of an instruction; past the end of the file after the last one."""
    instructions = function.body.instructions
    if index < len(instructions):
        return function.span(instructions[index].opcode)
    end = len(function.module.document.source.data) + 1
    return Span(end, end)


def _painted(function: Function, word: Word, opcode: Span) -> SemanticToken | None:
    """`opcode` is the one at the word, or the nearest before it."""
    start, end, kind = word
    text = function.module.document.source.text
    if kind == "word":
        if start == opcode.start:
            return SemanticToken(start, end, "opcode")
        return _name(function, word, text[start:end])
    if kind == "dotted" and opcode.start < start < opcode.end:
        return SemanticToken(start, end, "type" if text[start:end] in TYPES else "modifier")
    if kind == "mark":
        return SemanticToken(start, end, "operator") if text[start] == "@" else None
    return _plain(text, word)


def _name(function: Function, word: Word, name: str) -> SemanticToken | None:
    mark = function.item.mark(word.start)
    symbol = function.symbols.get(mark)
    if symbol is None and name in function.free:
        symbol = function.linked.get(name)
        if symbol is None:
            return SemanticToken(word.start, word.end, "variable", ("undeclared",))
    if symbol is None and mark == function.symbol.place.start:
        symbol = function.symbol
    return _named(word, symbol, _is_declared_at(symbol, mark, function)) if symbol is not None else None


def _is_declared_at(symbol: Symbol, start: int, function: Function) -> bool:
    if isinstance(symbol, Predefined) or symbol.place.owner is not function.node.kind:
        return False
    if isinstance(symbol, Register | Variable):
        return symbol.declarator.name.start == start
    return symbol.place.start == start


_TYPES: dict[str, TokenType] = {
    "register": "register", "variable": "variable", "parameter": "parameter", "label": "label",
    "call prototype": "label", "list of targets": "label", "kernel": "kernel", "function": "function",
    "alias": "function", "structure": "type", "special register": "special register",
    "constant": "constant",
}


def _named(word: Word, symbol: Symbol, is_declared: bool) -> SemanticToken:
    modifiers: list[TokenModifier] = ["declaration"] if is_declared else []
    if is_declared and getattr(symbol, "is_definition", False):
        modifiers.append("definition")
    is_constant = isinstance(symbol, Variable) and symbol.space == ".const"
    if is_constant or isinstance(symbol, Predefined):
        modifiers.append("readonly")
    type = _TYPES[symbol.kind]
    if isinstance(symbol, Register) and symbol.is_parameter:
        type = "parameter"
    return SemanticToken(word.start, word.end, type, tuple(modifiers))
