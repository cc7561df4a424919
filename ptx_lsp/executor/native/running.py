"""Runs native code for the groups of a wave."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from mmap import mmap
from threading import Lock
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, DType
from ptx_lsp.executor.decoding.call_stack import Routine, call_stack
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.memory import SHARED_WINDOW, Buffer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.native.compiler import MachineCode
from ptx_lsp.executor.native.function import NativeSource
from ptx_lsp.executor.native.layout import (
    BUFFER,
    ELSEWHERE,
    FIELDS,
    FILE,
    GONE,
    NOWHERE,
    REGISTER_ALIGNMENT,
    SITE,
)
from ptx_lsp.executor.scheduling.native_turns import Stops

Positions = npt.NDArray[np.int32]
Words = npt.NDArray[np.int64]
_FUEL = 1 << 26
_MOST_LEVELS = 1 << 40  # of a routine that has no registers to keep
_PART, _MOST_EVEN, _LEAST_PART = 1 << 18, 1 << 20, 1 << 11  # lanes
_Part = tuple[int, int]
"""The first block of some, and that after the last one."""
_Ran = tuple[int, int]
"""How many steps blocks have executed, and the local memory in use."""
_PAGES = 1 << 16
_ALIVE, _EXECUTED, _LOCAL_LIMIT, _DONE, _SUSPECT = (
    FIELDS.index(name) for name in ("alive", "executed", "local_limit", "done", "suspect")
)
_CELL = 4


class Uses(Protocol):
    """Checks of who uses memory (`tracking`)."""

    def cells(self, buffer: Buffer) -> npt.NDArray[np.uint32] | None:
        """The cells of a buffer; None if it is not written as far as is known."""
        ...

    def note(self, sites: Words, *, is_suspect: bool) -> None:
        """Receives the sites of some blocks that have run."""
        ...


class NativeCode:
    """A compiled kernel."""

    def __init__(self, source: NativeSource, *, is_even: bool) -> None:
        """`is_even`: no block of a kernel takes much longer than others."""
        self.source = source
        self._most = _MOST_EVEN if is_even else _PART
        self._code = MachineCode(source.text)
        self._function = self._code.function("run")

    def run(
        self, wave: Wave, spaces: Spaces, routines: Sequence[Routine], groups: Mapping[int, Bools | None],
        uses: Uses | None = None,
    ) -> Stops:
        """Lets groups of lanes at blocks with native code go on. `uses` are for code with checks."""
        source = self.source
        positions: Positions = _zeros(wave.shape, np.dtype(np.int32)).view(np.int32)
        start = NOWHERE
        if wave.live is None and all(mask is None for mask in groups.values()):
            start = source.points.of_block(next(iter(groups)))
        else:
            positions[wave.live_mask()] = ELSEWHERE - GONE
            for block, mask in groups.items():
                positions[wave.full_mask(mask)] = source.points.of_block(block) - GONE
        begins = start == source.points.of_block(0)
        inputs, arrays = self._inputs(wave, source.inputs if begins else range(len(source.file)))
        values = _given(wave, spaces)
        calls = _calls(wave, routines, values)
        values |= {"inputs": _pointer(inputs), "positions": _pointer(positions), "start": start}
        buffers = _buffers(wave, spaces, uses)
        if uses is not None:
            shadow = np.empty(wave.shared.shape[1] * _CELL, np.uint8)
            values |= {"shadow": _pointer(shadow), "first_thread": int(wave.blocks[0, 0]) * wave.shape[1]}
        parts = _parts(*wave.shape, most=self._most, shares=_cores() if source.is_parallel else 1)
        results = _Results(wave, source, rows=parts[0][1])

        def run(part: tuple[int, int]) -> tuple[int, int]:
            return self._part(values, wave, buffers.copy(), positions, results, uses, *part)

        runs = _on_all_cores(run, parts) if source.is_parallel else list(map(run, parts))
        del calls, arrays, inputs
        wave.executed += max(executed for executed, _ in runs)
        wave.local_bytes = max(limit for _, limit in runs)
        if not results.is_any_alive:
            return Stops(None)
        results.give()
        return self._stops(positions + np.int32(GONE), wave)

    def _part(
        self, values: Mapping[str, int], wave: Wave, buffers: Words, positions: Positions, results: _Results,
        uses: Uses | None, first: int, last: int,
    ) -> tuple[int, int]:
        """Runs some of the blocks; how many steps they executed, and the local memory in use."""
        source, outputs = self.source, results.memory()
        table, sites = np.zeros(len(source.file), np.int64), np.zeros(SITE * source.sites + 1, np.int64)
        if source.results:
            table[list(source.results)] = _pointer(outputs) + results.offsets(first)
        own = {
            "first_block": first, "last_block": last, "outputs": _pointer(table),
            "buffers": _pointer(buffers), "buffer_count": buffers.size // BUFFER, "sites": _pointer(sites),
        }
        whole = {**values, **own}
        given = np.array([whole[name] for name in FIELDS], np.int64)
        bytes = wave.shape[1] // WARP_SIZE * source.register_bytes
        registers = np.empty(bytes + REGISTER_ALIGNMENT, np.uint8)
        memory = _pointer(registers)
        self._function(_pointer(given), memory + -memory % REGISTER_ALIGNMENT)
        if uses is not None:
            used = sites[: SITE * source.sites].reshape(-1, SITE)
            uses.note(used, is_suspect=bool(given[_SUSPECT]))
        done = int(given[_DONE])
        if done < last:
            if values["start"] != NOWHERE:
                positions[done:last, : wave.launch.threads] = values["start"] - GONE
            results.keep(outputs, first, done, last)
        results.take(outputs, first, last, is_alive=bool(given[_ALIVE]) or done < last)
        return int(given[_EXECUTED]), int(given[_LOCAL_LIMIT])

    def _stops(self, positions: Positions, wave: Wave) -> Stops:
        found, points = Stops(wave.live_mask() & (positions == GONE)), self.source.points
        reached: list[int] = np.unique(positions[positions >= 0]).tolist()
        found.is_progress = found.exited is not None and bool(found.exited.any())
        for point in reached:
            found.is_progress |= not points.is_native(point)
            block, step = points.places[point]
            here: Bools = positions == point
            if step:
                found.inside.append((block, step, here))
                continue
            found.at_blocks.append((block, here))
            if points.polls[block] or not points.is_native(point):
                found.refused.add(block)
        return found

    def _inputs(self, wave: Wave, needed: Sequence[int]) -> tuple[Words, list[Array]]:
        """The table of registers, with those that are needed, and the arrays that it points to."""
        table = np.zeros((len(self.source.file), FILE), np.int64)
        arrays: list[Array] = []
        for at in needed:
            value = wave.registers[self.source.file[at]]
            size = value.dtype.itemsize
            if value.shape[1] > 1 and value.strides[1] not in (0, size):
                value = np.ascontiguousarray(value)
            between = value.strides[0] if value.shape[0] > 1 else 0
            along = value.strides[1] if value.shape[1] > 1 else 0
            table[at] = _pointer(value), between, along
            arrays.append(value)
        return table, arrays


def _on_all_cores(run: Callable[[_Part], _Ran], parts: Sequence[_Part]) -> list[_Ran]:
    """What a function returns for each part; this thread takes its share."""
    left, runs = deque(parts), list[_Ran]()

    def share() -> None:
        while left:
            try:
                part = left.popleft()
            except IndexError:  # another thread was faster
                return
            runs.append(run(part))

    others = min(_cores(), len(parts)) - 1
    futures = [_workers().submit(share) for _ in range(others)]
    try:
        share()
        for one in futures:
            one.result()
    finally:  # interrupted, they go on in memory that must still be there
        left.clear()
        wait(futures)
    return runs


@cache
def _workers() -> ThreadPoolExecutor:
    """A thread for each core but one."""
    return ThreadPoolExecutor(_cores() - 1, "native")


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_workers.cache_clear)


@cache
def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Results:
    """The registers that native code gives back: whole arrays only where lanes are left."""

    def __init__(self, wave: Wave, source: NativeSource, rows: int) -> None:
        """For parts of at most so many blocks."""
        self._wave = wave
        self._numbers = [source.file[at] for at in source.results]
        self._dtypes = [wave.registers[number].dtype for number in self._numbers]
        self._rows = rows
        self._row_bytes = np.array([wave.shape[1] * one.itemsize for one in self._dtypes], np.int64)
        self._ends = np.cumsum(rows * self._row_bytes)
        self._whole: list[Array] = []
        self._free: list[Array] = []
        self._lock = Lock()
        self.is_any_alive = False

    def memory(self) -> Array:
        """The bytes for the registers of a part."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return _zeros((self._rows, int(self._row_bytes.sum())), np.dtype(np.uint8))

    def offsets(self, first: int) -> Words:
        """Where in it each register would be of block 0, if the part begins with block `first`."""
        return self._ends - (self._rows + first) * self._row_bytes

    def _arrays(self, memory: Array) -> list[Array]:
        """The registers of a part."""
        pieces = np.split(memory.reshape(-1), self._ends[:-1]) if self._dtypes else []
        shape = (self._rows, self._wave.shape[1])
        return [one.view(dtype).reshape(shape) for one, dtype in zip(pieces, self._dtypes, strict=True)]

    def keep(self, memory: Array, first: int, done: int, last: int) -> None:
        """Blocks from `done` on have not run: their registers are as before."""
        for number, array in zip(self._numbers, self._arrays(memory), strict=True):
            before = self._wave.broadcast(self._wave.registers[number])
            array[done - first : last - first] = before[done:last]

    def take(self, memory: Array, first: int, last: int, *, is_alive: bool) -> None:
        """Takes what some blocks have left."""
        with self._lock:
            self.is_any_alive |= is_alive
            if is_alive and last - first == self._wave.shape[0]:
                self._whole = self._arrays(memory)
                return
            self._free.append(memory)
            if is_alive:
                if not self._whole:
                    self._whole = [_zeros(self._wave.shape, dtype) for dtype in self._dtypes]
                for whole, part in zip(self._whole, self._arrays(memory), strict=True):
                    whole[first:last] = part[: last - first]

    def give(self) -> None:
        """Gives the registers their values."""
        for number, array in zip(self._numbers, self._whole, strict=True):
            self._wave.registers[number] = array


def _zeros(shape: tuple[int, int], dtype: DType) -> Array:
    """Zeros, which take no memory and no time as long as nobody reads or writes them."""
    size = shape[0] * shape[1] * dtype.itemsize
    if size < _PAGES:
        return np.zeros(shape, dtype)
    return np.frombuffer(mmap(-1, size), dtype).reshape(shape)


def _parts(rows: int, lanes: int, most: int, shares: int) -> list[_Part]:
    """The parts of a wave: of at most so many lanes, and about so many at least, if they are worth it."""
    each = min(max(1, most // lanes), max(-(-rows // shares), _LEAST_PART // lanes, 1))
    return [(first, min(first + each, rows)) for first in range(0, rows, each)]


def _given(wave: Wave, spaces: Spaces) -> dict[str, int]:
    """The words that are the same for all parts of a wave."""
    rows, lanes = wave.shape
    return {
        **dict.fromkeys(FIELDS, 0), "warps": lanes // WARP_SIZE, "lanes": lanes,
        "threads": wave.launch.threads, "lane_count": rows * lanes, "fuel": _FUEL,
        "shared": _pointer(wave.shared), "shared_stride": wave.shared.shape[1],
        "shared_limit": wave.launch.shared_bytes, "local": _pointer(wave.local),
        "local_stride": wave.local.shape[1], "local_limit": wave.local_bytes,
        "parameters": _pointer(spaces.parameters), "parameter_limit": spaces.parameters.size,
    }


def _calls(wave: Wave, routines: Sequence[Routine], values: dict[str, int]) -> Words:
    """The table of what routines keep. Sets the values for calls."""
    if not routines:
        return np.zeros(0, np.int64)
    (depth, onward, stacks), kept = call_stack(wave).arrays(routines)
    table: list[int] = []
    for inside, *registers in kept:
        levels = min((len(one) for one in registers), default=_MOST_LEVELS)
        table += [_pointer(inside), levels, *map(_pointer, registers)]
    found = np.array(table, np.int64)
    values["depth"], values["onward"] = _pointer(depth), _pointer(onward)
    values["stacks"], values["calls"] = _pointer(stacks), _pointer(found)
    values["levels"] = min(len(onward), len(stacks))
    return found


def _buffers(wave: Wave, spaces: Spaces, uses: Uses | None) -> Words:
    """The table of buffers: shared memory, then global memory."""
    found: list[int] = [SHARED_WINDOW, wave.launch.shared_bytes, 0, 1, 0]
    for one in spaces.memory.buffers:
        cells = None if uses is None else uses.cells(one)
        shadow = 0 if cells is None else _pointer(cells)
        found += [one.base, one.data.size, _pointer(one.data), int(one.data.flags.writeable), shadow]
    return np.array(found, np.int64)


def _pointer(array: npt.NDArray[np.generic]) -> int:
    return array.ctypes.data
