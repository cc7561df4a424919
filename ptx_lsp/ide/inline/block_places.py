"""Places in the PTX of a block of inline assembly, and the places in its host that they come from."""

from __future__ import annotations

from typing import Final

from ptx_lsp.embedded.block import Operand
from ptx_lsp.lint.checked_block import CheckedBlock
from ptx_lsp.lint.inline.translation import host_edits
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Edit, Span

_DECLARATION: Final = b".reg "
_OWN_NAMES: Final = "$__"


class BlockPlaces(NamedTuple):
    """A block that begins at `start` in its host. An operand stands in the host where it is passed, and in
    the PTX where its register is declared.
    """

    checked: CheckedBlock
    start: int

    def offset(self, host: int, *, with_expressions: bool = False) -> int | None:
        """The offset in the PTX for one in the host: in the template or at a constraint, and if wanted at
        what the host passes; None elsewhere.
        """
        block, virtual, at = self.checked.block, self.checked.virtual, host - self.start
        inside = block.text.offset_at(at)
        if inside is None and not block.text.pieces and block.template.start < at < block.template.end:
            inside = 0  # an empty literal
        if inside is not None:
            return virtual.start + inside
        operand = self._operand_at(at, with_expressions)
        declared = self.declaration(operand) if operand is not None else None
        return declared.start if declared is not None else None

    def is_passed_at(self, host: int) -> bool:
        """Whether an operand is passed at an offset of the host: not the template, but what follows it."""
        at = host - self.start
        return self.checked.block.text.offset_at(at) is None and self._operand_at(at, True) is not None

    def _operand_at(self, at: int, with_expressions: bool) -> Operand | None:
        for one in self.checked.block.operands:
            if one.constraint_span.start <= at <= one.constraint_span.end:
                return one
            if with_expressions and one.expression and _contains(one.expression_span, at):
                return one
        return None

    def declaration(self, operand: Operand) -> Span | None:
        """The name of an operand where the PTX declares it."""
        data, head = self.checked.virtual.data, self.checked.virtual.start
        if operand.type is None:
            return None
        name = operand.name.encode()
        line = data.find(b"\n.reg %b " % operand.type.encode(), 0, head) + 1
        end = data.find(b"\n", line, head)
        at = data.find(b" %b" % name, line, end) + 1
        while at > 0 and data[at + len(name) : at + len(name) + 1] not in (b",", b";"):
            at = data.find(b" %b" % name, at, end) + 1
        return Span(at, at + len(name)) if line and at else None

    def declared_operand(self, span: Span) -> Operand | None:
        """The operand whose register the PTX declares at a range before the block."""
        data, head = self.checked.virtual.data, self.checked.virtual.start
        if span.end > head or not data.startswith(_DECLARATION, data.rfind(b"\n", 0, span.start) + 1):
            return None
        return self.checked.block.operand(data[span.start : span.end].decode("latin-1"))

    def span(self, span: Span) -> Span | None:
        """The range in the host for one in the PTX; None if it does not come from there."""
        inside = self.checked.virtual.inside(span)
        if inside is not None and self.checked.virtual.start <= span.start:
            return self.checked.block.text.host_span(inside).shifted(self.start)
        operand = self.declared_operand(span)
        if operand is None:
            return None
        place = operand.expression_span if operand.expression else operand.constraint_span
        return place.shifted(self.start)

    def edits(self, edit: Edit) -> list[Edit] | None:
        """The edits of the host for one of the PTX; None if the host cannot be edited so."""
        virtual, by = self.checked.virtual, -self.checked.virtual.start
        if edit.start < virtual.start or edit.end > virtual.end:
            return None
        made = host_edits(self.checked, edit._replace(start=edit.start + by, end=edit.end + by))
        if made is None:
            return None
        return [one._replace(start=one.start + self.start, end=one.end + self.start) for one in made]

    def written(self, offset: int, text: str) -> str | None:
        """PTX, written so that the host has it at an offset; None if that is impossible."""
        block = self.checked.block
        if not block.text.pieces:
            return text
        return block.text.encode_at(max(0, offset - self.checked.virtual.start))(text)


def is_own_name(name: str) -> bool:
    """Whether a name belongs to the function around a block."""
    return name.startswith(_OWN_NAMES)


def _contains(span: Span, at: int) -> bool:
    return span.start <= at <= span.end
