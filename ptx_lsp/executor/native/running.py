"""Runs native code for the groups of a wave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.decoding.call_stack import Routine, call_stack
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.memory import SHARED_WINDOW
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.native.compiler import MachineCode
from ptx_lsp.executor.native.function import NativeSource
from ptx_lsp.executor.native.layout import BUFFER, ELSEWHERE, FIELDS, FILE, GONE, SITE
from ptx_lsp.executor.scheduling.native_turns import Stops

Positions = npt.NDArray[np.int32]
Words = npt.NDArray[np.int64]
_FUEL = 1 << 26
_MOST_LEVELS = 1 << 40  # of a routine that has no registers to keep
_OF_CALLS = ("depth", "levels", "onward", "stacks", "calls")


class NativeCode:
    """A compiled kernel."""

    def __init__(self, source: NativeSource) -> None:
        self.source = source
        self._code = MachineCode(source.text)
        self._function = self._code.function("run")

    def run(
        self, wave: Wave, spaces: Spaces, routines: Sequence[Routine], groups: Mapping[int, Bools | None]
    ) -> Stops:
        """Lets groups of lanes at blocks with native code go on."""
        source = self.source
        positions = np.full(wave.shape, GONE, np.int32)
        positions[wave.live_mask()] = ELSEWHERE
        for block, mask in groups.items():
            positions[wave.full_mask(mask)] = source.points.of_block(block)
        inputs, arrays = self._inputs(wave)
        results = [np.zeros(wave.shape, arrays[at].dtype) for at in source.results]
        outputs = np.zeros(len(source.file), np.int64)
        for at, array in zip(source.results, results, strict=True):
            outputs[at] = _pointer(array)
        buffers = _buffers(wave, spaces)
        sites = np.zeros(SITE * source.sites + 1, np.int64)
        given = np.zeros(len(FIELDS), np.int64)
        rows, lanes = wave.shape
        values: dict[str, int] = {
            "first_block": 0, "last_block": rows, "warps": lanes // 32, "lanes": lanes,
            "inputs": _pointer(inputs), "outputs": _pointer(outputs), "positions": _pointer(positions),
            "shared": _pointer(wave.shared), "shared_stride": wave.shared.shape[1],
            "shared_limit": wave.launch.shared_bytes, "local": _pointer(wave.local),
            "local_stride": wave.local.shape[1], "local_limit": wave.local_bytes,
            "parameters": _pointer(spaces.parameters), "parameter_limit": spaces.parameters.size,
            "buffers": _pointer(buffers), "buffer_count": buffers.size // BUFFER,
            "sites": _pointer(sites), "fuel": _FUEL, "executed": 0, "lane_count": rows * lanes,
            **dict.fromkeys(_OF_CALLS, 0),
        }
        calls = _calls(wave, routines, values)
        given[:] = [values[name] for name in FIELDS]
        self._function(_pointer(given))
        del calls
        wave.executed += int(given[FIELDS.index("executed")])
        wave.local_bytes = int(given[FIELDS.index("local_limit")])
        if (positions != GONE).any():
            for at, array in zip(source.results, results, strict=True):
                wave.registers[source.file[at]] = array
        return self._stops(positions, wave.live_mask() & (positions == GONE))

    def _stops(self, positions: Positions, exited: Bools) -> Stops:
        found, points = Stops(exited), self.source.points
        reached: list[int] = np.unique(positions[positions >= 0]).tolist()
        for point in reached:
            block, step = points.places[point]
            here: Bools = positions == point
            if step:
                found.inside.append((block, step, here))
                continue
            found.at_blocks.append((block, here))
            if points.polls[block] or not points.is_native(point):
                found.refused.add(block)
        return found

    def _inputs(self, wave: Wave) -> tuple[Words, list[Array]]:
        """The table of registers, and the arrays that it points to."""
        table = np.zeros((len(self.source.file), FILE), np.int64)
        arrays: list[Array] = []
        for at, number in enumerate(self.source.file):
            value = wave.registers[number]
            size = value.dtype.itemsize
            if value.shape[1] > 1 and value.strides[1] not in (0, size):
                value = np.ascontiguousarray(value)
            between = value.strides[0] if value.shape[0] > 1 else 0
            along = value.strides[1] if value.shape[1] > 1 else 0
            table[at] = _pointer(value), between, along
            arrays.append(value)
        return table, arrays


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


def _buffers(wave: Wave, spaces: Spaces) -> Words:
    """The table of buffers: shared memory, then global memory."""
    found: list[int] = [SHARED_WINDOW, wave.launch.shared_bytes, 0, 1]
    for one in spaces.memory.buffers:
        found += [one.base, one.data.size, _pointer(one.data), int(one.data.flags.writeable)]
    return np.array(found, np.int64)


def _pointer(array: npt.NDArray[np.generic]) -> int:
    return array.ctypes.data
