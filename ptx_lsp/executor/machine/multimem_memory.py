"""Multimem memory: a multimem address refers to one place in the memory of each of several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.address_resolution import ResolvedAddress, Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Addresses, Bytes, Memory, Space, bytes_of
from ptx_lsp.executor.machine.observer import Use
from ptx_lsp.executor.machine.wave import Wave


@dataclass(frozen=True, eq=False)
class Multimem:
    """An argument of a kernel: `array` has a row for the memory of each GPU; passed is the multimem address
    of all of them, which only `multimem` instructions may use.
    """

    array: npt.NDArray[np.generic]

    def passed(self, memory: Memory, name: str) -> bytes:
        """Puts the rows into global memory; the address that stands for all of them."""
        if self.array.ndim < 2 or not self.array.size:
            message = f"{name}: multimem memory requires a non-empty row for each GPU"
            raise ExecutionError(message, "launch")
        if not self.array.flags.c_contiguous:
            raise ExecutionError(f"{name} must be a contiguous array", "launch")
        rows = [memory.add(f"{name} of GPU {at}", bytes_of(row)) for at, row in enumerate(self.array)]
        memory.replicas.append(rows)
        return rows[0].to_bytes(8, "little")


class Replica(Spaces):
    """The memory of a launch, where multimem addresses reach that of the GPU with a number."""

    def __init__(self, spaces: Spaces, number: int) -> None:
        super().__init__(spaces.memory, spaces.parameters, spaces.observer)
        self.opaque = spaces.opaque
        self._number = number

    def resolve(
        self, wave: Wave, addresses: Addresses, space: Space, size: int, mask: Bools | None,
        use: Use | None = "read",
    ) -> list[tuple[ResolvedAddress, Bools | None]]:
        if space in ("", ".global") and addresses.size:
            moved, left = self._moved(addresses)
            if left.any():
                self._fail(wave, left, addresses, mask, "all multimem memory")
            addresses = moved
        return super().resolve(wave, addresses, space, size, mask, use)

    def piece(self, addresses: Addresses, space: Space, size: int) -> Bytes | None:
        moved, left = self._moved(addresses)
        return None if left.any() else super().piece(moved, space, size)

    def _moved(self, addresses: Addresses) -> tuple[Addresses, Bools]:
        """The addresses in the memory of this GPU, and which are no multimem addresses."""
        moved = addresses
        left = np.ones(addresses.shape, np.bool_)
        for rows in self.memory.replicas:
            here = self._within(rows, addresses)
            moved = np.where(here, addresses - np.uint64(rows[0]) + np.uint64(rows[self._number]), moved)
            left &= ~here
        return moved, left

    def _within(self, rows: Sequence[int], addresses: Addresses) -> Bools:
        buffer = self.memory.find(rows[0])
        assert buffer is not None
        return (addresses >= np.uint64(rows[0])) & (addresses < np.uint64(rows[0] + buffer.data.size))


def replicas(spaces: Spaces) -> tuple[Spaces, ...]:
    """The memory of each GPU; where the launch has no multimem memory, the only one, in which an ordinary
    address may stand for a multimem address. ExecutionError where arguments are of different GPUs.
    """
    counts = {len(rows) for rows in spaces.memory.replicas}
    if not counts:
        return (spaces,)
    if len(counts) > 1:
        numbers = " and ".join(map(str, sorted(counts)))
        raise ExecutionError(f"arguments are multimem memory of {numbers} GPUs", "launch")
    return tuple(Replica(spaces, number) for number in range(counts.pop()))
