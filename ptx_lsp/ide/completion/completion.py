"""Completion at the cursor in incomplete text."""

from __future__ import annotations

from ptx_lsp.ide.completion.directive import after_directive, statement_directives, strings
from ptx_lsp.ide.completion.opcode import continues, next_modifiers, opcodes
from ptx_lsp.ide.completion.operand import components, operands, predicates
from ptx_lsp.ide.completion.suggestion import Suggestion
from ptx_lsp.ide.cursor.kernel_metrics import NOTHING_KNOWN, KnownFigures
from ptx_lsp.ide.cursor.partial_statement import PartialStatement, partial_statement
from ptx_lsp.ide.hover.function import function_text, predefined_text
from ptx_lsp.ide.hover.instruction import modifier_text, opcode_text
from ptx_lsp.ide.hover.word import pragma_text, target_text, word_text
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span


class Completion(NamedTuple):
    """`suggestions` in order of rank; each replaces `span`, or the `whole` word."""

    span: Span
    whole: Span
    suggestions: tuple[Suggestion, ...]


def completion(module: Module, offset: int, after_blank: bool = False) -> Completion | None:
    """The completions at `offset`; None if there are none, as in comments. `after_blank`: a blank was typed,
    after which only directives with a few possible arguments are completed.
    """
    typing = partial_statement(module, offset)
    if typing is None or (after_blank and typing.words[-1:] not in _BEFORE_ARGUMENTS):
        return None
    found = [
        one for one in _suggestions(typing)
        if one.is_supported and one.label.startswith(_prefix(typing, one))
    ]
    found.sort(key=lambda one: one.rank)
    whole = Span(typing.span.start, typing.end)
    return Completion(typing.span, whole, tuple(found)) if found else None


def documentation(module: Module, key: str, known: KnownFigures = NOTHING_KNOWN) -> str | None:
    """The documentation of a suggestion as Markdown, by its `key`; None if there is none."""
    sort, _, name = key.partition(" ")
    match sort:
        case "opcode":
            return opcode_text(module, name)
        case "modifier":
            spelling, _, modifier = name.partition(" ")
            return modifier_text(module, spelling.partition(".")[0], modifier, None)
        case "word":
            return word_text(module, name)
        case "target":
            return target_text(module, name)
        case "pragma":
            return pragma_text(module, name)
        case "function":
            symbol = module.definition(name)
            return function_text(module, symbol, known) if symbol is not None else None
        case "special":
            return predefined_text(module, name)
        case _:
            return None


_BEFORE_ARGUMENTS = frozenset(
    (name,) for name in (".version", ".target", ".address_size", ".section", ".language", ".pragma", ".align")
)


def _prefix(typing: PartialStatement, one: Suggestion) -> str:
    """Dots and percent signs must agree; the editor finds what is near in the rest. In versions and
    registers all must.
    """
    return typing.word if one.sort in _WHOLE else typing.word[:1]


_WHOLE = frozenset(("register", "special register", "version"))


def _suggestions(typing: PartialStatement) -> list[Suggestion]:
    if typing.string is not None:
        return strings(typing)
    if typing.guard:
        return predicates(typing)
    words = typing.words
    if not words:
        return _statement(typing)
    if words[0].startswith("."):
        return after_directive(typing)
    if typing.function is None:
        return []
    if typing.word.startswith("."):
        if not typing.operand_tokens:
            return _modifiers(typing)
        return components(typing) if typing.is_attached else []
    if typing.spelling and not (typing.is_attached and not typing.operand_tokens):
        return operands(typing)
    return []


def _modifiers(typing: PartialStatement) -> list[Suggestion]:
    """Blanks and comments are allowed before a modifier. On a new line, a statement may also begin if the
    previous semicolon is missing.
    """
    found = [
        one for one in next_modifiers(typing.module, typing.spelling)
        if continues(typing.module, typing.spelling + one.label, typing.following_modifiers)
    ]
    between = typing.module.document.source.part(typing.ends[-1], typing.span.start)
    if "\n" in between:
        last = max((one.rank for one in found), default=0)
        found += [one._replace(rank=last + one.rank) for one in statement_directives(typing)]
    return found


def _statement(typing: PartialStatement) -> list[Suggestion]:
    """The beginning of a statement."""
    if typing.word.startswith("."):
        return statement_directives(typing)
    if typing.function is None:
        return [] if typing.word else statement_directives(typing)
    if typing.word.startswith("%"):
        return []
    after = typing.following_modifiers
    return [one for one in opcodes(typing.module) if continues(typing.module, one.label, after)]

