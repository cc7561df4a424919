"""The memory map of a launch: variables by address."""

from __future__ import annotations

from dataclasses import dataclass

from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.locals import Placed
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


@dataclass(frozen=True)
class Whereabouts:
    """The location of an access: an address in its state space, and the name of the variable there ("":
    none).
    """

    address: int
    name: str


class Variables(Observer):
    """The variables of a launch, with the buffers among its arguments."""

    def __init__(self) -> None:
        self.placed: tuple[Placed, ...] = ()

    def launched(self, shape: LaunchConfig, image: ModuleMemory, memory: Memory) -> None:
        self.placed = tuple(image.placed)

    def within(self, wave: Wave, space: str, offset: int) -> int:
        """The address in its state space of an offset in the memory of all blocks or lanes of a wave."""
        return offset % row_bytes(wave, space)

    def name(self, space: str, address: int) -> str:
        """The variable at an address of its state space; "" if there is none."""
        for one in self.placed:
            if one.space == space and one.start <= address < one.start + one.size:
                return one.name
        return ""

    def whereabouts(self, wave: Wave, access: MemoryEvent, index: int) -> Whereabouts:
        """The location of one lane's access."""
        offset = int(access.offsets[index])
        if access.buffer is not None:
            return Whereabouts(access.buffer.base + offset, access.buffer.name)
        address = self.within(wave, access.space, offset)
        return Whereabouts(address, self.name(access.space, address))


def row_bytes(wave: Wave, space: str) -> int:
    """The bytes from the memory of one block to that of the next, or of one lane; of other spaces a bound."""
    match space:
        case ".shared":
            return wave.shared.shape[1] or 1
        case ".local":
            return wave.local.shape[1] or 1
        case _:
            return 1 << 62
