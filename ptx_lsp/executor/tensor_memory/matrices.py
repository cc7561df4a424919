"""A, B and D of a `tcgen05.mma`, read from shared and Tensor Memory for several pairs of blocks at once.

Arrays have the dimensions: pairs, blocks of a pair, parts of the lanes (`datapath.py`), rows, columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.descriptors.instruction import InstructionDescriptor
from ptx_lsp.executor.descriptors.legality import scale_count
from ptx_lsp.executor.descriptors.shared import CHUNK, SWIZZLES, SharedDescriptor
from ptx_lsp.executor.descriptors.zero_columns import ZeroColumns
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.matrices.sparsity import spread
from ptx_lsp.executor.tensor_memory import block_scales, metadata, packing
from ptx_lsp.executor.tensor_memory.datapath import Datapath
from ptx_lsp.executor.tensor_memory.memory import Cells, TensorMemory
from ptx_lsp.executor.tensor_memory.operands import Address, Columns

Numbers = npt.NDArray[np.int64]
_WORD = np.dtype(f"V{CHUNK}")
_REACH = 1 << 18
"""Addresses in descriptors have so many bytes."""


@dataclass(frozen=True)
class Plan:
    """A `tcgen05.mma` with its operands, which several threads may have in common. What is not given is None.
    """

    found: InstructionDescriptor
    modifiers: frozenset[str]
    d: Address
    b: SharedDescriptor
    a_shared: SharedDescriptor | None = None
    a_tensor: Address | None = None
    metadata: Address | None = None
    scale_a: Address | None = None
    scale_b: Address | None = None
    adds: bool = False
    """Whether D is added."""
    scale_d: int = 0
    zero_columns: ZeroColumns | None = None
    kept_lanes: tuple[int, ...] = ()
    """The masks of lanes that are not written."""

    @property
    def path(self) -> Datapath:
        return Datapath.of(self.found)

    @property
    def stored_k(self) -> int:
        """How many elements of a row of A are stored."""
        return self.found.k // 2 if self.found.form.sparse else self.found.k

    @property
    def scales(self) -> int:
        """How many scales a row of A or column of B has."""
        return scale_count(self.found, self.modifiers)

    @property
    def shift(self) -> int:
        """How far the columns of B are shifted."""
        return 0 if self.zero_columns is None else self.zero_columns.shift

    def a_addresses(self) -> Numbers:
        """The chunks of A in the shared memory of each block."""
        assert self.a_shared is not None
        form, path = self.found.form, self.path
        each = packing.in_chunk(self.found.a_type, packed=form.is_packed)
        return addresses(self.a_shared, path.rows, self.stored_k, each, k_major=not self.found.transposes_a)

    def b_addresses(self) -> Numbers:
        """The chunks of B in the shared memory of each block."""
        form = self.found.form
        each = packing.in_chunk(self.found.b_type, packed=form.is_packed)
        length = self.found.n // form.group + self.shift
        return addresses(self.b, length, self.found.k, each, k_major=not self.found.transposes_b)

    def a_columns(self) -> int:
        """How many columns A takes in Tensor Memory."""
        each = packing.in_cell(self.found.a_type, packed=self.found.form.is_packed)
        return self.stored_k // each


    def columns(self) -> Iterator[Columns]:
        """The columns that it uses."""
        found, path = self.found, self.path
        groups = path.groups(self.d.lane)
        yield Columns("D", self.d, path.columns(found.n), groups, reads=self.adds, writes=True)
        if self.a_tensor is not None:
            yield Columns("A", self.a_tensor, self.a_columns(), groups)
        if self.metadata is not None:
            selector = found.selector if metadata.columns(found.a_type) == 1 else 0
            address = Address(self.metadata.lane, self.metadata.column + selector)
            yield Columns("the metadata of A", address, metadata.columns(found.a_type), groups)
        if self.scale_a is not None and self.scale_b is not None:
            count = block_scales.columns(path.rows, self.scales, found.scale_a)
            yield Columns("the scales of A", self.scale_a, count)
            count = block_scales.columns(found.n // path.parts, self.scales, found.scale_b)
            yield Columns("the scales of B", self.scale_b, count)

    def text(self) -> str:
        """The operands in words."""
        a = self.a_tensor or self.a_shared
        sides = {"A": a, "B": self.b, "D": self.d, "metadata": self.metadata, "scales of A": self.scale_a,
                 "scales of B": self.scale_b, "zero columns": self.zero_columns}
        given = (f"{name}: {side.text()}" for name, side in sides.items() if side is not None)
        return "; ".join((self.found.text(), *given))


class Matrices:
    """The matrices of a plan for pairs of blocks (or single ones) of a wave."""

    def __init__(self, wave: Wave, plan: Plan, pairs: Numbers) -> None:
        self._wave = wave
        self._plan = plan
        self._pairs = pairs
        self._cells: Cells = TensorMemory.of(wave).cells
        self._type = plan.found.a_type + (" packed" if plan.found.form.is_packed else "")

    def a(self) -> Doubles:
        plan, found = self._plan, self._plan.found
        packed = found.form.is_packed
        if plan.a_tensor is None:
            chunks = self._chunks(plan.a_addresses())
            values = packing.of_chunks(chunks, found.a_type, packed=packed)
            matrix = _matrix(values, plan.path.rows, plan.stored_k, k_major=not found.transposes_a)
            matrix = matrix[:, :, None]
        else:
            lanes = plan.path.lanes() + plan.a_tensor.lane
            columns = plan.a_tensor.column + np.arange(plan.a_columns())
            index = self._pairs[:, :, None, None, None]
            cells = self._cells[index, lanes[:, :, None], columns]
            matrix = packing.of_cells(cells, found.a_type, packed=packed)
            if ".ashift" in plan.modifiers:
                matrix = np.concatenate([matrix[..., 1:, :], matrix[..., -1:, :]], axis=-2)
        if plan.metadata is not None:
            lanes = plan.path.lanes() + plan.metadata.lane
            codes = metadata.load(
                self._cells, self._pairs, plan.metadata.column, lanes, found.a_type, found.selector
            )
            matrix = np.broadcast_to(matrix, (*codes.shape[:-1], matrix.shape[-1]))
            matrix = spread(np.ascontiguousarray(matrix), codes, self._type)
        matrix = -matrix if found.negates_a else matrix
        return matrix if plan.scale_a is None else self._scaled_a(matrix, plan.scale_a)

    def b(self) -> Doubles:
        """B, column by column (the columns of D as rows), in parts; the same for both blocks of a pair."""
        plan, found = self._plan, self._plan.found
        values = packing.of_chunks(
            self._chunks(plan.b_addresses()), found.b_type, packed=found.form.is_packed
        )
        length = found.n // found.form.group + plan.shift
        each = _matrix(values, length, found.k, k_major=not found.transposes_b)[:, :, plan.shift :]
        matrix = each.reshape(each.shape[0], 1, found.n, found.k)
        if plan.zero_columns is not None:
            zero = np.array(plan.zero_columns.zero(found.m, found.n))
            matrix = np.where(zero[:, None], 0.0, matrix)
        matrix = -matrix if found.negates_b else matrix
        if plan.scale_b is not None:
            matrix = matrix * self._scales_of_b(plan.scale_b)
        return matrix.reshape(*matrix.shape[:2], plan.path.parts, -1, found.k)

    def d(self) -> tuple[tuple[Numbers, Numbers, Numbers], Cells]:
        """Where D is, and its cells."""
        plan, path = self._plan, self._plan.path
        lanes = path.lanes() + plan.d.lane
        columns = plan.d.column + np.arange(path.columns(plan.found.n))
        where = np.broadcast_arrays(self._pairs[:, :, None, None, None], lanes[:, :, None], columns)
        index = (where[0], where[1], where[2])
        return index, self._cells[index]

    def store(self, index: tuple[Numbers, Numbers, Numbers], values: Cells) -> None:
        masks = self._plan.kept_lanes
        if not any(masks):
            self._cells[index] = values
            return
        group = self._plan.found.form.group
        bits = np.array(masks, np.uint32).reshape(group, -1, 1) >> np.arange(32, dtype=np.uint32) & 1
        kept: Bools = bits.reshape(group, -1).astype(np.bool_)
        written = ~kept[np.arange(group)[None, :, None, None, None], index[1]]
        self._cells[tuple(one[written] for one in index)] = values[written]

    def _chunks(self, at: Numbers) -> npt.NDArray[np.uint8]:
        """Chunks of the shared memory of each block (by pairs, blocks, rows and chunks of a row)."""
        memory = self._wave.shared.view(_WORD)
        index = self._pairs.reshape(*self._pairs.shape, 1, 1)
        found = np.ascontiguousarray(memory[index, at >> 4])
        return found.view(np.uint8).reshape(*found.shape, CHUNK)

    def _scaled_a(self, matrix: Doubles, address: Address) -> Doubles:
        plan, found = self._plan, self._plan.found
        flat = self._pairs.reshape(-1)
        scales = block_scales.load(
            self._cells, flat, address.column, plan.path.rows, plan.scales, found.scale_a, found.scale_type
        ).reshape(*self._pairs.shape, 1, plan.path.rows, -1)
        return matrix * np.repeat(scales, found.k // plan.scales, axis=-1)

    def _scales_of_b(self, address: Address) -> Doubles:
        """By pairs, blocks, columns and k: each block of a pair has copies of its own."""
        plan, found = self._plan, self._plan.found
        flat = self._pairs.reshape(-1)
        scales = block_scales.load(
            self._cells, flat, address.column, found.n, plan.scales, found.scale_b, found.scale_type,
            parts=plan.path.parts, name="B",
        ).reshape(*self._pairs.shape, found.n, -1)
        return np.repeat(scales, found.k // plan.scales, axis=-1)


@lru_cache(maxsize=256)
def addresses(matrix: SharedDescriptor, length: int, depth: int, chunk: int, *, k_major: bool) -> Numbers:
    """The address of each chunk of a matrix, of `chunk` elements: for `length` rows (of A, or columns of B)
    those along k, or, if it is not `k_major`, for each k those along the rows.

    1. A row of K elements (or a column, if the matrix is transposed) begins with the chunk at the start
       address.
    2. Without swizzling, eight chunks that follow each other across the rows lie together.
    3. With swizzling by W bytes, a pattern has rows of W bytes, and bits of the row number are added, without
       a carry, to those that number a chunk of 16 (or 32) bytes in the row. The pattern begins where the
       address has zeros there, moved by the base offset.
    """
    across = -(-(depth if k_major else length) // chunk)
    along, inner = np.meshgrid(np.arange(length if k_major else depth), np.arange(across), indexing="ij")
    swizzle, start = SWIZZLES[matrix.code], matrix.start
    if swizzle.bits == 0:
        steps = (matrix.stride, matrix.leading) if k_major else (matrix.leading, matrix.stride)
        address = start + along % 8 * CHUNK + along // 8 * steps[0] + inner * steps[1]
    elif k_major:
        address = start + along % 8 * swizzle.width + along // 8 * matrix.stride + inner * CHUNK
        if matrix.is_absolute:
            left = 128 - start % 128
            behind = matrix.leading + address - start - left
            address = np.where(inner * CHUNK >= left, behind, address)
    else:
        rows = 4 if swizzle.low == 5 else 8
        each = swizzle.width // CHUNK
        address = (
            start + inner % each * CHUNK + inner // each * matrix.leading
            + along % rows * swizzle.width + along // rows * matrix.stride
        )
    turn = (address >> 7) - matrix.base_offset & (1 << swizzle.bits) - 1
    return np.asarray((address ^ turn << swizzle.low) % _REACH, np.int64)


def _matrix(values: Doubles, length: int, depth: int, *, k_major: bool) -> Doubles:
    """Rows by k, from chunks in their order."""
    flat = values.reshape(*values.shape[:-2], -1)
    return flat[..., :length, :depth] if k_major else flat[..., :depth, :length].swapaxes(-1, -2)
