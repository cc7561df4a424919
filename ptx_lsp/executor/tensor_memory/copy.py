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

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instructions.threads import Threads, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Described
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory import packing
from ptx_lsp.executor.tensor_memory.hazards import tell_begun
from ptx_lsp.executor.tensor_memory.in_flight import InFlight, Span
from ptx_lsp.executor.tensor_memory.matrices import addresses
from ptx_lsp.executor.tensor_memory.memory import LANES, TensorMemory
from ptx_lsp.executor.tensor_memory.operands import (
    Address,
    Inputs,
    check_columns,
    line_of,
    pair_of,
)
from ptx_lsp.executor.tensor_memory.shared_descriptor import CHUNK, SharedDescriptor
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]

_WORD = np.dtype(f"V{CHUNK}")
_SHIFTED = 8
"""Columns that a shift moves."""


@dataclass(frozen=True, eq=False)
class Copy(Described):
    """`tcgen05.cp`: `lanes` has the lanes of each row (copies by rows), `bits` how wide packed elements are.
    """

    spaces: Spaces
    inputs: Inputs
    lanes: Numbers
    width: int
    bits: int
    group: int
    line: int
    text: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if not row.count:
            return
        pairs = pair_of(row, self.group)
        targets = [Address.of(word & 0xFFFFFFFF) for word in self.inputs.numbers(row, "taddr")]
        matrices = [SharedDescriptor.of(word) for word in self.inputs.numbers(row, "s-desc")]
        for at, (target, matrix) in enumerate(zip(targets, matrices, strict=True)):
            try:
                self._check(wave, pairs[at], target, matrix)
            except ExecutionError as error:
                raise row.error(str(error), error.kind, np.arange(row.count) == at) from None
        moves = _Copies(self, wave, pairs, targets, matrices)
        self.spaces.began(wave, moves)
        self._tell(row, pairs, matrices)
        tell_begun(self.spaces, wave, row.lanes, moves)
        InFlight.of(wave).operations.begin(row.lanes, pairs[:, 0], moves)

    def describe(self, wave: Wave, lane: int) -> str:
        chosen = np.zeros(wave.shape, np.bool_)
        chosen.reshape(-1)[lane] = True
        row = threads(wave, chosen)
        target = Address.of(self.inputs.numbers(row, "taddr")[0] & 0xFFFFFFFF)
        return f"to {target.text()}; {SharedDescriptor.of(self.inputs.numbers(row, 's-desc')[0]).text()}"

    def chunks(self, matrix: SharedDescriptor) -> Numbers:
        """The addresses of the chunks of each row."""
        return addresses(matrix, self.lanes.shape[1], self.width, CHUNK, k_major=True)

    def _check(
        self, wave: Wave, blocks: Numbers, target: Address, matrix: SharedDescriptor
    ) -> None:
        if problem := matrix.problem():
            raise ExecutionError(problem, "tensor-memory")
        last, limit = int(self.chunks(matrix).max()) + CHUNK, wave.launch.shared_bytes
        if last > limit:
            message = f"the matrix reaches up to {last:#x} in shared memory, of {limit} bytes"
            raise ExecutionError(message, "out-of-bounds")
        if target.lane + int(self.lanes.max()) >= LANES:
            raise ExecutionError(
                f"the copy begins in lane {target.lane} of Tensor Memory and reaches lane"
                f" {target.lane + int(self.lanes.max())}: there are {LANES}", "tensor-memory",
            )
        check_columns(wave, blocks, target, self.width // 4, "the copy")

    def _tell(self, row: Threads, pairs: Numbers, matrices: list[SharedDescriptor]) -> None:
        if self.spaces.observer is None:
            return
        wave = row.wave
        data = wave.shared.reshape(-1)
        for at, matrix in enumerate(matrices):
            starts = pairs[at][:, None] * wave.shared.shape[1]
            offsets = np.asarray((starts + np.unique(self.chunks(matrix))).reshape(-1), np.int64)
            lanes = np.full(offsets.shape, row.lanes[at])
            self.spaces.tell(wave, MemoryEvent("read", ".shared", None, data, CHUNK, lanes, offsets, "copy"))


class _Copies:
    """The copies that threads have begun."""

    def __init__(
        self, action: Copy, wave: Wave, pairs: Numbers, targets: list[Address],
        matrices: list[SharedDescriptor],
    ) -> None:
        self.line, self.text = action.line, action.text
        self._action, self._wave = action, wave
        self._pairs, self._targets, self._matrices = pairs, targets, matrices

    def spans(self, chosen: Bools) -> Iterator[Span]:
        for at in np.flatnonzero(chosen).tolist():
            blocks = self._pairs[at]
            yield Span(blocks, np.full(blocks.shape, self._targets[at].column), self._action.width // 4, True)

    def land(self, chosen: Bools) -> None:
        action = self._action
        cells = TensorMemory.of(self._wave).cells
        memory = self._wave.shared.view(_WORD)
        for at in np.flatnonzero(chosen).tolist():
            target, blocks = self._targets[at], self._pairs[at]
            found = memory[blocks[:, None, None], action.chunks(self._matrices[at]) >> 4]
            data = np.ascontiguousarray(found).view(np.uint8).reshape(*found.shape, CHUNK)
            if action.bits:
                data = packing.unpacked(data, action.bits)
            words = np.ascontiguousarray(data).view(np.uint32).reshape(blocks.size, 1, data.shape[1], -1)
            lanes = (target.lane + action.lanes)[:, :, None]
            columns = target.column + np.arange(words.shape[-1])
            cells[blocks[:, None, None, None], lanes, columns] = words


@dataclass(frozen=True, eq=False)
class Shift:
    """`tcgen05.shift`"""

    spaces: Spaces
    inputs: Inputs
    group: int
    line: int
    text: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if not row.count:
            return
        pairs = pair_of(row, self.group)
        targets = [Address.of(word & 0xFFFFFFFF) for word in self.inputs.numbers(row, "taddr")]
        for at, target in enumerate(targets):
            here = np.arange(row.count) == at
            if target.lane % 32:
                raise row.error(
                    f"the address is in lane {target.lane}, which must be a multiple of 32", "tensor-memory",
                    here,
                )
            try:
                check_columns(wave, pairs[at], target, _SHIFTED, "the matrix")
            except ExecutionError as error:
                raise row.error(str(error), error.kind, here) from None
        moves = _Shifts(self, wave, pairs, targets)
        self.spaces.began(wave, moves)
        tell_begun(self.spaces, wave, row.lanes, moves)
        InFlight.of(wave).operations.begin(row.lanes, pairs[:, 0], moves)


class _Shifts:
    """The shifts that threads have begun."""

    def __init__(self, action: Shift, wave: Wave, pairs: Numbers, targets: list[Address]) -> None:
        self.line, self.text = action.line, action.text
        self._wave, self._pairs, self._targets = wave, pairs, targets

    def spans(self, chosen: Bools) -> Iterator[Span]:
        for at in np.flatnonzero(chosen).tolist():
            blocks = self._pairs[at]
            yield Span(blocks, np.full(blocks.shape, self._targets[at].column), _SHIFTED, True)

    def land(self, chosen: Bools) -> None:
        cells = TensorMemory.of(self._wave).cells
        for at in np.flatnonzero(chosen).tolist():
            lane, column = self._targets[at].lane, self._targets[at].column
            for block in self._pairs[at].tolist():
                part = cells[block, lane : lane + 32, column : column + _SHIFTED]
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
    return Copy(spaces, inputs, _lanes(shape, modifiers), width, bits, group, line, text)


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
