"""Summaries of basic blocks: the sets of registers that dataflow analyses start from, and dead writes."""

from __future__ import annotations

from analyses.control_flow.block_identity import block_fact
from analyses.instructions.uses_and_defs import FunctionInstructions


class BlockSummary:
    """The registers that a block reads and writes. Instructions are counted from the first of the block."""

    __slots__ = ("dead", "defined", "entry_registers", "exposed", "killed", "partially_defined", "undecided")

    def __init__(self) -> None:
        self.exposed: tuple[int, ...] = ()
        """The registers that it reads before it has completely written them (upward-exposed uses)."""
        self.entry_registers: tuple[int, ...] = ()
        """The registers whose value at the entry is read or partly kept."""
        self.defined: tuple[int, ...] = ()
        """The registers that it writes, in the order of the first writes."""
        self.killed: frozenset[int] = _NO_REGISTERS
        """The registers that it completely writes."""
        self.partially_defined: frozenset[int] = _NO_REGISTERS
        """The registers that some instruction writes partially."""
        self.dead: tuple[int, ...] = ()
        """The instructions without side effects whose results are overwritten before they are read."""
        self.undecided: tuple[tuple[int, tuple[int, ...]], ...] = ()
        """Others that are dead if none of these registers is live at the end of the block."""


    def reads_and_writes_like(self, other: BlockSummary) -> bool:
        """Whether data flow through both is the same."""
        return (
            self.exposed == other.exposed
            and self.defined == other.defined
            and self.killed == other.killed
            and self.partially_defined == other.partially_defined
        )


_NO_REGISTERS = frozenset[int]()
_NOTHING = BlockSummary()


@block_fact
def block_summaries(flow: FunctionInstructions, first: int, end: int) -> BlockSummary:
    """The summary of each block, computed from its last instruction to its first."""
    if first == end:
        return _NOTHING
    all_uses, all_defs, all_partial_defs = flow.uses, flow.defs, flow.partial_defs
    guards, kinds = flow.guards, flow.kinds
    is_read: dict[int, bool] = {}
    """Whether a register is next read; otherwise, it is next completely written."""
    kept: dict[int, bool] = {}
    """Whether a register is next partially written."""
    killed: set[int] = set()
    partially_defined: set[int] = set()
    dead: list[int] = []
    undecided: list[tuple[int, tuple[int, ...]]] = []
    defined: dict[int, bool] = {}
    for number in range(end - 1, first - 1, -1):
        defs = all_defs[number]
        if defs:
            if kinds[number].is_pure:
                outgoing: list[int] = []
                for register in defs:
                    state = is_read.get(register)
                    if state is None:
                        outgoing.append(register)
                    elif state:
                        break
                else:
                    if outgoing:
                        undecided.append((number - first, tuple(outgoing)))
                    else:
                        dead.append(number - first)
            partial_defs = all_partial_defs[number]
            for register in defs:
                if register in partial_defs:
                    kept[register] = True
                    partially_defined.add(register)
                else:
                    is_read[register] = False
                    killed.add(register)
                    if kept:
                        kept[register] = False
        for register in all_uses[number]:
            is_read[register] = True
        guard = guards[number]
        if guard >= 0:
            is_read[guard] = True
    for defs in all_defs[first:end]:
        for register in defs:
            defined[register] = True
    found = BlockSummary()
    found.exposed = tuple([register for register, state in is_read.items() if state])
    found.entry_registers = found.exposed
    if kept:
        more = [one for one, is_first in kept.items() if is_first and not is_read.get(one, False)]
        found.entry_registers += tuple(more)
        found.partially_defined = frozenset(partially_defined)
    found.defined = tuple(defined)
    found.killed = frozenset(killed) if killed else _NO_REGISTERS
    found.dead = tuple(dead)
    found.undecided = tuple(undecided)
    return found
