"""`st.async`, `red.async` and `st.bulk`.

A store or reduction without an mbarrier takes place immediately: nothing else determines when.
"""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.asynchronous.async_reduction import Reduction, apply_sequentially, reduction
from ptx_lsp.executor.asynchronous.mbarrier_steps import naming_threads
from ptx_lsp.executor.asynchronous.pending import pending
from ptx_lsp.executor.asynchronous.transfer import ranges
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    Indices,
    MemorySlice,
    by_name,
    memory_slices,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.memory import Space
from ptx_lsp.executor.machine.observer import Actor, MemoryEvent, Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes


class Stores:
    """Values in flight to memory, for each thread of a row."""

    def __init__(
        self, spaces: Spaces, lanes: Indices, wave: Wave, parts: list[MemorySlice], values: list[Array],
        barriers: Indices | None, combine: Reduction | None,
    ) -> None:
        """`values` are unsigned elements that lie side by side, for each of the lanes."""
        self._spaces, self._lanes, self._wave = spaces, lanes, wave
        self._parts = parts
        self._values = values
        self._barriers = barriers
        self._combine = combine

    def read(self, chosen: Bools) -> None:
        """Reads nothing: the values are known from the beginning."""

    def land(self, chosen: Bools) -> None:
        element = self._values[0].dtype
        for part in self._parts:
            here = chosen[part.positions]
            positions = part.positions[here]
            memory = part.data[: part.data.size // element.itemsize * element.itemsize].view(element)
            for at, values in enumerate(self._values):
                index = part.offsets[here] // element.itemsize + at
                if self._combine is None:
                    memory[index] = values[positions]
                else:
                    apply_sequentially(memory, index, values[positions], self._combine)
        if self._barriers is not None:
            at = self._barriers[chosen]
            self._spaces.completed(self._wave, self, self._lanes[chosen], at)
            size = np.full(at.shape, element.itemsize * len(self._values), np.int64)
            pending(self._wave).barriers.complete_bytes(at, size)


class StoreLater:
    """`st.async` or, with `combine`, `red.async`"""

    def __init__(
        self, spaces: Spaces, target: tuple[Space, Program], values: Program,
        barrier: tuple[Space, Program] | None, combine: Reduction | None,
    ) -> None:
        self._spaces = spaces
        self._target = target
        self._values = values
        self._barrier = barrier
        self._combine = combine

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        values = row.compute(self._values)
        space, program = self._target
        size = sum(value.dtype.itemsize for value in values)
        use: Use = "write" if self._combine is None else "update"
        by: Actor = "thread" if self._barrier is None else "copy"
        parts = memory_slices(self._spaces, row, row.compute(program)[0], space, size, None)
        for part in parts:
            if not part.data.flags.writeable:
                raise row.error("the memory is read-only", "read-only")
            self._spaces.tell(wave, MemoryEvent(
                use, part.address.space, part.address.buffer, part.data, size, row.lanes[part.positions],
                part.offsets, by,
            ))
        barriers: Indices | None = None
        if self._barrier is not None:
            space, program = self._barrier
            barriers = shared_offsets(self._spaces, row, row.compute(program)[0], space, 8, "update") >> 3
        stores = Stores(self._spaces, row.lanes, wave, parts, values, barriers, self._combine)
        self._spaces.began(wave, stores)
        with naming_threads(row):
            if barriers is None:
                stores.land(np.ones(row.count, np.bool_))
            else:
                pending(wave).on_mbarriers.begin(row.lanes, stores, barriers)


class BulkStore:
    """`st.bulk`"""

    def __init__(self, spaces: Spaces, target: tuple[Space, Program], size: Program) -> None:
        self._spaces = spaces
        self._target = target
        self._size = size

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        sizes = row.compute(self._size)[0].astype(np.int64)
        wrong = sizes % 8 != 0
        if wrong.any():
            raise row.error("the size must be a multiple of 8", "misaligned", wrong)
        row, sizes = row.subset(sizes > 0), sizes[sizes > 0]
        space, program = self._target
        addresses = row.compute(program)[0]
        found = ranges(self._spaces, row, addresses, space, sizes, use="write", alignment=8)
        for (data, offset), size in zip(found, sizes.tolist(), strict=True):
            data[offset : offset + size] = 0


def async_store(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `st.async` or `red.async`."""
    choices = match.candidate.choices
    given = by_name(node, match)
    type = TYPES[form_type(choices)]
    space = next(
        (one for one in choices.modifiers if one.startswith((".shared", ".global"))), ""
    )
    value = given["b"] if "b" in given else given["f"]
    items = value.items if isinstance(value, nodes.Vector) else (value,)
    combine = None
    if "red" in match.entry.name.split("."):
        operation = next(one for one in choices.modifiers if one in _OPERATIONS)
        combine = reduction(operation, type)
    barrier = pointer(given["mbar"], space, operands) if "mbar" in given else None
    return StoreLater(
        spaces, pointer(given["a"], space, operands), sources([(one, type) for one in items], operands),
        barrier, combine,
    )


def bulk_store(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `st.bulk`."""
    space = next((one for one in match.candidate.choices.modifiers if one.startswith(".shared")), "")
    wide = match.places[1][0].name == "size"
    size = sources([(node.operands[1], TYPES[".u64" if wide else ".u32"])], operands)
    return BulkStore(spaces, pointer(node.operands[0], space, operands), size)


_OPERATIONS = (".add", ".inc", ".dec", ".min", ".max", ".and", ".or", ".xor")
