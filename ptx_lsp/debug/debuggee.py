"""The kernel that is debugged, by a client of the debug adapter or by a person at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ptx_lsp.debug.breakpoints import Breakpoints, Lanes, starts_of
from ptx_lsp.debug.goals import Goal, Moment, Stop
from ptx_lsp.debug.groups import Frame, Group, first_lane, lane_at, number_at
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.problems import finding_of
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import OutdatedError, RequestError
from ptx_lsp.debug.view import View, holds, value_at
from ptx_lsp.executor.machine.errors import Finding
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.scheduling.stepping import is_breakpoint

Run: TypeAlias = Callable[[Recording], Stop]
"""Lets a recording go on or back, until it stops."""


class Debuggee:
    """A program, its run, its breakpoints, and the thread in focus."""

    def __init__(self) -> None:
        self.program: Program | None = None
        self.recording: Recording | None = None
        self.view: View | None = None
        """None while the kernel runs."""
        self.breakpoints = Breakpoints(self._holds, self._value, self.from_run)
        self.focus = Lane(0, 0)
        self.shows_source = False
        """Whether frames and steps are those of the source that `.loc` names."""

    @property
    def loaded(self) -> Program:
        """The program. Raises RequestError if there is none."""
        if self.program is None:
            raise RequestError("no kernel was launched")
        return self.program

    @property
    def stopped(self) -> View:
        """The view of the stop. Raises RequestError while the kernel runs, or if there is none."""
        if self.view is None and self.recording is not None:
            raise OutdatedError("the kernel is running")
        if self.view is None:
            raise RequestError("no kernel was launched")
        return self.view

    @property
    def focused(self) -> tuple[Group, Frame]:
        """The group of the thread in focus, and its innermost frame. Raises RequestError."""
        view = self.stopped
        group = view.group_of(self.focus)
        if group is None:
            raise RequestError("no thread is in focus")
        return group, view.frame(group)

    def shown_lane(self, group: Group) -> Lane:
        """The thread of a group whose values are shown: the one in focus, if it is in the group."""
        return self.focus if self.focus in group else group.first

    def record(self, program: Program | None = None) -> None:
        """Makes a run of a program, or a new one of the program that there is; it stands before its first
        instruction. Raises RequestError if the launch is impossible, and then changes nothing.
        """
        made = program or self.loaded
        recording = Recording(
            lambda observer: made.prepared(observer, partial(self.from_kernel, observer)), made.settings.seed
        )
        self.program, self.recording = made, recording
        shape = recording.launch.shape
        if self.focus.block >= shape.blocks or self.focus.thread >= shape.threads:
            self.focus = Lane(0, 0)
        self.breakpoints.starts = starts_of(recording.launch.blocks, made.by_line)
        steps = (step for block in recording.launch.blocks for step in block.steps)
        self.breakpoints.is_written = any(map(is_breakpoint, steps))
        self.view = View(recording.launch, None, recording.stop)

    def run(self, go: Run) -> None:
        """Lets the kernel run. Raises RequestError if it runs already."""
        raise NotImplementedError

    def beginning(self, goal: Goal) -> Run:
        """Lets the kernel run to where the session begins: to a goal, or in a recording to its error."""
        made = self.loaded
        return lambda recording: made.begin(recording, goal, self.print)

    def end(self) -> None:
        """Ends the run."""
        raise NotImplementedError

    def quit(self) -> None:
        """The user ends the session."""

    def focus_changed(self) -> None:
        """The user has put another thread in focus."""

    def values_changed(self) -> None:
        """The user has changed registers or memory."""

    def breakpoint_changed(self, reason: str, number: int, path: str, line: int | None) -> None:
        """The user has set (`new`), changed (`changed`) or removed (`removed`) a breakpoint at a line."""

    def print(self, text: str, category: str = "console") -> None:
        """Shows a text to the user: one of the `stdout` of the kernel, or of the debugger."""
        raise NotImplementedError

    def from_kernel(self, observer: Observer, text: str) -> None:
        """Shows the text that threads print in the run with an observer, unless another run is debugged."""
        recording = self.recording
        if recording is None or recording.observer is not observer:
            return
        text = recording.unprinted(text)
        if text:
            self.print(text, "stdout")

    def from_run(self, text: str) -> None:
        """Shows a message of a log point, once, also where the run is repeated."""
        if self.recording is None or not self.recording.is_repeating:
            self.print(text)

    def stands(self, stop: Stop) -> None:
        """The run has stopped: it can be looked at, and a thread that is there is in focus."""
        recording = self.recording
        assert recording is not None
        self.view = View(recording.launch, recording.machine, stop)
        moment = stop.moment
        if stop.reason == "end":
            self.loaded.ended(recording, self.print)
        if moment is None or stop.reason == "end":
            return
        if stop.lane is not None:
            self.focus = lane_at(moment.wave, stop.lane)
        elif not self._is_among(self.view, moment):
            self.focus = first_lane(moment)
        if stop.problem is not None:
            self._focus_on(self.view, finding_of(stop.problem))

    def _focus_on(self, view: View, finding: Finding) -> None:
        """Puts a thread that a finding concerns in focus."""
        shape = view.launch.shape
        lanes = [
            Lane(number_at(one.block, shape.grid), number_at(one.thread, shape.block))
            for one in finding.lanes
        ]
        if self.focus not in lanes:
            self.focus = next((one for one in lanes if view.group_of(one) is not None), self.focus)

    def _is_among(self, view: View, moment: Moment) -> bool:
        """Whether the thread in focus is about to execute the instruction of a moment."""
        group = view.group_of(self.focus)
        return group is not None and group.step is moment.step and group.wave is moment.wave

    def _holds(self, text: str, moment: Moment) -> Lanes:
        return holds(self._present(), text, moment)

    def _value(self, text: str, moment: Moment) -> str:
        return value_at(self._present(), text, moment)

    def _present(self) -> View:
        """The view at this moment, for the thread that runs the kernel."""
        assert self.recording is not None
        return View(self.recording.launch, self.recording.machine, self.recording.stop)
