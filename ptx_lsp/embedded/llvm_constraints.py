"""The constraints and the template of inline assembly in LLVM, which several hosts share.

A string such as `=r,r,~{memory}` describes the operands: outputs first, then inputs, then clobbers. The
template names them `$0`, `$1` and so on, in this order. https://llvm.org/docs/LangRef.html#inline-asm-constraint-string
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ptx_lsp.embedded.block import Access, Clobber, Operand
from ptx_lsp.embedded.mapped_text import Builder, Encode, MappedText
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Edit, Span

REGISTER_TYPES: Final = {
    "b": ".pred", "c": ".b16", "h": ".b16", "r": ".b32", "l": ".b64", "N": ".b64", "q": ".b128",
    "f": ".f32", "d": ".f64",
}  # fmt: skip
"""The types of the registers of NVPTX, by the letter of the constraint."""


class Constraints(NamedTuple):
    """The operands and clobbers that a string of constraints describes."""

    operands: tuple[Operand, ...]
    clobbers: tuple[Clobber, ...]
    are_known: bool
    """Whether these are all operands. Otherwise part of the string is unknown."""


class Passed(NamedTuple):
    """An expression that the host passes for an input."""

    text: str
    span: Span


def constraints(text: MappedText, passed: Sequence[Passed] | None = None) -> Constraints:
    """The operands and clobbers of a string of constraints. `passed` has the inputs where they stand at the
    block. Operands are called `$0`, `$1` and so on.
    """
    operands: list[Operand] = []
    clobbers: list[Clobber] = []
    inputs = iter(passed or ())
    holes = text.holes
    are_numbered = True
    for span in _parts(text.data):
        host = text.host_span(span)
        written = text.data[slice(*span)].decode("utf-8", "replace").strip()
        if written.startswith("~"):
            clobbers.append(Clobber(written[1:].strip("{}"), host))
        elif are_numbered:
            is_unknown = any(hole.start <= span.end and span.start <= hole.end for hole in holes)
            operands.append(_operand(written, host, is_unknown, operands, inputs))
            are_numbered = not is_unknown or not _only_holes(text, span)  # it may stand for several
    return Constraints(tuple(operands), tuple(clobbers), not holes)


def _parts(data: bytes) -> Iterator[Span]:
    start = 0
    for part in data.split(b",") if data.strip() else ():
        yield Span(start, start + len(part))
        start += len(part) + 1


def _only_holes(text: MappedText, span: Span) -> bool:
    """Whether nothing but what is unknown stands in a part."""
    known = sum(
        part.end - part.start for piece, part, _ in text.pieces_in(span) if piece.kind != "hole"
    )
    return not known


def _operand(
    written: str, host: Span, is_unknown: bool, before: list[Operand], inputs: Iterator[Passed]
) -> Operand:
    letters = written.lstrip("=+&%*#! ").split("|")[0].strip()
    access: Access = "both" if "+" in written else "write" if written.startswith("=") else "read"
    is_indirect = "*" in written
    tied = f"${int(letters)}" if letters.isdecimal() else None
    type = None if is_unknown or is_indirect else REGISTER_TYPES.get(letters)
    if tied is not None:
        type = next((one.type for one in before if one.name == tied), None)
    expression = next(inputs, None) if access != "write" or is_indirect else None
    return Operand(
        f"${len(before)}",
        type,
        access,
        written,
        host,
        expression.text if expression is not None else "",
        expression.span if expression is not None else Span(host.start, host.start),
        early_clobber="&" in written,
        tied_to=tied,
    )


def memory_edit(content: Span) -> Edit:
    """The edit that adds the clobber `memory` to the string of constraints between quotes."""
    is_first = content.start == content.end
    return Edit(content.end, content.end, b"~{memory}" if is_first else b",~{memory}")


_REFERENCE = lazy_pattern(
    rb"\$(?:(?P<escaped>[$|)])|\{:(?P<special>\w+)\}|\{(?P<number>\d+)(?::\w)?\}|\d+)"
)
_SPECIAL: Final = {b"uid": b"0", b"comment": b"//", b"private": b""}
_OPERAND = lazy_pattern(r"\$(?!\d)")


def llvm_template(text: MappedText, operands: Sequence[Operand] = ()) -> MappedText:
    """The PTX of a template: `$$` is a dollar sign, `${0:x}` an operand, and of the variants `$(a$|b$)` the
    first is taken. Braces and bars without a dollar sign mean themselves. Operands that are constants have
    their values.
    """
    values = {one.name.encode(): one.value.encode() for one in operands if one.value is not None}
    text = _first_variants(text)
    text = text.replaced(_REFERENCE, _replacement)
    if values:
        text = text.replaced(_NAME, lambda match: values.get(match[0]))
    return text.with_encoding(_dollars_doubled)


_NAME = lazy_pattern(rb"\$\d+")
_VARIANTS = lazy_pattern(rb"\$\$|\$(?P<mark>[(|)])")


def _first_variants(text: MappedText) -> MappedText:
    """The text with the first one of each group of variants."""
    if b"$(" not in text.data:
        return text
    built = Builder()
    kept = 0
    in_group = is_dropped = False
    for match in _VARIANTS.finditer(text.data):
        mark = match["mark"]
        if mark is None or in_group == (mark == b"("):
            continue
        if not is_dropped:
            built.append(text.slice(Span(kept, match.start())))
        in_group, is_dropped, kept = mark != b")", mark == b"|", match.end()
    if not is_dropped:
        built.append(text.slice(Span(kept, len(text.data))))
    return built.text()


def _replacement(match: re.Match[bytes]) -> bytes | None:
    escaped, special, number = match["escaped"], match["special"], match["number"]
    if escaped is not None:
        return b"}" if escaped == b")" else escaped
    if special is not None:
        return _SPECIAL.get(special)
    return b"$" + number if number is not None else match[0]


def _dollars_doubled(encode: Encode) -> Encode:
    return lambda text: encode(_OPERAND.sub("$$", text))
