"""One debug session: requests from the client, and the run that they are about.

1. Requests are answered in the order in which they come. Those that let the kernel run are answered at once,
   and another thread waits for the run to stop. Meanwhile only those that need no stop are carried out.
2. A request that fails is answered with the reason, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, Thread
from typing import TypeAlias

from ptx_lsp.debug.adapter.messages import (
    Arguments,
    Channel,
    Json,
    Object,
    ProtocolError,
    RequestError,
)
from ptx_lsp.debug.adapter.program import Program
from ptx_lsp.debug.adapter.references import References
from ptx_lsp.debug.breakpoints import Breakpoints, Lanes
from ptx_lsp.debug.goals import Moment, Stop
from ptx_lsp.debug.groups import Frame, Group, Lane, first_lane, lane_at
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.view import View, holds, value_at

Handler: TypeAlias = "Callable[[Session, Arguments], Json]"
Run: TypeAlias = Callable[[Recording], Stop]
"""Lets a recording go on or back, until it stops."""


class Session:
    """A client and its kernel."""

    def __init__(self, channel: Channel, handlers: dict[str, Handler]) -> None:
        self.channel = channel
        self._handlers = handlers
        self._lock = RLock()
        self.program: Program | None = None
        self.recording: Recording | None = None
        self.view: View | None = None
        """None while the kernel runs."""
        self.breakpoints = Breakpoints(self._holds, self._value, self.from_run)
        self.focus = Lane(0, 0)
        self.references = References()
        self.stops_on_entry = self.shows_source = self.is_hex = self.is_over = False
        self.first_line = 1
        """The number that the client gives to the first line."""
        self._follow_up: list[Callable[[], None]] = []
        self._runner: Thread | None = None

    def serve(self) -> None:
        """Answers requests until the client disconnects."""
        while not self.is_over:
            try:
                message = self.channel.receive()
            except ProtocolError as error:
                self.print(f"ptx-dap: {error}\n", "stderr")
                break
            if message is None:
                break
            if message.get("type") == "request":
                self._answer(message)
        self.end()

    # -- for handlers ----------------------------------------------------------------------------

    @property
    def stopped(self) -> View:
        """The view of the stop. Raises RequestError while the kernel runs, or if there is none."""
        if self.view is None:
            raise RequestError("the kernel is running" if self.recording else "no kernel was launched")
        return self.view

    def chosen_frame(self, given: Arguments) -> tuple[Group, Frame]:
        """The frame that a request names with its group; without one, that of the thread in focus. Raises
        RequestError.
        """
        view = self.stopped
        if given.has("frameId"):
            return self.references.framed(given.number("frameId"))
        group = view.group_of(self.focus)
        if group is None:
            raise RequestError("no thread is in focus")
        return group, view.frames(group)[0]

    def afterwards(self, do: Callable[[], None]) -> None:
        """Does something once the present request is answered."""
        self._follow_up.append(do)

    def run(self, go: Run) -> None:
        """Lets the kernel run in another thread, once the present request is answered. Raises RequestError
        if it runs already.
        """
        recording = self.recording
        if recording is None or self.view is None:
            raise RequestError("the kernel is running" if recording else "no kernel was launched")
        self.view = None
        recording.unpause()

        def start() -> None:
            self._runner = Thread(target=self._run, args=(recording, go), daemon=True)
            self._runner.start()

        self.afterwards(start)

    def print(self, text: str, category: str = "console") -> None:
        """Shows a text in the client's console."""
        self.channel.event("output", {"category": category, "output": text})

    def from_kernel(self, text: str) -> None:
        """Shows the text that threads print."""
        self.from_run(text, "stdout")

    def from_run(self, text: str, category: str = "console") -> None:
        """Shows a text that the run produces, once, also where it is repeated."""
        if self.recording is None or not self.recording.is_repeating:
            self.print(text, category)

    def stands(self, stop: Stop) -> None:
        """Reports to the client that the run has stopped."""
        recording = self.recording
        assert recording is not None
        self.view = View(recording.launch, recording.machine, stop)
        self.references.clear()
        if stop.reason == "end":
            self.channel.event("exited", {"exitCode": int(bool(stop.problem or recording.findings))})
            self.channel.event("terminated")
            return
        if stop.moment is not None:
            moment = stop.moment
            is_here = self._is_among(stop)
            if stop.lane is not None:
                self.focus = lane_at(moment.wave, stop.lane)
            elif not is_here:
                self.focus = first_lane(moment)
        group = self.view.group_of(self.focus)
        body: Object = {
            "reason": stop.reason, "allThreadsStopped": True,
            "threadId": group.number if group is not None else 1,
        }
        if stop.text:
            body["text"] = stop.text
            body["description"] = "Paused on exception" if stop.reason == "exception" else stop.text
        if stop.hits:
            body["hitBreakpointIds"] = list(stop.hits)
        self.channel.event("stopped", body)

    def end(self) -> None:
        """Ends the run."""
        recording, self.recording = self.recording, None
        if recording is not None:
            Thread(target=_close, args=(recording, self._runner)).start()

    # -- inside ----------------------------------------------------------------------------------

    def _answer(self, message: Object) -> None:
        command = message.get("command")
        answer: Object = {
            "type": "response", "request_seq": message.get("seq", 0), "command": command, "success": True,
        }
        handler = self._handlers.get(command) if isinstance(command, str) else None
        with self._lock:
            try:
                if handler is None:
                    raise RequestError(f"`{command}` is not supported")
                body = handler(self, Arguments(message.get("arguments")))
                if body is not None:
                    answer["body"] = body
            except RequestError as error:
                answer |= self._failed(str(error))
            except Exception as error:  # a defect in one answer must not end the session
                answer |= self._failed(f"internal error: {error!r}")
            self.channel.send(answer)
            following, self._follow_up = self._follow_up, []
            for do in following:
                do()

    def _failed(self, text: str) -> Object:
        self._follow_up.clear()
        error: Object = {"id": 1, "format": _escaped(text), "showUser": True}
        return {"success": False, "message": text, "body": {"error": error}}

    def _run(self, recording: Recording, go: Run) -> None:
        try:
            stop = go(recording)
        except Exception as error:
            self.print(f"ptx-dap: internal error: {error!r}\n", "stderr")
            self.channel.event("terminated")
            return
        with self._lock:
            if self.recording is recording:
                self.stands(stop)

    def _is_among(self, stop: Stop) -> bool:
        """Whether the thread in focus is about to execute the instruction of a stop."""
        moment = stop.moment
        if moment is None or self.view is None:
            return False
        group = self.view.group_of(self.focus)
        return group is not None and group.step is moment.step and group.wave is moment.wave

    def _holds(self, text: str, moment: Moment) -> Lanes:
        return holds(self._present(), text, moment)

    def _value(self, text: str, moment: Moment) -> str:
        return value_at(self._present(), text, moment)

    def _present(self) -> View:
        """The view at this moment, for the thread that runs the kernel."""
        assert self.recording is not None
        return View(self.recording.launch, self.recording.machine, self.recording.stop)


def _close(recording: Recording, runner: Thread | None) -> None:
    """Ends a run. Who runs it may wait for the session's lock, so whoever has that must not wait for it."""
    recording.pause()
    if runner is not None:
        runner.join()
    recording.close()


def _escaped(text: str) -> str:
    """A text for a message format, in which braces name variables."""
    return text.replace("{", "(").replace("}", ")")
