"""`inlined_assembly` in Mojo."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded.block import Block, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.llvm_constraints import Passed, constraints, llvm_template, memory_edit
from ptx_lsp.embedded.mapped_text import MappedText
from ptx_lsp.embedded.mojo_syntax import Strings, Token, bracketed, span_of, tokens
from ptx_lsp.text import Edit, Span

_NAMES = (b"inlined_assembly", b"_inlined_assembly")
_DEFINING = (b"fn", b"def")


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `inlined_assembly[template, type, constraints=..., has_side_effect=...](arguments)`."""
    data = text.source.data
    found = tokens(data)
    before = b""
    for token in found:
        if token.kind == "word" and token.text in _NAMES and before not in _DEFINING:
            block = _block(data, token, text.language)
            if block is not None:
                yield block
        before = token.text


def _block(data: bytes, keyword: Token, language: str) -> Block | None:
    following = tokens(data, keyword.span.end)
    opening = next(following, None)
    if opening is None or opening.text != b"[":
        return None
    parameters, end = bracketed(following)
    if end is None:
        return None
    opening = next(following, None)
    passed: list[list[Token]] = []
    if opening is not None and opening.text == b"(":
        arguments, closing = bracketed(following)
        if closing is not None:
            passed, end = arguments, closing
    named = {one[0].text: one[2:] for one in parameters if len(one) > 2 and one[1].text == b"="}
    template = named.get(b"asm") or (parameters[0] if parameters else [])
    strings, of_letters = Strings(data), Strings(data)
    written = strings.text(template)
    if not strings.has_literal:
        return None
    letters = named.get(b"constraints")
    described = constraints(
        of_letters.text(letters) if letters else MappedText(b"", []),
        None
        if any(one[0].text == b"*" for one in passed)
        else [_passed(data, one) for one in passed],
    )
    side_effect = named.get(b"has_side_effect", [])
    return relative(
        Block(
            "mojo",
            language,
            keyword.span.start,
            end - keyword.span.start,
            keyword.span,
            llvm_template(written, described.operands),
            span_of(template),
            described.operands,
            described.clobbers,
            [one.text for one in side_effect] != [b"False"],
            operands_known=described.are_known and bool(letters),
            memory_edit=_memory_edit(letters),
            volatile_edit=Edit(*span_of(side_effect), b"True") if side_effect else None,
            is_context_free=False,
        )
    )


def _memory_edit(letters: list[Token] | None) -> Edit | None:
    """The edit that adds the clobber, if the constraints are one plain literal."""
    if letters is None or len(letters) != 1 or letters[0].kind != "string":
        return None
    text = letters[0].text
    if text[:1] not in (b'"', b"'") or text[1:3] == text[:1] * 2:
        return None
    return memory_edit(Span(letters[0].span.start + 1, letters[0].span.end - 1))


def _passed(data: bytes, argument: list[Token]) -> Passed:
    span = span_of(argument)
    return Passed(data[slice(*span)].decode("utf-8", "replace"), Span(*span))


HOST = Host("mojo", ("mojo",), (b"inlined_assembly",), blocks)
