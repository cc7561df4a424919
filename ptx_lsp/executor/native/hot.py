"""When a kernel becomes native code: once it has run for about as long as it takes to compile it.

What a kernel has done is counted in steps and lanes, not in time, so that each run is like the last. Code is
kept for as long as its kernel is.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from ptx_lsp.executor.arithmetic.program import Bools, DType
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Block
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.scheduling.native_turns import Stops

if TYPE_CHECKING:
    from ptx_lsp.executor.native.running import NativeCode

NativeMode = Literal["auto", "off", "always"]
_HOT = 1 << 28
_STEP = 1 << 12  # what a step costs besides what each lane of it does


def check_available(mode: NativeMode) -> None:
    """ExecutionError where native code is asked for, and there is no compiler."""
    if mode == "always" and not _has_compiler():
        message = "native code needs llvmlite: `pip install 'ptx-lsp[native]'`"
        raise ExecutionError(message, "launch")


def _has_compiler() -> bool:
    return find_spec("llvmlite") is not None


class HotKernel:
    """A decoded kernel, and its native code once it is hot (`NativeTurns`)."""

    def __init__(
        self, blocks: tuple[Block, ...], dtypes: Mapping[int, DType], spaces: Spaces, mode: NativeMode
    ) -> None:
        self._spaces = spaces
        self._code: NativeCode | None = None
        self._blocks = blocks
        self._dtypes = dtypes
        self._mode = mode
        self._heat = 0
        self._is_decided = mode == "off"
        self._native: frozenset[int] = frozenset()

    @property
    def blocks(self) -> frozenset[int]:
        if self._mode == "always" and not self._is_decided:
            self._compile()
        return self._native

    def run(self, wave: Wave, groups: Mapping[int, Bools | None]) -> Stops:
        assert self._code is not None
        return self._code.run(wave, self._spaces, groups)

    def ran(self, steps: int, lanes: int) -> None:
        if not self._is_decided:
            self._heat += steps * (_STEP + lanes)
            if self._heat > _HOT:
                self._compile()

    def _compile(self) -> None:
        self._is_decided = True
        if not _has_compiler():
            return
        from ptx_lsp.executor.native.function import FunctionBuilder
        from ptx_lsp.executor.native.running import NativeCode

        source = FunctionBuilder(self._blocks, self._dtypes).build()
        if source is not None:
            self._code = NativeCode(source)
            self._native = frozenset(source.points.native)
