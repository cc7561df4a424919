"""Semantic tokens: of a file, of a part, and changes."""

from __future__ import annotations

from array import array
from itertools import count
from operator import ne

from lsprotocol import types

from ptx_lsp.ide.highlighting.encoded_tokens import ROW, Piece, flat, token_pieces
from ptx_lsp.ide.highlighting.semantic_tokens import (
    TOKEN_MODIFIERS,
    TOKEN_TYPES,
    TokenModifier,
    TokenType,
)
from ptx_lsp.server.feature import answer, answer_of_hosts
from ptx_lsp.server.inline.host_files import HostView
from ptx_lsp.server.json import JsonText
from ptx_lsp.server.openfile import ClientFile, PublishedTokens
from ptx_lsp.server.session import View

_TYPES: dict[TokenType, str] = {
    "opcode": "function",
    "modifier": "modifier",
    "type": "type",
    "register": "variable",
    "special register": "macro",
    "variable": "property",
    "parameter": "parameter",
    "label": "label",
    "kernel": "method",
    "function": "method",
    "directive": "keyword",
    "constant": "enumMember",
    "number": "number",
    "string": "string",
    "comment": "comment",
    "operator": "operator",
}
"""The names of standard token types, in the order of `TOKEN_TYPES`."""
_MODIFIERS: dict[TokenModifier, str] = {
    "declaration": "declaration",
    "definition": "definition",
    "readonly": "readonly",
    "undeclared": "undeclared",
    "deprecated": "deprecated",
}
LEGEND = types.SemanticTokensLegend(
    [_TYPES[name] for name in TOKEN_TYPES], [_MODIFIERS[name] for name in TOKEN_MODIFIERS]
)
_numbers = count(1)


@answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
def on_tokens(view: View, _: types.SemanticTokensParams) -> JsonText:
    return _whole(view.file, token_pieces(view.module, view.client.unit))


@answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)
def on_tokens_delta(
    view: View, params: types.SemanticTokensDeltaParams
) -> JsonText | types.SemanticTokensDelta:
    """The changes since the client's result, if that is the latest one."""
    return _changed(view.file, token_pieces(view.module, view.client.unit), params.previous_result_id)


@answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
def on_tokens_range(view: View, params: types.SemanticTokensRangeParams) -> JsonText:
    return _answer(token_pieces(view.module, view.client.unit, view.convert.span(params.range)))


@answer_of_hosts(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
def on_tokens_of_blocks(view: HostView, _: types.SemanticTokensParams) -> JsonText:
    return _whole(view.file, view.tokens.pieces(view.snapshot.document, view.client.unit))


@answer_of_hosts(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
def on_tokens_delta_of_blocks(
    view: HostView, params: types.SemanticTokensDeltaParams
) -> JsonText | types.SemanticTokensDelta:
    pieces = view.tokens.pieces(view.snapshot.document, view.client.unit)
    return _changed(view.file, pieces, params.previous_result_id)


@answer_of_hosts(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
def on_tokens_range_of_blocks(view: HostView, params: types.SemanticTokensRangeParams) -> JsonText:
    span = view.convert.span(params.range)
    return _answer(view.tokens.pieces(view.snapshot.document, view.client.unit, span))


def _whole(file: ClientFile, pieces: list[Piece]) -> JsonText:
    return _answer(pieces, _remember(file, pieces))


def _changed(
    file: ClientFile, pieces: list[Piece], known: str
) -> JsonText | types.SemanticTokensDelta:
    earlier = file.tokens
    identity = _remember(file, pieces)
    if earlier is None or earlier.identity != known:
        return _answer(pieces, identity)
    return types.SemanticTokensDelta(changes(earlier.pieces, pieces), identity)


def _answer(pieces: list[Piece], identity: str | None = None) -> JsonText:
    """All tokens. A large file has millions of numbers, so each piece becomes text by itself."""
    data = ",".join(
        [f"{line},{column},{str(rows[2:].tolist())[1:-1].replace(' ', '')}" for line, column, rows in pieces]
    )
    result = f'"resultId":"{identity}",' if identity is not None else ""
    return JsonText(f'{{{result}"data":[{data}]}}')


def _remember(file: ClientFile, pieces: list[Piece]) -> str:
    identity = str(next(_numbers))
    file.tokens = PublishedTokens(identity, pieces)
    return identity


def changes(old: list[Piece], new: list[Piece]) -> list[types.SemanticTokensEdit]:
    """One edit of whole rows that covers everything between the first and the last difference."""
    first = _same(old, new)
    most = min(len(old), len(new)) - first
    last = _same(old[::-1][:most], new[::-1][:most])
    before = sum(len(piece.rows) for piece in old[:first])
    ours = array("I", flat(new[first : len(new) - last]))
    theirs = array("I", flat(old[first : len(old) - last]))
    start = _common(theirs, ours)
    if start == len(theirs) == len(ours):
        return []
    rest = min(len(theirs), len(ours)) - start
    end = _common(theirs[::-1][:rest], ours[::-1][:rest])
    data = ours[start : len(ours) - end].tolist()
    return [types.SemanticTokensEdit(before + start, len(theirs) - start - end, data)]


def _same(one: list[Piece], other: list[Piece]) -> int:
    """The number of equal leading pieces."""
    differ = map(ne, one, other)
    return next((n for n, differs in enumerate(differ) if differs), min(len(one), len(other)))


def _common(one: array[int], other: array[int]) -> int:
    """The number of equal leading numbers, in whole rows. It bisects, since comparing many at once is fast.
    """
    low, high = 0, min(len(one), len(other)) // ROW
    left, right = memoryview(one), memoryview(other)
    while low < high:
        middle = (low + high + 1) // 2
        if left[low * ROW : middle * ROW] == right[low * ROW : middle * ROW]:
            low = middle
        else:
            high = middle - 1
    return low * ROW
