"""Native code as a scheduler sees it; it stands above (`native`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.wave import Wave


@dataclass
class Stops:
    """Where the lanes are that have gone on in native code: at blocks, in the middle of blocks before a step
    (block, step, lanes), or nowhere, having exited (None: all that there were). It is of no use to run the
    blocks in `refused` again at once.
    """

    exited: Bools | None
    at_blocks: list[tuple[int, Bools]] = field(default_factory=list[tuple[int, Bools]])
    inside: list[tuple[int, int, Bools]] = field(default_factory=list[tuple[int, int, Bools]])
    refused: set[int] = field(default_factory=set[int])
    is_progress: bool = True
    """Whether any lanes have left native code, but for a turn of others."""


class NativeTurns(Protocol):
    """A kernel that may have native code."""

    @property
    def blocks(self) -> frozenset[int]:
        """The blocks that have native code now."""
        ...

    @property
    def always_ends(self) -> bool:
        """Whether every thread ends, without any other one."""
        ...

    def wave_lanes(self, launch: LaunchConfig) -> int:
        """How many lanes a wave may have; 0 for as many as without native code."""
        ...

    def run(self, wave: Wave, groups: Mapping[int, Bools | None]) -> Stops:
        """Lets groups of lanes at such blocks go on."""
        ...

    def ran(self, steps: int, lanes: int) -> None:
        """So many steps were executed without native code, for so many lanes each."""
        ...
