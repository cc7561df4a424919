"""Matrices from and to memory: `ldmatrix`, `stmatrix`, `wmma.load` and `wmma.store`."""

from __future__ import annotations

import re
from abc import ABC

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, Program
from ptx_lsp.executor.instructions.access import address_of, gather, put, writable
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Addresses, Space
from ptx_lsp.executor.machine.observer import Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.matrices import elements
from ptx_lsp.executor.matrices.fragments import Fragment
from ptx_lsp.executor.matrices.matrix import Inputs, inputs_of, wmma_fragment
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.syntax import nodes

Bytes = npt.NDArray[np.uint8]

_ROW = 16
"""Bytes of a row of an `ldmatrix` or `stmatrix`."""


class Memory:
    """The memory that the lanes of warps access."""

    def __init__(self, spaces: Spaces, space: Space, address: Program) -> None:
        self._spaces = spaces
        self._space: Space = space
        self._address = address

    def addresses(self, warps: Warps) -> Addresses:
        """Warps by lanes."""
        return np.asarray(warps.of(self._address.run(warps.wave.registers)[0]), np.uint64)

    def load(
        self, wave: Wave, addresses: Addresses, lanes: Bools, width: int, count: int = 1, *,
        use: Use | None = "read",
    ) -> list[Array]:
        """`count` consecutive elements of `width` bits from each address; `lanes` are the lanes with an
        address. `use` is for observers (None: not reported).
        """
        found = self._spaces.resolve(wave, addresses, self._space, width * count, lanes, use)
        return [gather(found, addresses.shape, UNSIGNED[8 * width], at) for at in range(count)]

    def store(
        self, wave: Wave, addresses: Addresses, lanes: Bools, values: list[Array]
    ) -> None:
        """The values of each lane, consecutively."""
        width = values[0].dtype.itemsize
        found = self._spaces.resolve(
            wave, addresses, self._space, width * len(values), lanes, "write"
        )
        for reach, part in found:
            memory = writable(reach, UNSIGNED[8 * width])
            index = reach.offsets >> np.uint64(width.bit_length() - 1)
            for at, value in enumerate(values):
                put(memory, index + np.uint64(at), value if part is None else value[part])

    def rows(self, warps: Warps, count: int) -> tuple[Addresses, Bools]:
        """The addresses of the first lanes of each warp, which those of rows; and these lanes."""
        chosen = np.zeros((1, 32), np.bool_)
        chosen[:, :count] = True
        wave = warps.wave
        lanes = np.tile(chosen, (1, wave.shape[1] // 32)) & wave.full_mask(warps.lanes)
        return self.addresses(warps)[:, :count].reshape(-1), lanes


class LoadMatrix(Aligned):
    """`ldmatrix`: lanes have the addresses of rows of 16 bytes (8 for `.s4`)."""

    def __init__(
        self, memory: Memory, destinations: tuple[int | None, ...], layout: str, format: str, *,
        transposed: bool,
    ) -> None:
        """`layout` is such as ".m8n8", `format` that of the rows, such as ".b16"."""
        super().__init__()
        self._memory = memory
        self._destinations = destinations
        self._layout = layout
        self._format = format
        self._transposed = transposed

    def execute(self, warps: Warps) -> None:
        height = 16 if self._layout == ".m16n16" else 8
        each = height // 8  # registers to a matrix
        count = len(self._destinations) // each
        addresses, lanes = self._memory.rows(warps, height * count)
        given = 1 if self._format == ".s4" else 2  # 16 elements of 4 bits, without padding
        halves = self._memory.load(warps.wave, addresses, lanes, 8, given)
        halves += halves[: 2 - given]
        rows = np.stack(halves, axis=-1).view(np.uint8).reshape(-1, count, height, _ROW)
        found = _unpacked(rows, self._format)
        if self._transposed:
            size = 2 if self._layout == ".m8n8" else 1
            found = np.ascontiguousarray(found).view(UNSIGNED[8 * size]).swapaxes(2, 3)
            found = np.ascontiguousarray(found).view(np.uint8)
        words = np.ascontiguousarray(found).view(np.uint32)  # warps, matrices, rows, 4
        values = words.reshape(-1, count * each, 32)
        for at, number in enumerate(self._destinations):
            warps.write(number, values[:, at])


def _unpacked(rows: Bytes, format: str) -> Bytes:
    """Rows of 16 elements, one to a byte, in its lower bits. `mma` takes elements of `.e2m1` from the middle
    of a byte, so kernels shift what they load by two bits.
    """
    match format:
        case ".b4x16_p64" | ".s4":
            low = rows[..., :8]
            found = np.stack([low & np.uint8(15), low >> np.uint8(4)], axis=-1).reshape(rows.shape)
            return (found ^ np.uint8(8)) - np.uint8(8) if format == ".s4" else found
        case ".b6x16_p32":
            bits = np.unpackbits(rows[..., :12], axis=-1, bitorder="little")
            bits = bits.reshape(*rows.shape[:-1], 16, 6)
            return np.packbits(bits, axis=-1, bitorder="little").reshape(rows.shape)
        case _:
            return rows


class StoreMatrix(Aligned):
    """`stmatrix`."""

    def __init__(self, memory: Memory, inputs: Inputs, layout: str, *, transposed: bool) -> None:
        super().__init__()
        self._memory = memory
        self._inputs = inputs
        self._layout = layout
        self._transposed = transposed

    def execute(self, warps: Warps) -> None:
        registers = self._inputs.read(warps)["r"]
        count = len(registers)
        words = np.stack(registers, axis=1).astype(np.uint32).reshape(-1, count, 8, 4)
        rows = _columns_of_bytes(words) if self._layout == ".m16n8" else words.view(np.uint8)
        if self._transposed and self._layout == ".m8n8":
            rows = np.ascontiguousarray(rows).view(np.uint16).swapaxes(2, 3)
        addresses, lanes = self._memory.rows(warps, 8 * count)
        halves = np.ascontiguousarray(rows).view(np.uint64).reshape(-1, 2)
        self._memory.store(warps.wave, addresses, lanes, [halves[:, 0], halves[:, 1]])


def _columns_of_bytes(words: npt.NDArray[np.uint32]) -> Bytes:
    """The columns of 16x8 matrices of bytes that are held as sums of `mma` are."""
    parts = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 2, 2)
    # warps, matrices, row, pair of columns, 8 rows below, column -> pair, column, below, row
    return parts.transpose(0, 1, 3, 5, 4, 2).reshape(*words.shape[:2], 8, 16)


class Fragments(Aligned, ABC):
    """`wmma.load` and `wmma.store`: each lane accesses its own elements. Elements of less than a byte are
    accessed by whole registers.
    """

    def __init__(
        self, memory: Memory, layout: Fragment, inputs: Inputs, type: str, *, by_rows: bool
    ) -> None:
        super().__init__()
        self._memory = memory
        self._layout = layout
        self._inputs = inputs
        self._bits = elements.width(type)
        self._grouped = 32 if type == ".b1" else 1
        self._by_rows = by_rows

    def places(self, warps: Warps) -> tuple[list[Addresses], Bools, dict[str, list[Array]]]:
        """The addresses of each element of the lanes, flat; the lanes; the operands."""
        layout = self._layout
        inputs = {name: list[Array](values) for name, values in self._inputs.read(warps).items()}
        _, rows, columns = layout.shape
        length = columns if self._by_rows else rows
        stride = inputs["stride"][0][:, :1] if "stride" in inputs else length * self._grouped
        major, minor = (layout.rows, layout.columns) if self._by_rows else (layout.columns, layout.rows)
        base = self._memory.addresses(warps)
        wide = np.asarray(stride, np.uint64) // np.uint64(self._grouped)
        step = 32 // self._bits if self._bits < 8 else 1
        found: list[Addresses] = []
        for at in range(0, major.shape[1], step):
            offset = major[:, at].astype(np.uint64) * wide + minor[:, at].astype(np.uint64)
            found.append((base + offset * np.uint64(self._bits) // np.uint64(8)).reshape(-1))
        wave = warps.wave
        return found, wave.full_mask(warps.lanes), inputs


class LoadFragment(Fragments):
    """`wmma.load`."""

    def __init__(
        self, memory: Memory, layout: Fragment, inputs: Inputs, type: str,
        destinations: tuple[int | None, ...], *, by_rows: bool,
    ) -> None:
        super().__init__(memory, layout, inputs, type, by_rows=by_rows)
        self._destinations = destinations

    def execute(self, warps: Warps) -> None:
        addresses, lanes, _ = self.places(warps)
        size = max(self._bits, 32 if self._bits < 8 else 8) // 8
        loaded = [self._memory.load(warps.wave, one, lanes, size)[0] for one in addresses]
        values = np.stack([one.reshape(-1, 32) for one in loaded], axis=-1)
        held = UNSIGNED[64 if size == 8 else 32]
        words = np.ascontiguousarray(values).view(held) if size < 4 else values
        for at, number in enumerate(self._destinations):
            warps.write(number, np.ascontiguousarray(words[..., at]))


class StoreFragment(Fragments):
    """`wmma.store`."""

    def execute(self, warps: Warps) -> None:
        addresses, lanes, inputs = self.places(warps)
        words = np.stack(inputs["r"], axis=-1)
        size = self._bits // 8
        values = np.ascontiguousarray(words).view(UNSIGNED[8 * size]) if size < 4 else words
        for at, one in enumerate(addresses):
            value = np.ascontiguousarray(values[..., at]).reshape(-1)
            self._memory.store(warps.wave, one, lanes, [value.astype(UNSIGNED[8 * size])])


def matrix_memory(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Aligned:
    choices = match.candidate.choices
    loads = match.entry.opcode == "ldmatrix" or ".load" in match.entry.name
    first, second = node.operands[:2]
    registers, target = (first, second) if loads else (second, first)
    memory = Memory(spaces, *address_of(target, match, operands))
    if match.entry.opcode == "wmma":
        return _fragment(node, match, operands, memory, registers)
    transposed = ".trans" in choices.modifiers
    layout = next(word for word in choices.modifiers if _LAYOUT.fullmatch(word))
    if loads:
        sources = (".b4x16_p64", ".b6x16_p32", ".s4")
        format = next((word for word in sources if word in choices.modifiers), "")
        return LoadMatrix(
            memory, operands.numbers(registers), layout, format, transposed=transposed
        )
    inputs = inputs_of([("r", registers, ".b32")], operands)
    return StoreMatrix(memory, inputs, layout, transposed=transposed)


_LAYOUT = re.compile(r"\.m\d+n\d+")
_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")


def _fragment(
    node: nodes.Instruction, match: Match, operands: Operands, memory: Memory,
    registers: nodes.Expression,
) -> Aligned:
    modifiers = match.candidate.choices.modifiers
    name = match.entry.name.rpartition(".")[2]  # a, b, c or d
    shape = next(found for word in modifiers if (found := _SHAPE.fullmatch(word)))
    m, n, k = (int(side) for side in shape.groups())
    type = form_type(match.candidate.choices)
    numbers = operands.numbers(registers)
    sides = {"a": (m, k), "b": (k, n)}.get(name, (m, n))
    layout = wmma_fragment(name, type, sides, len(numbers))
    by_rows = ".row" in modifiers
    read: list[tuple[str, nodes.Expression, str]] = []
    if len(node.operands) > 2:
        read.append(("stride", node.operands[2], ".b32"))
    bits = elements.width(type)
    if bits < 8 and by_rows is not (name != "b"):
        raise ExecutionError(f"`{node.opcode.text}` is not defined", "unsupported")
    if ".load" in match.entry.name:
        inputs = inputs_of(read, operands)
        return LoadFragment(memory, layout, inputs, type, numbers, by_rows=by_rows)
    read.append(("r", registers, ".b64" if bits == 64 else ".b32"))
    return StoreFragment(memory, layout, inputs_of(read, operands), type, by_rows=by_rows)
