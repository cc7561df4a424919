"""References to operands in the template of a block of inline assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.embedded.block import Block, Operand
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from typing import Final

_NUMBERED: Final = lazy_pattern(rb"(?<![\w$%])[%$]\d+(?!\w)|%\[\w+\]")


class Reference(NamedTuple):
    """A reference to an operand that the block does not have, such as `%9`, in its PTX."""

    name: str
    span: Span


def names(block: Block, operand: Operand) -> bool:
    """Whether the template names an operand. One whose value is known may stand where that value does."""
    if operand.value is not None:
        return operand.value.encode() in block.text.data
    return re.search(rb"%b(?!\w)" % re.escape(operand.name.encode()), block.text.data) is not None


def unknown_references(block: Block) -> Iterator[Reference]:
    """The references to operands that the block does not have, also in comments."""
    if not block.has_operands or not block.operands_known or block.text.holes:
        return
    known = {operand.name for operand in block.operands}
    for match in _NUMBERED.finditer(block.text.data):
        name = match[0].decode("latin-1")
        if name not in known:
            yield Reference(name, Span(*match.span()))
