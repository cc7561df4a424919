"""The lane offsets of operands that are not registers: numbers, special registers and variables
(`lane_values.py`, 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ptx_lsp.analyses.divergence.divergence_sources import BlockSize, special_register_uniformity
from ptx_lsp.analyses.divergence.lane_arithmetic import UNIFORM, WARP, LaneOffsets, constant
from ptx_lsp.analyses.divergence.uniformity_transfer import block_size
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import sparse_instruction_fact
from ptx_lsp.model.symbols import Predefined, Variable
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final


class LaneSources:
    """The lane offsets that a function starts from."""

    __slots__ = ("block_size", "function", "has_known_lane_order", "is_first_warp")

    def __init__(self, function: Function, *, is_first_warp: bool) -> None:
        self.function: Final = function
        self.is_first_warp: Final = is_first_warp
        """Whether only the first warp of a block is considered."""
        self.block_size: Final = _block_size(function)
        self.has_known_lane_order: Final = _has_known_lane_order(function, self.block_size)
        """Whether lanes are numbered as assumed (2): the block size is given, or thread indices along y and z
        are unused, so that the block is probably one row.
        """

    @property
    def declarations(self) -> tuple[object, ...]:
        """All that names can refer to."""
        body, linked = self.function.body, self.function.linked
        return (*map(id, body.directives), *map(id, body.variables), *map(id, linked.values()))

    @property
    def has_full_warps(self) -> bool:
        """Whether the lane order is known and a block may fill a warp."""
        x, y, z = self.block_size
        return self.has_known_lane_order and (x == 0 or x * max(y, 1) * max(z, 1) >= WARP)

    def operand(self, operand: nodes.Operand) -> LaneOffsets | None:
        """The lane offsets of an operand that is not a register; None if unknown."""
        number = literal(operand)
        if number is not None:
            return constant(number)
        component = ""
        if isinstance(operand, nodes.Member) and operand.components:
            component = operand.components[0].text
            operand = operand.object
        symbol = self.function.resolve(operand) if isinstance(operand, nodes.Name) else None
        if isinstance(symbol, Predefined):
            return self._special(symbol.name, component)
        if isinstance(symbol, Variable) and symbol.space in (".shared", ".global", ".const"):
            return UNIFORM._replace(alignment=alignment_of(symbol))
        return None

    def _special(self, name: str, component: str) -> LaneOffsets | None:
        if name == "WARP_SZ":
            return constant(WARP)
        if name == "%laneid":
            return LaneOffsets.of(range(WARP), 0)
        if name == "%tid" and component in (".x", ".y", ".z"):
            if self.is_first_warp and not self.has_known_lane_order:
                return None
            found = _thread_index(component, self.block_size)
            return found._replace(alignment=0) if found and self.is_first_warp else found
        is_uniform = special_register_uniformity(name, component, self.block_size).is_uniform
        return UNIFORM if is_uniform else None


def may_differ_by_lane(function: Function) -> bool:
    """Whether a function reads anything whose lane offsets are known and differ."""
    return bool(_lane_names(function).indices)


_predefined: Final = InstructionWake(features=PREDEFINED)


@sparse_instruction_fact(_predefined)
def _lane_names(function: Function, number: int) -> Iterator[str]:
    """The thread and lane indices that an instruction reads: `%laneid`, `%tid.x`, or `%tid` for others."""
    symbols = function.symbols
    for operand in function.body.instructions[number].operands:
        for name in names_in(operand):
            if name.text in ("%tid", "%laneid") and isinstance(symbols.get(name.start), Predefined):
                is_of_x = isinstance(operand, nodes.Member) and [one.text for one in operand.components] == [
                    ".x"
                ]
                yield "%tid.x" if name.text == "%tid" and is_of_x else name.text


def _has_known_lane_order(function: Function, size: BlockSize) -> bool:
    if block_size(function).x or size.y * size.z > 1 or function.launch_block is not None:
        return True
    return not any("%tid" in names for names in _lane_names(function).results)


def _block_size(function: Function) -> BlockSize:
    size = block_size(function)
    if size.x:
        return size
    for directive in reversed(function.node.directives):  # of several, ptxas takes the last
        if directive.name.text == ".maxntid":
            sizes = [literal(one) or 0 for one in directive.arguments]
            size = BlockSize(*(*sizes, 1, 1, 1)[:3])
            break
    launched = function.launch_block
    if launched is not None and (not size.x or math.prod(launched) <= math.prod(size)):
        return BlockSize(*launched)
    return size


def _thread_index(component: str, size: BlockSize) -> LaneOffsets | None:
    rows = size.x or WARP
    if component == ".x":
        if rows % WARP == 0:
            return LaneOffsets.of(range(WARP), WARP if size.x != WARP else 0)
        return LaneOffsets.of([lane % rows for lane in range(WARP)], 0) if WARP % rows == 0 else None
    above = rows if component == ".y" else rows * size.y
    if above and above % WARP == 0:
        return UNIFORM
    limit = size.y if component == ".y" else size.z
    if not above or WARP % above:
        return None
    found = [lane // above for lane in range(WARP)]
    if limit and component == ".y" and found[-1] >= limit:
        return LaneOffsets.of([one % limit for one in found], 0) if len(found) % limit == 0 else None
    return LaneOffsets.of(found, found[-1] + 1)


def alignment_of(variable: Variable) -> int:
    """The declared alignment in bytes; 1 if it is not a literal."""
    stated = variable.declaration.alignment
    return (literal(stated) if isinstance(stated, nodes.Number) else None) or 1
