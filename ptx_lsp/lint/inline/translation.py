"""Findings about the PTX of a block as findings in its host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ptx_lsp.embedded.scopes import scopes
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.block_accesses import block_instructions
from ptx_lsp.lint.block_references import unknown_references
from ptx_lsp.lint.checked_block import CheckedBlock
from ptx_lsp.lint.diagnostic import Diagnostic, Fix, Related
from ptx_lsp.text import Edit, Span

_OF_NAMES: Final = frozenset(
    (
        "dead-write", "outside-function", "undeclared-name", "undefined-function", "undescribed-callee",
        "uninitialised-read",
        "unreachable-code", "unused-label", "unused-register", "unused-variable",
    )
)  # fmt: skip
"""Rules that know nothing where unknown statements are in the block."""

_OF_OPTIX: Final = "_optix_"
"""Functions that OptiX, which compiles the PTX then, knows without a declaration."""


def in_host(checked: CheckedBlock, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings that lie in the block, and that do not depend on what is unknown. Places are relative to
    the start of the block.
    """
    uncertain = _uncertain(checked)
    has_unknown_statements = any(hole.start == hole.end for hole in checked.block.text.holes)
    has_syntax_error = False
    for one in found:
        inside = checked.virtual.inside(one.span)
        if (
            inside is None
            and not (has_syntax_error or has_unknown_statements)
            and _is_behind(checked, one)
        ):
            one = _at_the_end(one)
            inside = Span(len(checked.block.text.data), len(checked.block.text.data))
        has_syntax_error |= one.rule in _OF_SYNTAX
        if inside is None or any(
            inside.start <= part.end and part.start <= inside.end for part in uncertain
        ):
            continue
        if one.rule in _OF_SYNTAX and checked.block.shares_braces:
            continue
        if one.rule == "unused-register" and _text(checked, inside) in scopes(checked.block.text.data).names:
            continue  # other blocks may use it
        if one.rule in _OF_NAMES and (
            has_unknown_statements
            or _names_unknown(checked, inside)
            or _is_of_operand(checked, one.rule, inside)
        ):
            continue
        yield one._replace(
            span=checked.block.text.host_span(inside),
            related=tuple(_related(checked, one.related)),
            fix=_fix(checked, one.fix) if one.fix is not None else None,
            alternatives=tuple(
                fix for each in one.alternatives if (fix := _fix(checked, each)) is not None
            ),
        )


def _is_behind(checked: CheckedBlock, one: Diagnostic) -> bool:
    """Whether a block ends too early or too late, so that what follows it in the file is wrong."""
    return one.rule in _OF_SYNTAX and one.span.start >= checked.virtual.end


def _at_the_end(one: Diagnostic) -> Diagnostic:
    """A finding about what follows the block, in words about the block."""
    if one.rule == "outside-function":
        return one._replace(message="a `}` closes no block of the assembly", fix=None)
    return one._replace(message=_FOLLOWING.sub("at the end of the assembly", one.message))


_OF_SYNTAX: Final = ("syntax-error", "outside-function")
_FOLLOWING: Final = lazy_pattern(r"before (?:`[^`]+`|the end of the file)\Z")


def _uncertain(checked: CheckedBlock) -> list[Span]:
    """The statements with something unknown in them."""
    data = checked.block.text.data
    found: list[Span] = []
    for hole in checked.block.text.holes:
        end = data.find(b";", hole.end)
        found.append(Span(data.rfind(b";", 0, hole.start) + 1, len(data) if end < 0 else end))
    return found


def _names_unknown(checked: CheckedBlock, inside: Span) -> bool:
    """Whether a name is a constant that the host knows, or may be one of its operands."""
    if not checked.block.operands_known:
        return True
    name = _text(checked, inside)
    if name.startswith(_OF_OPTIX) or name in checked.block.outer_names:
        return True
    operand = checked.block.operand(name)
    return operand is not None and operand.type is None


def _text(checked: CheckedBlock, inside: Span) -> str:
    return checked.block.text.data[inside.start : inside.end].decode("latin-1")


def _is_of_operand(checked: CheckedBlock, rule: str, inside: Span) -> bool:
    """Whether a finding is about an operand, and a rule about blocks reports it; or about a name that only
    other blocks can use.
    """
    block = checked.block
    if rule in ("dead-write", "unused-register", "unused-variable") and (
        block.is_enclosed or block.shares_braces or not block_instructions(checked)
    ):
        return True
    name = _text(checked, inside)
    if rule == "undeclared-name":
        return any(one.span == inside for one in unknown_references(checked.block))
    return rule in ("dead-write", "uninitialised-read") and checked.block.operand(name) is not None


def _related(checked: CheckedBlock, found: Iterable[Related]) -> Iterator[Related]:
    for one in found:
        span = checked.host_span(one.span)
        if span is not None:
            yield Related(span, one.message)


def _fix(checked: CheckedBlock, fix: Fix) -> Fix | None:
    """The fix in the host; None where the host cannot be edited so."""
    edits: list[Edit] = []
    for edit in fix.edits:
        end = checked.virtual.end
        span = Span(end, end) if edit.start == edit.end > end else Span(edit.start, edit.end)
        inside = checked.virtual.inside(span)
        if inside is None or inside.end - inside.start != edit.end - edit.start:
            return None
        made = host_edits(checked, Edit(inside.start, inside.end, edit.replacement))
        if made is None:
            return None
        edits += made
    return fix._replace(edits=tuple(edits))


def host_edits(checked: CheckedBlock, edit: Edit) -> list[Edit] | None:
    """The edits of the host for one of the text of a block: every literal keeps its quotes. None if part of
    it does not stand in a literal.
    """
    text = checked.block.text
    written = edit.replacement.decode("utf-8", "replace")
    if edit.start == edit.end:
        if not text.pieces:
            return None
        around = (
            next(text.pieces_in(Span(edit.start - 1, edit.start + 1)), None) if edit.start else None
        )
        if around is None or around[1].end <= edit.start or around[0].kind == "same":
            at = text.host_span(Span(edit.start, edit.start)).start
            new = text.encode_at(max(0, edit.start - 1))(written)
            return None if new is None else [Edit(at, at, new.encode())]
    edits: list[Edit] = []
    for piece, part, host in text.pieces_in(Span(edit.start, max(edit.end, edit.start + 1))):
        if piece.kind == "hole" or (piece.kind == "replaced" and piece.encode("") is None):
            return None
        before, behind = (
            text.around(piece, Span(edit.start, edit.end)) if piece.kind == "replaced" else ("", "")
        )
        new = piece.encode(before + (written if part.start == edit.start else "") + behind)
        if new is None:
            return None
        edits.append(Edit(host.start, host.end, new.encode()))
    return edits
