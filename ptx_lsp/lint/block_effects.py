"""The effects of a block of inline assembly that its operands do not show."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.memory_effects import EFFECTS, Effect, effect_of
from ptx_lsp.lint.block_accesses import block_instructions
from ptx_lsp.lint.checked_block import CheckedBlock
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.symbols import Predefined
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from typing import Final


class BlockEffect(NamedTuple):
    """An effect of one instruction of a block."""

    effect: Effect
    spelling: str
    span: Span
    """Its opcode in the host, relative to the start of the block."""


def effects(checked: CheckedBlock) -> Iterator[BlockEffect]:
    """The instructions of a block that have effects, in order."""
    function = checked.function
    of_all = shapes(function)
    for number in block_instructions(checked):
        shape, node = of_all[number], function.body.instructions[number]
        effect = effect_of(shape)
        if effect == "none" and _reads_a_clock(function, node):
            effect = "act"
        if effect != "none":
            span = checked.span_of(function.place(node.opcode))
            if span is not None:
                yield BlockEffect(effect, shape.spelling.partition("_hole")[0].rstrip("._"), span)


def _reads_a_clock(function: Function, node: nodes.Instruction) -> bool:
    return node.opcode.text.startswith("mov.") and any(
        isinstance(symbol := function.body.symbols.get(name.start), Predefined)
        and symbol.name.startswith(_CLOCKS)
        for operand in node.operands[1:]
        for name in names_in(operand)
    )


_CLOCKS: Final = ("%clock", "%globaltimer", "%pm")
_STRENGTH: Final = {effect: number for number, effect in enumerate(EFFECTS)}


def strongest(checked: CheckedBlock) -> BlockEffect | None:
    """The first of the strongest effects of a block."""
    return max(effects(checked), key=lambda one: _STRENGTH[one.effect], default=None)
