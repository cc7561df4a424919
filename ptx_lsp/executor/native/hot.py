"""When a kernel becomes native code: once it has run for about as long as it takes to compile it.

What a kernel has done is counted in steps and lanes, not in time, so that each run is like the last. Code is
kept for as long as its kernel is.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.decoding.call_stack import Routine, routines_of
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Block, successors
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.native_turns import Stops
from ptx_lsp.model.function import Function

if TYPE_CHECKING:
    from ptx_lsp.executor.native.running import NativeCode
    from ptx_lsp.executor.native.tracking import Checks

NativeMode = Literal["auto", "off", "always"]
_LEAST = 1 << 26
_OF_STEP = 1 << 22  # it takes 2 to 4 ms to compile a step, 11 ms if there are 300 blocks
_STEP = 1 << 12  # what a step costs besides what each lane of it does
_MOST_STEPS = 1 << 12  # of a kernel that is compiled
_MOST_LANES = 1 << 20
WAVE_LANES = 1 << 15  # without native code
_SLOWER = 4  # with checks
_MOST_SHARED = 1 << 24
"""The lanes of a wave in native code, and the bytes of its shared memory."""


def check_available(mode: NativeMode) -> None:
    """ExecutionError where native code is asked for, and there is no compiler."""
    if mode == "always" and not _has_compiler():
        message = "native code needs llvmlite: `pip install 'ptx-lsp[native]'`"
        raise ExecutionError(message, "launch")


def _has_compiler() -> bool:
    return find_spec("llvmlite") is not None


class _Heat:
    """What launches of a kernel have done, and its native code once it is hot."""

    def __init__(self) -> None:
        self.value = 0
        self.is_decided = False
        self.code: NativeCode | None = None
        self.blocks: frozenset[int] = frozenset()
        self.is_whole = False


_KNOWN: WeakKeyDictionary[Function, dict[Hashable, _Heat]] = WeakKeyDictionary()


class HotKernel:
    """A decoded kernel, and its native code once it is hot (`NativeTurns`)."""

    def __init__(
        self, kernel: Function, layout: Hashable, blocks: tuple[Block, ...], frame: RegisterLayout,
        launch: LaunchConfig, spaces: Spaces, mode: NativeMode, checks: Checks | None = None,
    ) -> None:
        """Launches of a `kernel` with blocks of the same dimensions, whose variables lie in the same
        `layout`, have the same code.
        """
        self.spaces = spaces
        self._blocks = blocks
        self._frame = frame
        self._launch = launch
        self._mode = mode
        self._checks = checks
        self._heat = _KNOWN.setdefault(kernel, {}).setdefault((layout, launch.block), _Heat())
        self._limit = max(_LEAST, _OF_STEP * sum(len(block.steps) for block in blocks))

    @cached_property
    def _routines(self) -> list[Routine]:
        return routines_of(self._blocks)

    @property
    def blocks(self) -> frozenset[int]:
        if self._mode == "always" and not self._heat.is_decided:
            self._compile()
        return self._heat.blocks

    @property
    def always_ends(self) -> bool:
        return self._heat.is_whole and self._goes_forward

    @cached_property
    def _goes_forward(self) -> bool:
        """Whether no thread executes a block twice."""
        ranks = [block.rank for block in self._blocks]
        following = (successors(block.steps, number + 1) for number, block in enumerate(self._blocks))
        return all(
            ranks[target] > ranks[number] or ranks[number] >= len(ranks)
            for number, targets in enumerate(following) for target in targets if target < len(ranks)
        )

    def wave_lanes(self, launch: LaunchConfig) -> int:
        if not self.blocks or launch.local_bytes or not self._heat.is_whole:
            return 0
        return min(_MOST_LANES, _MOST_SHARED * launch.lanes // max(launch.shared_bytes, 1))

    def run(self, wave: Wave, groups: Mapping[int, Bools | None]) -> Stops:
        return self.code.run(wave, self.spaces, self._routines, groups)

    @property
    def code(self) -> NativeCode:
        """Once there are blocks with native code."""
        assert self._heat.code is not None
        return self._heat.code

    def ran(self, steps: int, lanes: int) -> None:
        heat = self._heat
        if not heat.is_decided:
            heat.value += steps * (_STEP + lanes)
            if heat.value > self._limit:
                self._compile()

    def anticipate(self, lanes: int) -> bool:
        """Whether there is native code for all of the kernel, if it will be executed by so many lanes with
        checks, which take several times as long.
        """
        heat = self._heat
        steps = sum(len(block.steps) for block in self._blocks)
        waves = -(-lanes // WAVE_LANES)
        value = heat.value + steps * (_STEP * waves + lanes)
        if not heat.is_decided and (self._mode == "always" or _SLOWER * value > self._limit):
            self._compile()
        return heat.is_whole

    def _compile(self) -> None:
        heat = self._heat
        heat.is_decided = True
        if not _has_compiler() or sum(len(block.steps) for block in self._blocks) > _MOST_STEPS:
            return
        from ptx_lsp.executor.native.function import FunctionBuilder
        from ptx_lsp.executor.native.running import NativeCode
        from ptx_lsp.executor.native.starts import starts

        source = FunctionBuilder(
            self._blocks, self._frame.dtypes, starts(self._frame, self._launch), self._checks
        ).build()
        if source is not None:
            heat.code = NativeCode(source, is_even=self._goes_forward)
            heat.blocks = frozenset(source.points.native)
            heat.is_whole = source.is_whole
