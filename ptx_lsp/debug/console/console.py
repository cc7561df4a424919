"""The state that commands act on: the kernel, and what the user has set, chosen and seen."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptx_lsp.debug.console.points import Points
from ptx_lsp.debug.console.values import Value, of_column, of_index, of_register
from ptx_lsp.debug.console.variables import variable_value
from ptx_lsp.debug.debuggee import Debuggee
from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.debug.goals import Stop
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.memory import Reference
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import Lanes, Named, lanes_of, registers
from ptx_lsp.debug.view import View
from ptx_lsp.executor.machine.launch_config import WARP_SIZE

_BUILT_IN = {"threadIdx": "%tid", "blockIdx": "%ctaid", "blockDim": "%ntid", "gridDim": "%nctaid"}
_INDICES = {**_BUILT_IN, **{name: name for name in _BUILT_IN.values()}}
"""The special registers of indices and sizes with three dimensions, by their names."""
_NAME = re.compile(
    r"\b(threadIdx|blockIdx|blockDim|gridDim)(?=\.[xyz]\b)|\b(warpSize|WARP_SZ)\b|\$(\d*)(?![\w$])"
)


class Console:
    """The state of a session that is driven by words."""

    def __init__(self, debuggee: Debuggee, width: Callable[[], int] = lambda: 80) -> None:
        """`width` has the columns of the terminal."""
        self.debuggee = debuggee
        self.points = Points(debuggee)
        self.write: Callable[[str], None] = debuggee.print
        self.width = width
        self.level = 0
        """The frame that is chosen: 0 for the innermost."""
        self.history: list[Value] = []
        self.displays: dict[int, tuple[str, str]] = {}
        """Expressions that are shown at each stop, with their formats, by number."""
        self.display_count = 0
        self.listed: tuple[str, int, int] | None = None
        """The file that was listed last, with the first and the last line."""
        self.list_size = 10
        self.examined: Reference | None = None
        """The byte after the memory that was examined last."""
        self.unit: tuple[str, int] = ("x", 4)
        """The format and the bytes of its units."""
        self.is_moving = self.is_backward = self.is_over = False
        """Whether a command lets the kernel run; whether backwards; whether the user has quit."""
        self.shown_focus: Lane | None = None
        """The thread that the user was told to be in focus."""
        self.shown_masks: frozenset[tuple[int, ...]] = frozenset()
        """The groups of lanes of its warp that the user has seen."""
        self.depth = 0
        """How many files of commands are being carried out, one inside another."""
        self.shown_call: tuple[str, int] | None = None
        """The function and the depth of the call that the user has seen."""
        self.execute: Callable[[str], None] = self._ignore

    def say(self, *lines: str) -> None:
        """Prints lines."""
        for line in lines:
            self.write(line + "\n")

    def go(self, run: Callable[[Recording], Stop], *, is_backward: bool = False) -> None:
        """Lets the kernel run; the host reports where it stops. Raises RequestError if it cannot."""
        self.is_moving, self.is_backward = True, is_backward
        try:
            self.debuggee.run(run)
        except RequestError:
            self.is_moving = False
            raise

    # -- where the kernel stands -----------------------------------------------------------------

    @property
    def view(self) -> View:
        """The stop. Raises RequestError before the kernel runs, and while it does."""
        view = self.debuggee.stopped
        if view.stop.reason == "start":
            raise RequestError("The program is not being run.")
        return view

    @property
    def group(self) -> Group:
        """The lanes that are together with the thread in focus. Raises RequestError if it has ended."""
        found = self.view.group_of(self.debuggee.focus)
        if found is None:
            raise RequestError("No thread is in focus: it has exited. Step back, or choose another.")
        return found

    @property
    def frames(self) -> list[Frame]:
        """The calls of the thread in focus, the innermost first."""
        return self.view.frames(self.group)

    @property
    def frame(self) -> Frame:
        """The frame that is chosen."""
        found = self.frames
        return found[min(self.level, len(found) - 1)]

    @property
    def lane(self) -> int:
        """The lane of the thread in focus, in its warp."""
        return self.debuggee.focus.thread % WARP_SIZE

    @property
    def lanes(self) -> Lanes:
        """The lane of the thread in focus, in its wave."""
        whole = lanes_of(self.group, whole=True)
        return whole[self.lane : self.lane + 1]

    # -- values ----------------------------------------------------------------------------------

    def translated(self, text: str) -> str:
        """An expression without names that only users know: `threadIdx.x`, and values as `$1` or `$`."""
        return _NAME.sub(self._translated, text)

    def register(self, text: str) -> Named | None:
        """The register that an expression consists of."""
        name = text.strip()
        return next((one for one in registers(self.frame) if one.name == name), None)

    def values(self, text: str, *, whole: bool = False) -> list[Value]:
        """The value of an expression for the thread in focus; with `whole` for each thread of its warp.
        Raises RequestError.
        """
        group, frame = self.group, self.frame
        lanes = lanes_of(group, whole=True) if whole else self.lanes
        index = _INDICES.get(text.strip())
        if index is not None:
            axes = [self.values(f"{index}.{axis}", whole=whole) for axis in "xyz"]
            return [of_index(one) for one in zip(*axes, strict=True)]
        text = self.translated(text)
        register = self.register(text)
        if register is not None:
            return of_register(group, register, lanes)
        focus = self.debuggee.focus
        first = focus.thread - self.lane
        owners = [Lane(focus.block, first + lane) for lane in range(lanes.size)] if whole else [focus]
        program = self.debuggee.loaded
        found = [variable_value(self.view, program, owner, text, self.number) for owner in owners]
        contents = [one for one in found if one is not None]
        if contents:
            return contents
        try:
            return of_column(self.view.evaluate_in(text, group.wave, lanes, frame))
        except ExpressionError as error:
            raise RequestError(_as_gdb(str(error))) from None

    def value(self, text: str) -> Value:
        """The value of an expression for the thread in focus. Raises RequestError."""
        return self.values(text)[0]

    def number(self, text: str) -> int:
        """The value of an expression that is an integer. Raises RequestError."""
        found = self.value(text)
        if not found.elements:
            raise RequestError(f"`{text.strip()}` is unset here.")
        one = found.elements[0]
        if len(found.elements) != 1 or isinstance(one, float):
            raise RequestError(f"`{text.strip()}` is not an integer.")
        return int(one)

    def _translated(self, found: re.Match[str]) -> str:
        if found[1]:
            return _BUILT_IN[found[1]]
        if found[2]:
            return str(WARP_SIZE)
        number = int(found[3]) if found[3] else len(self.history)
        if not 0 < number <= len(self.history):
            raise RequestError(f"History has not yet reached ${number}.")
        value = self.history[number - 1]
        if len(value.elements) > 1:
            raise RequestError(f"${number} has {len(value.elements)} elements; an expression needs one.")
        return value.text.partition(" ")[0]

    # -- texts -----------------------------------------------------------------------------------

    @property
    def file(self) -> str:
        """The name of the PTX file."""
        return self.debuggee.loaded.path.name

    @property
    def masks(self) -> list[Group]:
        """The groups of the warp in focus, the one with the thread in focus first."""
        here = self.group
        return [here, *self.view.others(here)]

    def _ignore(self, line: str) -> None:
        """Stands for the interpreter until there is one."""


def _as_gdb(text: str) -> str:
    """An error of an expression as a sentence."""
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
