"""Transfers of many bytes begun by single threads: bulk copies and copies of tensor boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools, DType
from ptx_lsp.executor.asynchronous.async_reduction import Reduction
from ptx_lsp.executor.asynchronous.pending import Awaited, pending
from ptx_lsp.executor.instructions.threads import Indices, Threads, memory_slices
from ptx_lsp.executor.machine.address_resolution import ResolvedAddress, Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, Space
from ptx_lsp.executor.machine.observer import Actor, MemoryEvent, Use
from ptx_lsp.executor.machine.wave import Wave

Where = slice | Indices
"""Bytes of an array: contiguous, or each by its position."""


@dataclass(frozen=True, eq=False)
class Piece:
    """The data that one thread moves to one place. Bytes that are not `valid` (None: all are) are replaced by
    `fill`. `change` is applied to the data read. Where `kept` is false, the target is not modified.
    """

    lane: int
    source: Bytes
    source_at: Where
    target: Bytes
    target_at: Where
    valid: Bools | None = None
    fill: Bytes | None = None
    kept: Bools | None = None
    change: Callable[[Bytes], Bytes] | None = None

    def read(self) -> Bytes:
        values = np.array(self.source[self.source_at])
        if self.change is not None:
            values = self.change(values)
        if self.valid is not None:
            values = np.where(self.valid, values, np.uint8(0) if self.fill is None else self.fill)
        return values.astype(np.uint8, copy=False)

    def write(self, values: Bytes, combine: Reduction | None, element: DType) -> None:
        if combine is not None:
            old = np.array(self.target[self.target_at])
            values = combine(old.view(element), values.view(element)).view(np.uint8)
        if self.kept is None:
            self.target[self.target_at] = values
        elif isinstance(self.target_at, slice):
            self.target[self.target_at][self.kept] = values[self.kept]
        else:
            self.target[self.target_at[self.kept]] = values[self.kept]


class Pieces(Awaited):
    """A transfer of pieces. Each completes `completed_bytes` bytes on an mbarrier, if there is one."""

    def __init__(
        self, spaces: Spaces, wave: Wave, pieces: Sequence[Piece], barriers: Indices | None,
        completed_bytes: Indices, combine: Reduction | None = None, element: DType | None = None,
        inspect: str = "",
    ) -> None:
        """`inspect` is the pattern to search for in the copied data, see `has_pattern`."""
        self._spaces, self._wave = spaces, wave
        self._pieces = pieces
        self._lanes = np.array([piece.lane for piece in pieces], np.int64)
        self._barriers = barriers
        self._completed_bytes = completed_bytes
        self._combine = combine
        self._element = np.dtype(np.uint8) if element is None else element
        self._inspect = inspect
        self._values: dict[int, Bytes] = {}

    def begin(self) -> None:
        """Begins them: in bulk groups, or with mbarriers to complete on."""
        found = pending(self._wave)
        queue = found.bulk if self._barriers is None else found.on_mbarriers
        self._spaces.began(self._wave, self)
        queue.begin(self._lanes, self, self._barriers)

    def read(self, chosen: Bools) -> None:
        for at in np.flatnonzero(chosen).tolist():
            if at not in self._values:
                self._values[at] = self._pieces[at].read()

    def land(self, chosen: Bools) -> None:
        self.read(chosen)
        barriers = pending(self._wave).barriers
        for at in np.flatnonzero(chosen).tolist():
            values = self._values.pop(at)
            if self._barriers is not None and self._inspect and has_pattern(values, self._inspect):
                barriers.report(int(self._barriers[at]))
            self._pieces[at].write(values, self._combine, self._element)
        if self._barriers is not None:
            at = self._barriers[chosen]
            self._spaces.completed(self._wave, self, self._lanes[chosen], at)
            barriers.complete_bytes(at, self._completed_bytes[chosen])

    def waited(self, chosen: Bools, *, is_read: bool) -> None:
        if self._barriers is None:
            self._spaces.completed(self._wave, self, self._lanes[chosen], None, is_read=is_read)


def has_pattern(values: Bytes, pattern: str) -> bool:
    """Whether data contain the pattern that marks them as invalid (PTX ISA, "Report Mechanisms"): any byte of
    all ones, or -0 in the first element of each 16 bytes, of 4 to 32 bits.
    """
    if pattern == "ff":
        return bool((values == 0xFF).any())
    size = max(1, len(pattern) // 2)
    first = values[: values.size // 16 * 16].reshape(-1, 16)[:, :size]
    wanted = np.frombuffer(int(pattern, 16).to_bytes(size, "little"), np.uint8)
    mask = np.uint8(0x0F if len(pattern) == 1 else 0xFF)
    return bool(((first & mask) == wanted).all(axis=1).any())


def inspected(modifiers: Iterable[str]) -> str:
    """The pattern of a `.mbarrier::report::validity` modifier; "" without one."""
    return next((one.rpartition("::")[2] for one in modifiers if "report::validity" in one), "")


def ranges(
    spaces: Spaces, row: Threads, addresses: Array, space: Space, sizes: Indices, *, use: Use,
    alignment: int = 16, by: Actor | None = "thread",
) -> list[tuple[Bytes, int]]:
    """For each thread, the memory of `sizes` bytes from an address on, and the offset in it. Observers
    receive the access `by` the thread or a copy; with None they receive none.
    """
    found = _placed(spaces, row, addresses, space, alignment)
    last = addresses.astype(np.int64) + sizes - 1
    ends = _placed(spaces, row, np.maximum(last, addresses.astype(np.int64)), space, 1)
    for at, ((data, offset, reach), (end, end_offset, _)) in enumerate(zip(found, ends, strict=True)):
        here = np.arange(row.count) == at
        if data.ctypes.data != end.ctypes.data or end_offset - offset != max(int(sizes[at]) - 1, 0):
            raise row.error(
                f"the {sizes[at]} bytes are not all in one buffer", "out-of-bounds", here
            )
        if use != "read" and not data.flags.writeable:
            raise row.error("the memory is read-only", "read-only", here)
        lane, first = row.lanes[at : at + 1], np.array([offset])
        size = int(sizes[at])
        if by is not None:
            spaces.tell(row.wave, MemoryEvent(use, reach.space, reach.buffer, data, size, lane, first, by))
    return [(data, offset) for data, offset, _ in found]


def _placed(
    spaces: Spaces, row: Threads, addresses: Array, space: Space, size: int
) -> list[tuple[Bytes, int, ResolvedAddress]]:
    found: dict[int, tuple[Bytes, int, ResolvedAddress]] = {}
    for part in memory_slices(spaces, row, addresses, space, size, None):
        for position, offset in zip(part.positions.tolist(), part.offsets.tolist(), strict=True):
            found[position] = part.data, offset, part.address
    if len(found) != row.count:
        raise ExecutionError("an address outside all buffers", "out-of-bounds")
    return [found[position] for position in range(row.count)]
