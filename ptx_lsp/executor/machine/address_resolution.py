"""Address resolution: from an address and a state space to bytes of a backing array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.machine.console import Console, to_standard_output
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.errors import ExecutionError, Kind
from ptx_lsp.executor.machine.memory import (
    CLUSTER_SHIFT,
    CONST_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW,
    Addresses,
    Buffer,
    Bytes,
    Memory,
    Space,
)
from ptx_lsp.executor.machine.observer import (
    CurrentStep,
    MemoryEvent,
    Observer,
    TensorUse,
    Use,
    per_lane,
)
from ptx_lsp.executor.machine.observer import Indices as Lanes
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.machine.wave import Wave

WINDOWS: dict[Space, int] = {
    ".shared": SHARED_WINDOW, ".local": LOCAL_WINDOW, ".param": PARAM_WINDOW,
}


SPACES: dict[str, Space] = {
    ".global": ".global", ".const": ".const", ".shared": ".shared", ".local": ".local",
    ".param": ".param",
}


@dataclass(frozen=True, eq=False)
class ResolvedAddress:
    """Bytes `data`, flat, and for each lane the offset in them. `buffer` is set in global memory."""

    data: Bytes
    offsets: Addresses
    space: Space = ".global"
    buffer: Buffer | None = None


Resolved = list[tuple[ResolvedAddress, Bools | None]]


class OlderValues(Protocol):
    """Older values of memory that loads may still see."""

    def older(self, wave: Wave, found: Resolved) -> Resolved:
        """The places of a load; where lanes see something older, places that have that."""
        ...


class Spaces:
    """The address spaces of a launch."""

    def __init__(
        self, memory: Memory, parameters: Bytes, observer: Observer | None = None
    ) -> None:
        self.memory = memory
        self.parameters = parameters
        self.observer = observer
        self.older: OlderValues | None = None
        """None: loads see what was written last."""
        self.opaque: dict[int, Opaque] = {}
        """Textures, samplers and surfaces by their handles."""
        self.console: Console = to_standard_output
        """Receives what threads print."""
        parameters.setflags(write=False)

    def resolve(
        self, wave: Wave, addresses: Addresses, space: Space, size: int, mask: Bools | None,
        use: Use | None = "read",
    ) -> list[tuple[ResolvedAddress, Bools | None]]:
        """The memory that lanes reach for an access of `size` bytes at `addresses`, and the lanes (None: all)
        that reach it. If `mask` is not None, `addresses` has only its lanes, in order. `use` is for
        observers; with None, they are not called.
        """
        if addresses.size == 0:
            return []
        found = self._resolve(wave, addresses, space, size, mask)
        if self.observer is not None and use is not None:
            self._tell(self.observer, wave, found, addresses.shape, size, mask, use)
        return found

    def piece(self, addresses: Addresses, space: Space, size: int) -> Bytes | None:
        """The accessed bytes, if each lane accesses `size` bytes of global memory at consecutive addresses.
        None if not, or if that is expensive to decide; then use `resolve`.
        """
        if self.observer is not None or space not in ("", ".global") or addresses.size < 2:
            return None
        flat = addresses.reshape(-1)
        first, count = int(flat[0]), flat.size
        if int(flat[-1]) - first != (count - 1) * size or first % size:
            return None
        buffer = self.memory.find(first)
        if buffer is None or first - buffer.base + count * size > buffer.data.size:
            return None
        if (flat[1:] - flat[:-1] != np.uint64(size)).any():
            return None
        return buffer.data[first - buffer.base :][: count * size]

    def same_in_all(self, wave: Wave, addresses: Addresses, space: Space, size: int) -> Bytes | None:
        """The shared memory of the blocks, one row each, if all access the same addresses in their own. None
        if not, or if that is expensive to decide; then use `resolve`.
        """
        if self.observer is not None or space != ".shared" or addresses.shape[0] > 1:
            return None
        if wave.shared.shape[0] != wave.shape[0] or addresses.size == 0:
            return None
        if int(addresses.max()) + size > wave.launch.shared_bytes:
            return None
        if int(np.bitwise_or.reduce(addresses, axis=None)) & (size - 1):
            return None
        return wave.shared

    def landed(
        self, wave: Wave, step: Step | None, lanes: Lanes, offsets: Lanes, size: int
    ) -> None:
        """Reports that an asynchronous copy, begun by lanes at `step`, has written `size` bytes of shared
        memory from each offset on.
        """
        if self.observer is not None and step is not None:
            data = wave.shared.reshape(-1)
            access = MemoryEvent("land", ".shared", None, data, size, lanes, offsets)
            self.observer.accessed(wave, step, access)

    def began(self, wave: Wave, operation: object) -> None:
        """Reports that the current instruction begins an asynchronous operation."""
        if self.observer is not None:
            self.observer.began(wave, operation)

    def completed(
        self, wave: Wave, operation: object, lanes: Lanes, barriers: Lanes | None, *, is_read: bool = False
    ) -> None:
        """Reports that an operation is complete (`Observer.completed`). `barriers` are in units of 8 bytes.
        """
        if self.observer is not None and lanes.size:
            at = None if barriers is None else barriers * 8
            self.observer.completed(wave, operation, lanes, at, is_read=is_read)

    def tell(self, wave: Wave, access: MemoryEvent) -> None:
        """Reports an access to observers for which `resolve` was called without a use."""
        step = CurrentStep.of(wave).step
        if self.observer is not None and step is not None:
            self.observer.accessed(wave, step, access)

    def tell_tensor(self, wave: Wave, uses: list[TensorUse]) -> None:
        """Reports accesses to Tensor Memory."""
        step = CurrentStep.of(wave).step
        if self.observer is not None and step is not None:
            self.observer.used_tensor_memory(wave, step, uses)

    def misused(self, wave: Wave, kind: str, message: str, lanes: Lanes) -> None:
        """Reports something with an undefined result that does not fail."""
        step = CurrentStep.of(wave).step
        if self.observer is not None and step is not None:
            self.observer.misused(wave, step, kind, message, lanes)

    def _tell(
        self, observer: Observer, wave: Wave, found: list[tuple[ResolvedAddress, Bools | None]],
        shape: tuple[int, ...], size: int, mask: Bools | None, use: Use,
    ) -> None:
        """Tells of each memory that was reached, with a lane and an offset for each address."""
        step = CurrentStep.of(wave).step
        if step is None:
            return
        for reach, part in found:
            offsets = reach.offsets
            if part is not None:
                offsets = np.zeros(shape, np.uint64)
                offsets[part] = reach.offsets
            lanes, offsets = per_lane(wave, offsets, mask)
            if part is not None:
                _, reached = per_lane(wave, part, mask)
                lanes, offsets = lanes[reached], offsets[reached]
            observer.accessed(wave, step, MemoryEvent(
                use, reach.space, reach.buffer, reach.data.reshape(-1), size, lanes,
                offsets.view(np.int64),
            ))

    def _resolve(
        self, wave: Wave, addresses: Addresses, space: Space, size: int, mask: Bools | None
    ) -> list[tuple[ResolvedAddress, Bools | None]]:
        low, high = int(addresses.min()), int(addresses.max())
        if space == "" and low // WINDOW != high // WINDOW:
            return self._apart(wave, addresses, size, mask)
        if space == "":
            space = _of_window(low)
            if space in WINDOWS:
                base = np.uint64(WINDOWS[space])
                addresses, low, high = addresses - base, low - int(base), high - int(base)
        match space:
            case ".shared":
                limit, data, rows = wave.launch.shared_bytes, wave.shared, wave.block_rows
            case ".local":
                limit, data, rows = wave.local_bytes, wave.local, wave.local_rows
            case ".param":
                limit, data, rows = self.parameters.size, self.parameters, None
            case ".const":
                base = CONST_WINDOW
                addresses = addresses + np.uint64(base)
                return self._global(wave, addresses, size, mask, low + base, high + base)
            case _:
                return self._global(wave, addresses, size, mask, low, high)
        if space == ".shared" and high >> CLUSTER_SHIFT:
            rows, addresses = self._of_cluster(wave, addresses, mask)
            high = int(addresses.max())
        if high + size > limit:
            name = f"{space} memory, of {limit} bytes"
            if space == ".shared" and wave.launch.uses_dynamic_bytes:
                dynamic = wave.launch.dynamic_bytes
                name += f" ({dynamic} of them dynamic: set `shared=BYTES`, or `ptx-run --shared BYTES`)"
            self._fail(wave, addresses + np.uint64(size) > limit, addresses, mask, name)
        self._check_alignment(wave, addresses, size, mask)
        if rows is None:
            return [(ResolvedAddress(data, addresses, space), None)]
        start = rows * np.uint64(data.shape[1])
        if mask is not None and start.shape != addresses.shape:
            start = wave.broadcast(start)[mask]
        return [(ResolvedAddress(data.reshape(-1), addresses + start, space), None)]

    def _of_cluster(
        self, wave: Wave, addresses: Addresses, mask: Bools | None
    ) -> tuple[Addresses, Addresses]:
        """The rows of the blocks in whose shared memory addresses lie, and the addresses there."""
        cluster = np.uint64(wave.launch.cluster_blocks)
        own = wave.broadcast(wave.block_rows)
        own = own if mask is None else own[mask]
        rank = addresses >> np.uint64(CLUSTER_SHIFT)
        wrong = rank > cluster
        if wrong.any():
            name = f"the cluster, of {cluster} blocks"
            self._fail(wave, wrong, addresses, mask, name)
        first = own - own % cluster
        rows = np.where(rank > 0, first + rank - np.uint64(1), own)
        return rows, addresses & np.uint64((1 << CLUSTER_SHIFT) - 1)

    def _global(
        self, wave: Wave, addresses: Addresses, size: int, mask: Bools | None, low: int, high: int
    ) -> list[tuple[ResolvedAddress, Bools | None]]:
        buffer = self.memory.find(low)
        if buffer is not None and high + size <= buffer.base + buffer.data.size:
            offsets = addresses - np.uint64(buffer.base)
            self._check_alignment(wave, offsets, size, mask)
            return [(ResolvedAddress(buffer.data, offsets, ".global", buffer), None)]
        found: list[tuple[ResolvedAddress, Bools | None]] = []
        left = np.ones(addresses.shape, np.bool_)
        while left.any():
            first = int(addresses[left][0])
            buffer = self.memory.find(first)
            here = np.zeros(addresses.shape, np.bool_)
            if buffer is not None:
                end = np.uint64(buffer.base + buffer.data.size)
                here = left & (addresses >= np.uint64(buffer.base)) & (addresses <= end - np.uint64(size))
            if buffer is None or not here.any() or first + size > buffer.base + buffer.data.size:
                near = buffer or self.memory.nearest(first)
                name = f"`{near.name}`, of {near.data.size} bytes" if near else "any buffer"
                if near is not None:
                    name += f", at offset {first - near.base}"
                self._fail(wave, left & ~self.memory.holds(addresses, size), addresses, mask, name)
            assert buffer is not None
            offsets = addresses[here] - np.uint64(buffer.base)
            self._check_alignment(wave, offsets, size, mask, here)
            found.append((ResolvedAddress(buffer.data, offsets, ".global", buffer), here))
            left &= ~here
        return found

    def _apart(
        self, wave: Wave, addresses: Addresses, size: int, mask: Bools | None
    ) -> list[tuple[ResolvedAddress, Bools | None]]:
        """Generic addresses in several windows."""
        found: list[tuple[ResolvedAddress, Bools | None]] = []
        full = wave.broadcast(addresses) if mask is None else addresses
        windows = full // np.uint64(WINDOW)
        for window in np.unique(windows):
            here = windows == window
            lanes = here
            if mask is not None:
                lanes = np.zeros(wave.shape, np.bool_)
                lanes[mask] = here
            for reach, inner in self._resolve(wave, full[here], "", size, lanes):
                part = here
                if inner is not None:
                    part = np.zeros(full.shape, np.bool_)
                    part[here] = inner
                found.append((reach, part))
        return found

    def _check_alignment(
        self, wave: Wave, offsets: Addresses, size: int, mask: Bools | None, part: Bools | None = None
    ) -> None:
        """`part`: of the addresses, those whose offsets are given."""
        if size > 1 and int(np.bitwise_or.reduce(offsets, axis=None)) & (size - 1):
            wrong = (offsets & np.uint64(size - 1)) != 0
            if part is not None:
                everywhere = np.zeros(part.shape, np.bool_)
                everywhere[part] = wrong
                wrong = everywhere
            self._raise(
                wave, wrong, mask, f"the access of {size} bytes is misaligned", "misaligned"
            )

    def _fail(
        self, wave: Wave, wrong: Bools, addresses: Addresses, mask: Bools | None, name: str
    ) -> None:
        address = int(addresses[wrong][0])
        self._raise(wave, wrong, mask, f"address {address:#x} is outside {name}", "out-of-bounds")

    def _raise(
        self, wave: Wave, wrong: Bools, mask: Bools | None, message: str, kind: Kind
    ) -> None:
        lanes: Array = wrong
        if mask is not None and wrong.size == np.count_nonzero(mask):
            lanes = np.zeros(wave.shape, np.bool_)
            lanes[mask] = wrong
        elif mask is not None:
            lanes = mask
        raise ExecutionError(message, kind, lanes=wave.thread_ids(lanes))


def _of_window(address: int) -> Space:
    for space, base in WINDOWS.items():
        if address // WINDOW == base // WINDOW:
            return space
    return ".global"
