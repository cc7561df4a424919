"""Code actions for findings in a range of the text, and for the symbol at that range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from ptx_lsp.ide.cursor.cursor_context import CursorContext, cursor_context
from ptx_lsp.ide.cursor.literal import spellings
from ptx_lsp.ide.editing.raise_target import target_actions
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.lint.configuration.suppression import insertion
from ptx_lsp.lint.diagnostic import Diagnostic, Fix
from ptx_lsp.lint.fixes.fix_application import non_overlapping
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import element_type
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Source, Span

ActionSort: TypeAlias = Literal["fix", "fix all", "suppress", "raise", "rewrite"]


class Action(NamedTuple):
    """Edits with a title. `diagnostics` are the ones that it fixes; `is_preferred` marks the usual choice."""

    title: str
    sort: ActionSort
    edits: tuple[Edit, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    is_preferred: bool = False


def code_actions(
    module: Module, diagnostics: Sequence[Diagnostic], span: Span, asked: Sequence[Diagnostic] = ()
) -> tuple[Action, ...]:
    """The actions for the code that `span` touches, then those for the rest of its lines. `diagnostics` are
    all of the file. The user has chosen the findings in `asked`, wherever they are.
    """
    source = module.document.source
    here = _concerned(source, diagnostics, span, asked)
    found = [*_fixes(here), *_fixes_of_rules(diagnostics, here)]
    if here:
        found += [
            Action(title, "raise", edits, tuple(one for one in here if one.rule in _NEEDS))
            for title, edits in target_actions(module, here)
        ]
    found += _suppressions(source, here, lambda line: b"//")
    found += spelling_actions(module, span)
    return tuple(found)


def finding_actions(
    source: Source,
    diagnostics: Sequence[Diagnostic],
    span: Span,
    asked: Sequence[Diagnostic] = (),
    comment_mark: Callable[[int], bytes] = lambda line: b"//",
) -> tuple[Action, ...]:
    """The actions for findings alone, as for `code_actions`, in a text that need not be PTX. `comment_mark`
    returns the beginning of a comment at the end of a line.
    """
    here = _concerned(source, diagnostics, span, asked)
    comments = _suppressions(source, here, comment_mark)
    return (*_fixes(here), *_fixes_of_rules(diagnostics, here), *comments)


def _concerned(
    source: Source, diagnostics: Sequence[Diagnostic], span: Span, asked: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """The findings to act on: those asked for, those that a span touches, and others of its lines, nearest
    first.
    """
    touched = [one for one in diagnostics if one.span.start <= span.end and span.start <= one.span.end]
    start = source.line_span(source.line_of(span.start)).start
    end = source.line_span(source.line_of(span.end)).end
    beside = [one for one in diagnostics if start <= one.span.start <= end]
    beside.sort(key=lambda one: max(one.span.start - span.end, span.start - one.span.end))
    return list(dict.fromkeys((*asked, *touched, *beside)))


def fix_all(diagnostics: Sequence[Diagnostic], rule: str | None = None) -> tuple[Edit, ...]:
    """The edits of all safe fixes, or of the fixes of `rule`; of two that touch each other, the first."""
    fixes = [
        (one.rule, one.fix)
        for one in diagnostics
        if one.fix is not None and (one.fix.safe if rule is None else one.rule == rule)
    ]
    return tuple(sorted({edit for _, fix in non_overlapping(fixes) for edit in fix.edits}))


_NEEDS = ("needs-target", "needs-version", "unsupported-directive")


def _fixes(here: Sequence[Diagnostic]) -> Iterator[Action]:
    """Of findings with the same fix one action."""
    by_fix: dict[Fix, list[Diagnostic]] = {}
    for one in here:
        for fix in (one.fix, *one.alternatives):
            if fix is not None:
                by_fix.setdefault(fix, []).append(one)
    for fix, found in by_fix.items():
        yield Action(fix.message, "fix", fix.edits, tuple(found), is_preferred=fix.safe)


def _fixes_of_rules(
    diagnostics: Sequence[Diagnostic], here: Sequence[Diagnostic]
) -> Iterator[Action]:
    """For each rule that has several findings with a fix, all of them at once; then all safe fixes."""
    for rule in dict.fromkeys(one.rule for one in here if one.fix is not None):
        found = tuple(one for one in diagnostics if one.rule == rule and one.fix is not None)
        if len(found) > 1:
            edits = fix_all(found, rule)
            yield Action(f"Fix all {len(found)} findings of `{rule}`", "fix all", edits, found)
    if any(one.fix is not None and one.fix.safe for one in here):
        safe = tuple(one for one in diagnostics if one.fix is not None and one.fix.safe)
        if len({one.rule for one in safe}) > 1:
            yield Action("Apply all safe fixes", "fix all", fix_all(safe), safe)


def _suppressions(
    source: Source, here: Sequence[Diagnostic], comment_mark: Callable[[int], bytes]
) -> Iterator[Action]:
    for rule in dict.fromkeys(one.rule for one in here if one.source == "ptx-lint"):
        found = tuple(one for one in here if one.rule == rule)
        line = source.line_of(found[0].span.start)
        edit = insertion(source, line, [rule], comment_mark(line))
        if edit is not None:
            yield Action(f"Ignore `{rule}` on this line", "suppress", (edit,), found)
        top = source.line_start(1) if source.data.startswith(b"#!") and source.line_count > 1 else 0
        comment = f" ptx-lint: ignore-file[{rule}]{source.line_end()}".encode()
        at_top = Edit(top, top, comment_mark(0) + comment)
        yield Action(f"Ignore `{rule}` in this file", "suppress", (at_top,), found)


# -- literals -------------------------------------------------------------------------------------


def spelling_actions(module: Module, span: Span) -> Iterator[Action]:
    """The number at the start of the selection in other spellings; of a float with the `-` before it."""
    place = cursor_context(module, span.start)
    if place is None or not isinstance(place.node, nodes.Number):
        return
    number, above = place.node, place.parent(place.node)
    type = _type_at(place, number)
    if type is None:
        return
    whole: nodes.Number | nodes.Unary = number
    if number.kind != "integer":
        if isinstance(above, nodes.Unary) and above.operator == "-":
            whole = above
        if any(isinstance(node, _ARITHMETIC) and node is not whole for node in place.path):
            return  # which accepts no exact floats
    where = place.span(whole)
    for text in spellings(number, type, negated=whole is not number):
        yield Action(f"Write {text}", "rewrite", (Edit(*where, text.encode()),))


_ARITHMETIC = (nodes.Unary, nodes.Binary, nodes.Conditional, nodes.Cast)


def _type_at(place: CursorContext, number: nodes.Number) -> str | None:
    """The type of the value that a number gives; None if numbers can be written in only one way."""
    if any(
        isinstance(node, nodes.Version | nodes.File | nodes.Location | nodes.AddressSize)
        for node in place.path
    ) or (isinstance(above := place.parent(number), nodes.Declarator) and above.range is number):
        return None
    match place.statement:
        case nodes.Instruction() as instruction:
            return _operand_type(place, instruction)
        case nodes.Declaration() as declaration:
            return element_type(declaration)
        case _:
            return ""


def _operand_type(place: CursorContext, instruction: nodes.Instruction) -> str:
    if place.function is None or len(place.path) < 2:
        return ""
    match = resolve(instruction.opcode.text).match(arguments(place.function, instruction))
    wanted: Operand | None = None
    for index, operand in enumerate(instruction.operands):
        if operand is place.path[1] and match is not None and index < len(match.places):
            wanted = match.places[index][1]
    return wanted.type if wanted is not None and isinstance(wanted.type, str) else ""
