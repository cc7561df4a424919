"""Values of registers while a run stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.executor.arithmetic.boundary_values import shown
from ptx_lsp.executor.instrumentation.written_registers import WrittenRegisters
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.special_registers import special_register_value
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.instructions.register_names import register_names

Lanes = npt.NDArray[np.int64]
"""Lanes of a wave, flat: block by block."""
Elements: TypeAlias = tuple[int, ...]
"""The bits of the elements of a register."""


@dataclass(frozen=True)
class Named:
    """A register as a frame names it. A vector has the numbers of its elements, a `.b128` of its halves."""

    name: str
    type: str
    numbers: tuple[int, ...]

    @property
    def number(self) -> int | None:
        """The only number; None for several."""
        return self.numbers[0] if len(self.numbers) == 1 else None

    @property
    def is_predicate(self) -> bool:
        return self.type == ".pred"


def registers(frame: Frame) -> list[Named]:
    """The registers that the instructions of a frame's function name, in the order of their names."""
    if frame.source is None:
        return []
    found = [
        Named(symbol.name, symbol.type, tuple(numbers))
        for symbol, numbers in frame.source.operands.declared
    ]
    return sorted(found, key=lambda one: _natural(one.name))


def named_by_instruction(frame: Frame) -> list[str]:
    """The registers and special registers that the instruction at which a frame stands names, in order."""
    if frame.source is None:
        return []
    known = {*SPECIAL, *(one.name for one in registers(frame))}
    named = (name for _, name in register_names(frame.source.function, frame.source.node))
    return list(dict.fromkeys(name for name in named if name in known))


def lanes_of(group: Group, *, whole: bool = False) -> Lanes:
    """The lanes of a group; with `whole` all of its warp that exist."""
    first = group.row * group.wave.shape[1] + group.warp * WARP_SIZE
    if whole:
        left = group.wave.launch.threads - group.warp * WARP_SIZE
        return np.arange(first, first + min(WARP_SIZE, left))
    return np.array([first + lane for lane in group.lanes])


def lane_of(group: Group, lane: Lane) -> Lanes:
    """The lane of a thread of a group."""
    return np.array([group.row * group.wave.shape[1] + lane.thread])


def bits(wave: Wave, named: Named, lanes: Lanes) -> list[Elements | None]:
    """The elements of a register, for each lane; None where it is unset."""
    columns = [wave.broadcast(wave.registers[number]).reshape(-1)[lanes].tolist() for number in named.numbers]
    found = [tuple(int(one) for one in row) for row in zip(*columns, strict=True)]
    unset = _unset(wave, named, lanes)
    return [None if is_unset else one for one, is_unset in zip(found, unset, strict=True)]


def _unset(wave: Wave, named: Named, lanes: Lanes) -> list[bool]:
    """Whether lanes have written no element of a register."""
    state = WrittenRegisters.existing(wave)
    if state is None:
        return [False] * lanes.size
    written = [state.lanes(number) for number in named.numbers]
    each = [np.ones(lanes.shape, np.bool_) if one is None else one.reshape(-1)[lanes] for one in written]
    return np.logical_not(np.logical_or.reduce(each)).tolist()


def text(values: Elements | None, type: str, *, is_hex: bool = False) -> str:
    """A value in decimal, or with its bits in hexadecimal; a vector in braces."""
    if values is None:
        return "<unset>"
    if type == ".b128":
        low, high = values
        return _one(high << 64 | low, 128, type, is_hex=is_hex)
    width = TYPES[type].width if type in TYPES else 64
    found = [_one(one, width, type, is_hex=is_hex) for one in values]
    return found[0] if len(found) == 1 else "{" + ", ".join(found) + "}"


def _one(value: int, width: int, type: str, *, is_hex: bool) -> str:
    if type == ".pred":
        return "true" if value else "false"
    if is_hex:
        return f"{value:#0{2 + width // 4}x}"
    known = TYPES.get(type)
    if known is None or known.kind not in (Kind.SIGNED, Kind.FLOAT):
        return str(value)
    return shown(value, known)


def plain(value: object, *, is_hex: bool = False) -> str:
    """The value of an expression: a number, a truth, or several values in braces."""
    if isinstance(value, np.ndarray):
        found = [plain(one, is_hex=is_hex) for one in cast("list[object]", value.tolist())]
        return "{" + ", ".join(found) + "}"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    found = str(value)
    return f"{int(found):#x}" if is_hex and found.lstrip("-").isdigit() else found


def specials(group: Group, lane: Lane) -> Iterator[tuple[str, int]]:
    """The special registers of a thread of a group that people ask for."""
    at = lane_of(group, lane)
    for name in SPECIAL:
        value = group.wave.broadcast(special_register_value(group.wave, name)).reshape(-1)
        yield name, int(value[at][0])


SPECIAL = (
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
    "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%clusterid.x",
    "%cluster_ctarank", "%cluster_nctarank",
)


def _natural(name: str) -> tuple[str, int]:
    digits = len(name) - len(name.rstrip("0123456789"))
    return (name[: len(name) - digits], int(name[-digits:])) if digits else (name, -1)
