"""Signature help: the operands of the current instruction, and which one is at the cursor."""

from __future__ import annotations

import re

from ptx_lsp.ide.cursor.operand_place import depths, wanted
from ptx_lsp.ide.cursor.partial_statement import PartialStatement, partial_statement
from ptx_lsp.isa.description.describe import describe_operands as operands_in_words
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.resolve import resolve, unfinished
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import FunctionName
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

_MOST = 12


class Parameter(NamedTuple):
    """An operand: the characters `start` to `end` of the label, and its requirements."""

    start: int
    end: int
    text: str


class Signature(NamedTuple):
    """One form of an instruction; `label` is its notation."""

    label: str
    summary: str
    parameters: tuple[Parameter, ...]


class SignatureHelp(NamedTuple):
    """The possible forms, the most likely of them, and the index of its operand at the cursor."""

    signatures: tuple[Signature, ...]
    active_signature: int
    active_parameter: int


def signature_help(module: Module, offset: int) -> SignatureHelp | None:
    """The forms of the instruction at `offset`; None outside its operands."""
    typing = partial_statement(module, offset)
    if typing is None or typing.function is None or typing.string is not None or not typing.spelling:
        return None
    if typing.is_attached and not typing.operand_tokens:
        return None  # still in the opcode
    if typing.spelling in ("call", "call.uni"):
        return _of_call(typing)
    candidates = resolve(typing.spelling).candidates or unfinished(typing.spelling)
    if not candidates:
        return None
    signatures = tuple(_signature(one) for one in candidates[:_MOST])
    active = _active(typing, candidates[:_MOST])
    index, _ = depths(typing)
    return SignatureHelp(signatures, active, _parameter(typing, candidates[active], index))


def _signature(candidate: Candidate) -> Signature:
    """The signature of a notation, with the text of each operand."""
    label = candidate.form.text
    head = label.partition(" ")[0]
    at = len(head)
    found: list[Parameter] = []
    for name, text in operands_in_words(candidate):
        start = _find(label, name, at)
        if start >= 0:
            at = start + len(name)
            found.append(Parameter(start, at, text))
    return Signature(label, candidate.entry.summary, tuple(found))


def _find(label: str, name: str, start: int) -> int:
    """The position of `name` as a word; -1 if absent."""
    found = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])").search(label, start)
    return found.start() if found is not None else -1


def _active(typing: PartialStatement, candidates: tuple[Candidate, ...]) -> int:
    """The first form that has a place for the operand at the cursor."""
    having = [one.candidate.form for one in wanted(typing)]
    return next((at for at, one in enumerate(candidates) if one.form in having), 0)


def _parameter(typing: PartialStatement, candidate: Candidate, index: int) -> int:
    """The index of the operand at the cursor among those of the signature, where operands in brackets and
    after a `|` count separately.
    """
    place = next((one.place for one in wanted(typing) if one.candidate.form == candidate.form), None)
    names = [name for name, _ in operands_in_words(candidate)]
    if place is not None and place.name in names:
        return names.index(place.name)
    return min(index, max(0, len(names) - 1))


def _of_call(typing: PartialStatement) -> SignatureHelp | None:
    """The parameters of a call whose function is already typed."""
    function = typing.function
    rest = typing.operand_tokens
    index, inner = depths(typing)
    named = [word for word in rest if word.strip("%$_").isidentifier() or word.startswith(("$", "%"))]
    if function is None or not inner:
        return None
    for word in named:
        symbol = typing.module.definition(word)
        if symbol is not None:
            return _of_function(symbol, in_returns=index == 0, number=inner[0].commas)
    return None


def _of_function(symbol: FunctionName, in_returns: bool, number: int) -> SignatureHelp:
    returns, parameters = _texts(symbol.node.returns), _texts(symbol.node.parameters)
    label = f"({', '.join(returns)}) " if returns else ""
    spans: list[Parameter] = []
    for text in returns:
        start = label.index(text)
        spans.append(Parameter(start, start + len(text), "returned"))
    label += f"{symbol.name} ("
    for at, text in enumerate(parameters):
        label += ", " if at else ""
        spans.append(Parameter(len(label), len(label) + len(text), ""))
        label += text
    active = number if in_returns else number + len(returns)
    return SignatureHelp((Signature(f"{label})", "", tuple(spans)),), 0, active)


def _texts(declarations: tuple[nodes.Declaration, ...] | None) -> list[str]:
    """`.param .b32 a` for each parameter."""
    found: list[str] = []
    for node in declarations or ():
        words = [node.space.text] if node.space is not None else []
        words += [word.text for word in node.modifiers]
        found += [" ".join([*words, one.name.text]) for one in node.declarators]
    return found
