"""The memory of a launch while a run stands, by address.

A reference names a byte: `global:0x700000000`, `shared:3:0x10` in the memory of block 3,
`local:3:17:0x10` in that of its thread 17, `param:0x8`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ptx_lsp.debug.lanes import Lane
from ptx_lsp.executor.machine.address_resolution import WINDOWS
from ptx_lsp.executor.machine.memory import WINDOW, Bytes, Memory, Space
from ptx_lsp.executor.machine.wave import Wave

NAMES: dict[str, Space] = {
    "global": ".global", "const": ".const", "shared": ".shared", "local": ".local", "param": ".param",
}


_NOBODY = Lane(0, 0)


class MemoryReferenceError(ValueError):
    """A reference that is not one."""


@dataclass(frozen=True)
class Reference:
    """A byte: in global, constant and parameter memory `owner` has no meaning."""

    space: str
    address: int
    owner: Lane = _NOBODY

    def __str__(self) -> str:
        block, thread = self.owner
        owner = {"shared": f"{block}:", "local": f"{block}:{thread}:"}.get(self.space, "")
        return f"{self.space}:{owner}{self.address:#x}"

    def moved(self, by: int) -> Reference:
        return replace(self, address=self.address + by)


def reference(text: str) -> Reference:
    """The reference that a text is. Raises MemoryReferenceError if it is none."""
    space, *numbers = text.split(":")
    wanted = {"shared": 2, "local": 3}.get(space, 1)
    try:
        found = [int(one, 0) for one in numbers]
    except ValueError:
        found = list[int]()
    if space not in NAMES or len(found) != wanted or min(found) < 0:
        raise MemoryReferenceError(f"`{text}` is not a memory reference")
    *owner, address = found
    block, thread = (*owner, 0, 0)[:2]
    return Reference(space, address, Lane(block, thread))


class MemoryView:
    """The memory of a launch, and of the blocks that have begun."""

    def __init__(self, memory: Memory, parameters: Bytes, waves: tuple[Wave, ...]) -> None:
        self._memory, self._parameters, self._waves = memory, parameters, waves

    def generic(self, address: int, owner: Lane) -> Reference:
        """The byte at a generic address, as a thread sees it."""
        for space, base in WINDOWS.items():
            if base <= address < base + WINDOW:
                return Reference(space.removeprefix("."), address - base, owner)
        return Reference("global", address)

    def bytes_at(self, one: Reference) -> Bytes | None:
        """The memory from a byte to the end of the variable or space; a view that can be written. None if
        there is no memory.
        """
        if one.space in ("global", "const"):
            buffer = self._memory.find(one.address)
            return None if buffer is None else buffer.data[one.address - buffer.base :]
        whole = self._whole(one)
        return None if whole is None or one.address >= whole.size else whole[one.address :]

    def has_begun(self, one: Reference) -> bool:
        """Whether the memory exists: that of a block does once the block has begun."""
        if one.space not in ("shared", "local"):
            return True
        return any((wave.blocks[:, 0] == one.owner.block).any() for wave in self._waves)

    def read(self, one: Reference, count: int) -> bytes:
        """At most `count` bytes."""
        found = self.bytes_at(one)
        return b"" if found is None or count <= 0 else found[:count].tobytes()

    def write(self, one: Reference, data: bytes) -> int:
        """Writes bytes as far as there is memory; how many were. Raises ValueError for read-only memory."""
        found = self.bytes_at(one)
        if found is None:
            return 0
        if not found.flags.writeable:
            raise ValueError(f"the memory at {one} is read-only")
        count = min(len(data), found.size)
        found[:count] = np.frombuffer(data[:count], np.uint8)
        return count

    def _whole(self, one: Reference) -> Bytes | None:
        if one.space == "param":
            return self._parameters
        for wave in self._waves:
            rows = np.flatnonzero(wave.blocks[:, 0] == one.owner.block).tolist()
            if rows and one.space == "shared":
                return wave.shared[rows[0]]
            if rows and one.owner.thread < wave.shape[1]:
                return wave.local[rows[0] * wave.shape[1] + one.owner.thread]
        return None
