"""The machine instructions of each basic block: the instructions that `virtual_registers` does not eliminate.
"""

from __future__ import annotations

from collections.abc import Sequence

from analyses.control_flow.block_identity import BlockIdentity, block_identities
from analyses.control_flow.cfg import cfg
from analyses.registers.virtual_registers import MachineInstruction, virtual_registers
from ptx_lsp.facts import Previous, fact, incremental_fact
from ptx_lsp.model.function import Function


class MachineBlock:
    """The machine instructions of one block, its upward-exposed virtual registers, and the ones that it
    defines. It is the same object as long as the instructions are unchanged.
    """

    __slots__ = ("by_position", "defined", "instructions", "upward_exposed")

    def __init__(self, of_steps: Sequence[MachineInstruction | None]) -> None:
        self.by_position = of_steps
        self.instructions = [one for one in of_steps if one is not None]
        live: set[int] = set()
        made: set[int] = set()
        for operation in reversed(self.instructions):
            written = operation.defs - operation.partial_defs
            live -= written
            live |= operation.uses
            made |= written
        self.upward_exposed = frozenset(live)
        self.defined = frozenset(made)


@fact
def machine_blocks(function: Function) -> tuple[MachineBlock, ...]:
    """The machine instructions of `function`, per block."""
    return tuple(_by_identity(function).values())


@incremental_fact
def _by_identity(
    function: Function, earlier: Previous[dict[BlockIdentity, MachineBlock]] | None
) -> dict[BlockIdentity, MachineBlock]:
    before = earlier.value if earlier else {}
    left = virtual_registers(function).instructions
    found: dict[BlockIdentity, MachineBlock] = {}
    for block, content in zip(cfg(function).blocks, block_identities(function).blocks, strict=True):
        of_steps = left[block.first : block.end]
        known = before.get(content)
        is_same = known is not None and known.by_position == of_steps
        found[content] = known if known is not None and is_same else MachineBlock(of_steps)
    return found
