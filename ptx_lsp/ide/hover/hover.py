"""Hover text for the symbol under the cursor, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.ide.cursor.cursor_context import CursorContext, cursor_context
from ptx_lsp.ide.cursor.kernel_metrics import NOTHING_KNOWN, KnownFigures
from ptx_lsp.ide.cursor.literal import meaning
from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.ide.cursor.symbol_at import resolve_symbol
from ptx_lsp.ide.cursor.tokens import token_at
from ptx_lsp.ide.cursor.uniformity_text import branch_uniformity
from ptx_lsp.ide.hover.function import signature
from ptx_lsp.ide.hover.instruction import instruction_text, modifier_text
from ptx_lsp.ide.hover.links import source_of
from ptx_lsp.ide.hover.symbol import symbol_text
from ptx_lsp.ide.hover.word import explained, pragma_text, target_text, version_text, word_text
from ptx_lsp.isa.keywords import BLOCK, GUARD, VECTOR
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.target import parse_version
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.symbols import FunctionName
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span


class Hover(NamedTuple):
    """`markdown` describes the symbol at `span`."""

    span: Span
    markdown: str


def hover(
    module: Module, offset: int, known: KnownFigures = NOTHING_KNOWN, *, is_fragment: bool = False
) -> Hover | None:
    """The hover at `offset`; None if there is nothing to show. Of a fragment of a function, neither lines nor
    uniformity are known.
    """
    place = cursor_context(module, offset)
    if place is None:
        return None
    match place.node:
        case nodes.Opcode() as opcode:
            return _opcode(place, opcode, is_fragment)
        case nodes.Number() as number:
            return _number(place, number)
        case nodes.Name() as name:
            return _name(place, name, known, is_fragment) or _token(place)
        case nodes.String() as string:
            return _made(place.span(string), pragma_text(module, string.text)) or _token(place)
        case _:
            return _token(place)


def _made(span: Span, text: str | None) -> Hover | None:
    return Hover(span, text) if text else None


def _opcode(place: CursorContext, opcode: nodes.Opcode, is_fragment: bool) -> Hover | None:
    """On the opcode and the dot after it, the whole instruction; on a modifier, that modifier."""
    instruction, function = place.statement, place.function
    span = place.span(opcode)
    if not isinstance(instruction, nodes.Instruction) or function is None:
        return None
    source = place.module.document.source
    token = token_at(source, *span, place.offset - 1)
    if token is not None and token.kind == "dotted":
        modifier = source.part(token.start, token.end)
        found = _match(place, instruction)
        text = modifier_text(place.module, opcode.text.partition(".")[0], modifier, found)
        if text is not None:
            return Hover(Span(token.start, token.end), text)
    text = instruction_text(function, instruction)
    is_jump = opcode.text.partition(".")[0] in ("bra", "brx", "ret", "exit") and not is_fragment
    turns = branch_uniformity(function, instruction) if is_jump else []
    return Hover(span, paragraphs([text, *_called(function, instruction), listed(turns)]))


def _called(function: Function, instruction: nodes.Instruction) -> Iterator[str]:
    """The declarations of the possible callees of a call."""
    if instruction.opcode.text.partition(".")[0] == "call":
        found = next((one for one in calls(function) if one.node is instruction), None)
        for callee in found.callees if found is not None else ():
            if isinstance(callee.symbol, FunctionName):
                yield fenced(signature(module_of(function), callee.symbol))


def _match(place: CursorContext, instruction: nodes.Instruction) -> Match | None:
    if place.function is None:
        return None
    return resolve(instruction.opcode.text).match(arguments(place.function, instruction))


def _number(place: CursorContext, number: nodes.Number) -> Hover | None:
    span = place.span(number)
    match place.parent(number):
        case nodes.Version():
            try:
                return Hover(span, version_text(place.module, parse_version(number.text)))
            except ValueError:
                return None
        case nodes.Location() as location:
            found = source_of(place.module, place.item, location)
            return _made(span, code(found) if found else None)
        case nodes.Unary(operator="-" | "~" as operator) as signed if lines := meaning(number, operator):
            return Hover(place.span(signed), paragraphs([code(operator + number.text), listed(lines)]))
        case _:
            lines = meaning(number)
            return _made(span, paragraphs([code(number.text), listed(lines)]) if lines else None)


def _name(
    place: CursorContext, name: nodes.Name, known: KnownFigures, is_fragment: bool
) -> Hover | None:
    span = place.span(name)
    above = place.parent(name)
    match above:
        case nodes.Target():
            return _made(span, target_text(place.module, name.text))
        case nodes.Member() if above.object is not name:
            return Hover(span, _component(above, name))
        case _:
            pass
    found = resolve_symbol(place)
    if found is not None:
        text = symbol_text(place, found, known, is_fragment=is_fragment)
        return Hover(span, paragraphs([text, _descriptor(place, name)]))
    return _made(span, _word(place, name.text)) if name.text[:1] == "." else None


def _descriptor(place: CursorContext, name: nodes.Name) -> str:
    """The fields of the descriptor that an operand is."""
    instruction, function = place.statement, place.function
    if not isinstance(instruction, nodes.Instruction) or function is None:
        return ""
    if instruction.opcode.text.partition(".")[0] not in ("tcgen05", "wgmma"):
        return ""
    from ptx_lsp.ide.hover.descriptor import descriptor_text  # few instructions need it

    return descriptor_text(function, instruction, name)


def _word(place: CursorContext, word: str) -> str | None:
    in_body = place.function is not None and not isinstance(place.statement, nodes.Function)
    return word_text(place.module, word, in_body=in_body)


def _component(member: nodes.Member, name: nodes.Name) -> str:
    of = code(member.object.text) if isinstance(member.object, nodes.Name) else "a vector"
    if re.fullmatch(r"\.[bh][0-7]+", name.text):
        what = "bytes" if name.text[1] == "b" else "half-words"
        return f"{code(name.text)}: {what} {', '.join([*name.text[2:]])} of {of}"
    index = {".x": 0, ".r": 0, ".y": 1, ".g": 1, ".z": 2, ".b": 2, ".w": 3, ".a": 3}.get(name.text)
    which = f"element {index}" if index is not None else "an element"
    return f"{code(name.text)}: {which} of {of}"


def _token(place: CursorContext) -> Hover | None:
    """Words and marks that no node is for: `.entry`, `.align`, `@`, a brace."""
    token = place.token()
    text = place.module.document.source.part(token.start, token.end) if token is not None else ""
    if token is not None and token.kind == "dotted":
        return _made(Span(token.start, token.end), _word(place, text))
    match place.node:
        case nodes.Guard() as guard if text in ("@", "!"):
            return Hover(place.span(guard), paragraphs(explained(place.text(guard), GUARD)))
        case nodes.Vector() as vector if text in ("{", "}"):
            return Hover(place.span(vector), paragraphs(explained(place.text(vector), VECTOR)))
        case nodes.Block() if token is not None and text in ("{", "}"):
            return Hover(Span(token.start, token.end), paragraphs(explained("{ }", BLOCK)))
        case _:
            return None
