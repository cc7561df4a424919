"""`tcgen05.cp` and `tcgen05.shift`.

1. A copy takes rows of 128 or 256 bits from a matrix in shared memory that is not transposed. `.128x256b` and
   `.128x128b` give row r to lane r; `.4x256b` gives its four rows to the lane of the address and those 32, 64
   and 96 below.
2. `.64x128b.warpx2::02_13` gives row r to lanes r and r + 64, `.warpx2::01_23` rows 0 to 31 to the lanes of
   warps 0 and 1, rows 32 to 63 to those of 2 and 3. `.32x128b.warpx4` gives row r to a lane of every warp.
3. With `.b8x16` 16 elements of 4 or 6 bits at the beginning of each 16 bytes become bytes (`packing.py`).
4. A shift moves 8 columns of lanes 1 to 31, from the address on, one lane down to 0 to 30; the last lane
   keeps what it has. (The manual has no figure; its `.31x256b` and `.cp.4x256b`, which fills the last lanes,
   fit.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.descriptors.shared import CHUNK, SharedDescriptor
from ptx_lsp.executor.instructions.threads import Threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory import packing
from ptx_lsp.executor.tensor_memory.issue import Issue
from ptx_lsp.executor.tensor_memory.matrices import addresses
from ptx_lsp.executor.tensor_memory.memory import GROUP, LANES, TensorMemory
from ptx_lsp.executor.tensor_memory.operands import Address, Columns, Inputs, line_of
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]

_WORD = np.dtype(f"V{CHUNK}")
_SHIFTED = 8
"""Columns that a shift moves."""


@dataclass(frozen=True)
class _CopyRequest:
    target: Address
    matrix: SharedDescriptor


@dataclass(frozen=True, eq=False)
class Copy(Issue[_CopyRequest]):
    """`tcgen05.cp`: `lanes` has the lanes of each row (copies by rows), `bits` how wide packed elements are.
    """

    lanes: Numbers
    width: int
    bits: int

    def requests(self, row: Threads) -> Iterator[_CopyRequest]:
        targets, matrices = (self.inputs.numbers(row, name) for name in ("taddr", "s-desc"))
        for target, matrix in zip(targets, matrices, strict=True):
            yield _CopyRequest(Address.of(target), SharedDescriptor.of(matrix))

    def check(self, wave: Wave, blocks: Numbers, request: _CopyRequest) -> None:
        if problem := request.matrix.problem():
            raise ExecutionError(problem, "tensor-memory")
        lane = request.target.lane
        if lane + int(self.lanes.max()) >= LANES:
            raise ExecutionError(
                f"the copy begins in lane {lane} of Tensor Memory and reaches lane"
                f" {lane + int(self.lanes.max())}: there are {LANES}", "tensor-memory",
            )

    def columns(self, request: _CopyRequest) -> Iterator[Columns]:
        groups = np.unique((request.target.lane + self.lanes) // GROUP)
        mask = int(np.bitwise_or.reduce(1 << groups))
        yield Columns("the copy", request.target, self.width // 4, mask, reads=False, writes=True)

    def sources(self, request: _CopyRequest) -> Iterator[tuple[str, SharedDescriptor, Numbers]]:
        yield "the matrix", request.matrix, self._chunks(request.matrix)

    def request_text(self, request: _CopyRequest) -> str:
        return f"to {request.target.text()}; {request.matrix.text()}"

    def _chunks(self, matrix: SharedDescriptor) -> Numbers:
        """The addresses of the chunks of each row."""
        return addresses(matrix, self.lanes.shape[1], self.width, CHUNK, k_major=True)

    def perform(self, wave: Wave, pairs: Numbers, request: _CopyRequest) -> None:
        blocks = pairs.reshape(-1)
        memory = wave.shared.view(_WORD)
        found = memory[blocks[:, None, None], self._chunks(request.matrix) >> 4]
        data = np.ascontiguousarray(found).view(np.uint8).reshape(*found.shape, CHUNK)
        if self.bits:
            data = packing.unpacked(data, self.bits)
        words = np.ascontiguousarray(data).view(np.uint32).reshape(blocks.size, 1, data.shape[1], -1)
        lanes = (request.target.lane + self.lanes)[:, :, None]
        columns = request.target.column + np.arange(words.shape[-1])
        TensorMemory.of(wave).cells[blocks[:, None, None, None], lanes, columns] = words


@dataclass(frozen=True, eq=False)
class Shift(Issue[Address]):
    """`tcgen05.shift`"""

    def requests(self, row: Threads) -> Iterator[Address]:
        return map(Address.of, self.inputs.numbers(row, "taddr"))

    def check(self, wave: Wave, blocks: Numbers, request: Address) -> None:
        if request.lane % WARP_SIZE:
            raise ExecutionError(
                f"the address is in lane {request.lane}, which must be a multiple of {WARP_SIZE}",
                "tensor-memory",
            )

    def columns(self, request: Address) -> Iterator[Columns]:
        groups = 3 << request.lane // GROUP
        yield Columns("the matrix", request, _SHIFTED, groups, writes=True)

    def sources(self, request: Address) -> Iterator[tuple[str, SharedDescriptor, Numbers]]:
        return iter(())

    def request_text(self, request: Address) -> str:
        return request.text()

    def perform(self, wave: Wave, pairs: Numbers, request: Address) -> None:
        cells, lane, column = TensorMemory.of(wave).cells, request.lane, request.column
        for block in pairs.reshape(-1).tolist():
            part = cells[block, lane : lane + WARP_SIZE, column : column + _SHIFTED]
            part[:-1] = part[1:].copy()


def copy(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Copy | Shift:
    """The action of `tcgen05.cp` or `tcgen05.shift`."""
    modifiers = match.candidate.choices.modifiers
    inputs = Inputs.of(node, match, operands)
    group = 2 if ".cta_group::2" in modifiers else 1
    line, text = line_of(node, operands), node.opcode.text
    if match.entry.name == "tcgen05.shift":
        return Shift(spaces, inputs, group, line, text)
    shape = next(one for one in modifiers if one.endswith("b") and "x" in one and one[1].isdigit())
    bits = 4 if ".b4x16_p64" in modifiers else 6 if ".b6x16_p32" in modifiers else 0
    width = 32 if shape.endswith("256b") else 16
    return Copy(spaces, inputs, group, line, text, _lanes(shape, modifiers), width, bits)


def _lanes(shape: str, modifiers: frozenset[str]) -> Numbers:
    """The lanes of each row of a shape, relative to the address (copies by rows)."""
    rows = np.arange(int(shape[1:].partition("x")[0]))
    match len(rows):
        case 4:
            copies = [32 * rows]
        case 64 if ".warpx2::01_23" in modifiers:
            copies = [rows + rows // 32 * 32, rows + rows // 32 * 32 + 32]
        case 64:
            copies = [rows, rows + 64]
        case 32:
            copies = [rows + 32 * warp for warp in range(4)]
        case _:
            copies = [rows]
    return np.stack(copies).astype(np.int64)
