"""The operands of `tcgen05` instructions of single threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import Threads, pointer
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory.memory import COLUMNS, LANES, TensorMemory, columns_text
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]

ALL_LANES = 0xFF


@dataclass(frozen=True, eq=False)
class Inputs:
    """The operands that are read, by the names that they have in the row."""

    programs: dict[str, Program]

    @classmethod
    def of(cls, node: nodes.Instruction, match: Match, operands: Operands) -> Inputs:
        found: dict[str, Program] = {}
        for operand, (place, _) in zip(node.operands, match.places, strict=True):
            name = place.name
            if isinstance(operand, nodes.Address):
                found[name] = pointer(operand, "", operands)[1]
            else:
                type = ".pred" if name == "enable-input-d" else ".u64" if name.endswith("desc") else ".u32"
                found[name] = sources([(operand, TYPES[type])], operands)
        return cls(found)

    def read(self, row: Threads, name: str) -> list[Array]:
        """The values of an operand, an array for each element of a vector."""
        return row.compute(self.programs[name])

    def numbers(self, row: Threads, name: str) -> list[int]:
        """The value of an operand for each thread."""
        return [int(value) for value in self.read(row, name)[0].tolist()]

    def __contains__(self, name: str) -> bool:
        return name in self.programs


def line_of(node: nodes.Instruction, operands: Operands) -> int:
    """The line of an instruction, from 1."""
    function = operands.function
    return function.module.document.source.line_of(function.module.span(function.place(node)).start) + 1


@dataclass(frozen=True)
class Address:
    """An address in Tensor Memory."""

    lane: int
    column: int

    @classmethod
    def of(cls, word: int) -> Address:
        return cls(word >> 16 & 0xFFFF, word & 0xFFFF)

    def text(self) -> str:
        return f"lane {self.lane}, column {self.column}"


@dataclass(frozen=True)
class Columns:
    """`count` columns of Tensor Memory from an address on, and of them the `groups` of lanes: bit n for lanes
    16n to 16n + 15.
    """

    name: str
    address: Address
    count: int
    groups: int = ALL_LANES
    reads: bool = True
    writes: bool = False


def pair_of(row: Threads, group: int) -> Numbers:
    """The blocks of the wave whose Tensor Memory an instruction of each thread uses: threads by 1 or 2, the
    block with the even rank first.
    """
    blocks = row.blocks.astype(np.int64)
    if group == 1:
        return blocks[:, None]
    if row.wave.launch.cluster_blocks % 2:
        raise row.error("`.cta_group::2` requires clusters with an even number of blocks", "tensor-memory")
    found = np.stack([blocks & ~1, blocks | 1], axis=1)
    living: Bools = np.asarray(row.wave.live_mask().any(axis=1), np.bool_)
    gone: Bools = np.asarray((~living[found]).any(axis=1), np.bool_)
    if gone.any():
        raise row.error("the other block of the pair has exited", "tensor-memory", gone)
    return found


def check_columns(wave: Wave, blocks: Numbers, columns: Columns) -> None:
    """Raises ExecutionError unless the blocks hold these columns."""
    name, address, count = columns.name, columns.address, columns.count
    if address.lane >= LANES:
        raise ExecutionError(f"{name} is in {address.text()}: there are {LANES} lanes", "tensor-memory")
    firsts = np.full(blocks.shape, address.column, np.int64)
    wrong = TensorMemory.of(wave).unallocated(blocks, firsts, count)
    if wrong.any():
        held = TensorMemory.of(wave).held_text(int(blocks[wrong][0])) or "nothing"
        beyond = f" (there are {COLUMNS})" if address.column + count > COLUMNS else ""
        raise ExecutionError(
            f"{name} takes {columns_text(address.column, count)} of Tensor Memory{beyond}, but the block"
            f" holds {held}", "tensor-memory",
        )
