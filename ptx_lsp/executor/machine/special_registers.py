"""The values of the special registers (PTX ISA, "Special Registers")."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Dimensions, LaunchConfig
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.wave import Wave

STACK = "stack"
"""A register outside PTX: the address in local memory at which the stack of a thread continues."""
STACK_ALIGNMENT = 16
_NANOSECONDS = 32
_CLOCKS = ("%clock", "%globaltimer")


def fill_special_registers(wave: Wave, frame: RegisterLayout) -> None:
    """Sets the registers that stand for special registers."""
    for name, number in frame.specials.items():
        value = special_register_value(wave, name)
        wave.registers[number] = value.astype(frame.dtypes[number], copy=False)


def special_register_value(wave: Wave, name: str) -> Array:
    """The value of a special register in each lane; `name` has the component, as in `%tid.x`."""
    register, _, component = name.partition(".")
    if register in _VECTORS:
        return _component(wave, register, "xyzw".find(component))
    found = _SCALARS.get(register)
    return found(wave) if found is not None else np.zeros((1, 1), np.uint32)


def is_clock(name: str) -> bool:
    """Whether it changes while a kernel runs."""
    return name.startswith(_CLOCKS)


def clock(wave: Wave, name: str) -> Array:
    """The current value of a clock."""
    ticks = wave.executed
    if name.startswith("%globaltimer"):
        ticks *= _NANOSECONDS
    return np.full((1, 1), ticks >> 32 if name.endswith("hi") else ticks, np.uint64)


def _component(wave: Wave, register: str, axis: int) -> Array:
    sizes = _VECTORS[register](wave.launch)
    index = _INDICES.get(register)
    if axis == 3:
        return _one(0)
    if index is None:
        return _one(sizes[axis])
    flat, whole, each = index(wave)
    below = math.prod(whole[:axis])
    place = np.floor_divide(flat, np.uint32(below)) if below > 1 else flat
    if math.prod(whole[axis + 1 :]) > 1:
        place = np.remainder(place, np.uint32(whole[axis]))
    if register == "%cluster_ctaid":
        return np.remainder(place, np.uint32(each[axis]))
    return np.floor_divide(place, np.uint32(each[axis])) if each[axis] > 1 else place


def _clusters(launch: LaunchConfig) -> Dimensions:
    (x, y, z), (a, b, c) = launch.grid, launch.cluster
    return x // a, y // b, z // c


_VECTORS: dict[str, Callable[[LaunchConfig], Dimensions]] = {
    "%tid": lambda launch: launch.block,
    "%ntid": lambda launch: launch.block,
    "%ctaid": lambda launch: launch.grid,
    "%nctaid": lambda launch: launch.grid,
    "%clusterid": _clusters,
    "%nclusterid": _clusters,
    "%cluster_ctaid": lambda launch: launch.cluster,
    "%cluster_nctaid": lambda launch: launch.cluster,
}
_EACH = (1, 1, 1)
_INDICES: dict[str, Callable[[Wave], tuple[Array, Dimensions, Dimensions]]] = {
    "%tid": lambda wave: (wave.threads, wave.launch.block, _EACH),
    "%ctaid": lambda wave: (wave.blocks, wave.launch.grid, _EACH),
    "%clusterid": lambda wave: (wave.blocks, wave.launch.grid, wave.launch.cluster),
    "%cluster_ctaid": lambda wave: (wave.blocks, wave.launch.grid, wave.launch.cluster),
}
"""The numbers of what is counted, in which dimensions, and how many of them are one step."""


def _lane(wave: Wave) -> Array:
    return wave.threads % np.uint32(WARP_SIZE)


def _rank(wave: Wave) -> Array:
    return (wave.block_rows % np.uint64(wave.launch.cluster_blocks)).astype(np.uint32)


def _one(value: int) -> Array:
    return np.array([[value]], np.uint32)


def _stack(wave: Wave) -> Array:
    return _one(-(-wave.launch.local_bytes // STACK_ALIGNMENT) * STACK_ALIGNMENT)


_SCALARS: dict[str, Callable[[Wave], Array]] = {
    "%laneid": _lane,
    "%warpid": lambda wave: wave.threads // np.uint32(WARP_SIZE),
    "%nwarpid": lambda wave: _one(64),
    "%nsmid": lambda wave: _one(1),
    "%gridid": lambda wave: _one(1),
    "%is_explicit_cluster": lambda wave: _one(int(wave.launch.is_explicit_cluster)),
    "%cluster_ctarank": _rank,
    "%cluster_nctarank": lambda wave: _one(wave.launch.cluster_blocks),
    "%lanemask_eq": lambda wave: np.left_shift(np.uint32(1), _lane(wave)),
    "%lanemask_lt": lambda wave: np.left_shift(np.uint32(1), _lane(wave)) - np.uint32(1),
    "%lanemask_le": lambda wave: np.left_shift(np.uint32(2), _lane(wave)) - np.uint32(1),
    "%lanemask_ge": lambda wave: ~(np.left_shift(np.uint32(1), _lane(wave)) - np.uint32(1)),
    "%lanemask_gt": lambda wave: ~(np.left_shift(np.uint32(2), _lane(wave)) - np.uint32(1)),
    "%total_smem_size": lambda wave: _one(wave.launch.allocated_bytes),
    "%aggr_smem_size": lambda wave: _one(wave.launch.allocated_bytes),
    "%dynamic_smem_size": lambda wave: _one(wave.launch.dynamic_bytes),
    "%reserved_smem_offset_begin": lambda wave: _one(wave.launch.reserved.start),
    "%reserved_smem_offset_end": lambda wave: _one(wave.launch.reserved.stop),
    "%reserved_smem_offset_cap": lambda wave: _one(len(wave.launch.reserved)),
    "%reserved_smem_offset_0": lambda wave: _one(wave.launch.reserved.start),
    "%reserved_smem_offset_1": lambda wave: _one(wave.launch.reserved.start + len(wave.launch.reserved) // 2),
    "%envreg1": lambda wave: _one(wave.launch.workspace >> 32),
    "%envreg2": lambda wave: _one(wave.launch.workspace & 0xFFFFFFFF),
    STACK: _stack,
}
