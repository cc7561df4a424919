"""Values of registers when the threads of a kernel begin, as far as the block's dimensions decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.machine.launch_config import WARP_SIZE, LaunchConfig
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import fill_special_registers, is_clock
from ptx_lsp.executor.machine.wave import Wave


@dataclass(frozen=True)
class Start:
    """How much more than the first lane each lane of a full warp has, modulo 2^bits, and the value itself
    where all warps have the same.
    """

    offsets: tuple[int, ...]
    value: int | None


Starts = Mapping[int, Start]
"""The registers of which something is known, by their numbers."""


def starts(frame: RegisterLayout, launch: LaunchConfig) -> Starts:
    """Properties of all launches with blocks of these dimensions: special registers that never change."""
    wave = Wave(launch, frame, np.zeros(1, np.uint32))
    fill_special_registers(wave, frame)
    found: dict[int, Start] = {}
    full = launch.threads // WARP_SIZE
    for name, number in frame.specials.items():
        if not full or not name.startswith("%") or is_clock(name):
            continue
        warps = wave.broadcast(wave.registers[number]).reshape(-1, WARP_SIZE)[:full]
        offsets = np.subtract(warps, warps[:, :1])
        if np.equal(offsets, offsets[0]).all():
            value = int(warps[0, 0]) if name.startswith("%ntid.") else None
            found[number] = Start(tuple(map(int, offsets[0])), value)
    return found
