"""One debug session: requests from the client, and the run that they are about.

1. Requests are answered in the order in which they come. Those that let the kernel run are answered at once,
   and another thread waits for the run to stop. Meanwhile only those that need no stop are carried out.
2. A request that fails is answered with the reason, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import RLock, Thread
from typing import TypeAlias

from ptx_lsp.debug.adapter.messages import (
    Arguments,
    Channel,
    Json,
    MessageError,
    Object,
    ProtocolError,
)
from ptx_lsp.debug.adapter.references import References
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.interpreter import Interpreter
from ptx_lsp.debug.console.report import report
from ptx_lsp.debug.debuggee import Debuggee, Run
from ptx_lsp.debug.goals import Stop
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import OutdatedError, RequestError

_MOST_THREADS = 64
Handler: TypeAlias = "Callable[[Session, Arguments], Json]"


class Session(Debuggee):
    """A client and its kernel."""

    def __init__(self, channel: Channel, handlers: dict[str, Handler]) -> None:
        super().__init__()
        self.channel = channel
        self._handlers = handlers
        self._lock = RLock()
        self.references = References()
        self.setters: dict[str, Callable[[Program], list[Json]]] = {}
        """For each owner of line breakpoints what sets them in a program, and reports about each."""
        self.registers: dict[str, tuple[int, Lane]] = {}
        """The registers that can be watched, by their names for the client."""
        self.launch_arguments = Arguments(None)
        self.stops_on_entry = self.is_hex = self.is_over = False
        self.console = Console(self)
        self.interpreter = Interpreter(self.console)
        self.first_line = 1
        """The number that the client gives to the first line."""
        self.tells_invalidated = False
        """Whether the client asks again for values that it is told have changed."""
        self._threads: set[int] = set()
        """The groups at the last stop."""
        self._follow_up: list[Callable[[], None]] = []
        self._runner: Thread | None = None
        self._ending: Thread | None = None
        """What ends the run before this one."""

    def serve(self) -> None:
        """Answers requests until the client disconnects."""
        while not self.is_over:
            try:
                message = self.channel.receive()
            except MessageError as error:
                self.print(f"ptx-dap: {error}\n", "stderr")
                continue
            except ProtocolError as error:
                self.print(f"ptx-dap: {error}\n", "stderr")
                break
            if message is None:
                break
            if message.get("type") == "request":
                self._answer(message)
        self.end()

    # -- for handlers ----------------------------------------------------------------------------

    def chosen_frame(self, given: Arguments) -> tuple[Group, Frame]:
        """The frame that a request names with its group; without one, that of the thread in focus. Raises
        RequestError.
        """
        _ = self.stopped
        return self.references.framed(given.number("frameId")) if given.has("frameId") else self.focused

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
        self.references.clear()
        recording.unpause()
        if self.console.is_moving:
            self.afterwards(self._continued)

        def start() -> None:
            self._runner = Thread(target=self._run, args=(recording, go, self._ending), daemon=True)
            self._runner.start()

        self.afterwards(start)

    def print(self, text: str, category: str = "console") -> None:
        """Shows a text in the client's console."""
        self.channel.event("output", {"category": category, "output": text})

    def stands(self, stop: Stop) -> None:
        """Reports to the client that the run has stopped."""
        super().stands(stop)
        self.references.clear()
        if not self.console.is_moving:
            self.console.write = _unheard
        report(self.console, stop)
        self.console.write = self.print
        if stop.reason == "end":
            found = stop.problem or (self.recording is not None and self.recording.findings)
            self.channel.event("exited", {"exitCode": int(bool(found))})
            self.channel.event("terminated")
            return
        self._report_threads()
        group = self.stopped.group_of(self.focus)
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

    def carry_out(self, line: str, given: Arguments) -> str | None:
        """Carries out a line of the debug console, for the frame that is chosen; the output. None for an
        expression. Raises RequestError.
        """
        if not self.interpreter.is_command(line):
            return None
        if given.has("frameId") and self.view is not None:
            group, frame = self.references.framed(given.number("frameId"))
            if self.view.group_of(self.focus) is not group:
                self.focus = group.first
            self.console.level = self.view.frames(group).index(frame)
        said: list[str] = []
        self.console.write = said.append
        try:
            self.interpreter.execute(line)
        except RequestError as error:
            raise RequestError("".join((*said, str(error)))) from None
        finally:
            self.console.write = self.print
        return "".join(said).rstrip("\n")

    def quit(self) -> None:
        self.end()
        self.view = None
        self.afterwards(lambda: self.channel.event("terminated"))

    def focus_changed(self) -> None:
        group = self.stopped.group_of(self.focus)
        number = 1 if group is None else group.number
        body: Object = {
            "reason": "focus", "description": "Paused, with another thread in focus", "threadId": number,
            "allThreadsStopped": True,
        }
        self.afterwards(self._continued)  # or clients take the stop for one of another thread
        self.afterwards(lambda: self.channel.event("stopped", body))

    def values_changed(self) -> None:
        if self.tells_invalidated:
            self.afterwards(lambda: self.channel.event("invalidated", {"areas": ["variables"]}))

    def _report_threads(self) -> None:
        """Reports groups that lanes have formed or left since the last stop, unless there are many: clients
        ask for all groups.
        """
        groups = list(self.stopped.groups)
        for reason, some in (
            ("exited", self._threads.difference(groups)),
            ("started", [one for one in groups if one not in self._threads]),
        ):
            for one in some if len(some) <= _MOST_THREADS else ():
                self.channel.event("thread", {"reason": reason, "threadId": one})
        self._threads = set(groups)

    def breakpoint_changed(self, reason: str, number: int, path: str, line: int | None) -> None:
        found: Object = {"id": number, "verified": True, "source": {"name": Path(path).name, "path": path}}
        if line is not None:
            found["line"] = line - 1 + self.first_line
        self.afterwards(lambda: self.channel.event("breakpoint", {"reason": reason, "breakpoint": found}))

    def end(self) -> None:
        """Ends the run."""
        recording, self.recording = self.recording, None
        self.close(recording)

    def close(self, recording: Recording | None) -> None:
        """Ends a run that is not looked at any more."""
        if recording is not None:
            recording.pause()
            self._ending = Thread(target=_close, args=(recording, self._runner))
            self._ending.start()

    # -- inside ----------------------------------------------------------------------------------

    def _continued(self) -> None:
        self.channel.event("continued", {"threadId": 1, "allThreadsContinued": True})

    def _answer(self, message: Object) -> None:
        given = Arguments(message)
        command = given.text("command")
        answer: Object = {
            "type": "response", "request_seq": given.number("seq"), "command": command, "success": True,
        }
        handler = self._handlers.get(command)
        with self._lock:
            try:
                if handler is None:
                    raise RequestError(f"`{command}` is not supported")
                body = handler(self, Arguments(message.get("arguments")))
                if body is not None:
                    answer["body"] = body
            except RequestError as error:
                answer |= self._failed(str(error), is_shown=not isinstance(error, OutdatedError))
            except Exception as error:  # a defect in one answer must not end the session
                answer |= self._failed(f"internal error: {error!r}")
            self.channel.send(answer)
            self._follow()

    def _follow(self) -> None:
        following = self._follow_up
        self._follow_up = []
        for do in following:
            do()

    def _failed(self, text: str, *, is_shown: bool = True) -> Object:
        self._follow_up.clear()
        error: Object = {"id": 1, "format": _escaped(text), "showUser": is_shown}
        return {"success": False, "message": text, "body": {"error": error}}

    def _run(self, recording: Recording, go: Run, ending: Thread | None) -> None:
        """Lets a kernel run, once the run before it has ended: breakpoints are those of both."""
        if ending is not None:
            ending.join()
        try:
            stop = go(recording)
        except Exception as error:
            with self._lock:
                if self.recording is recording:
                    self.print(f"ptx-dap: internal error: {error!r}\n", "stderr")
                    self.channel.event("terminated")
            return
        with self._lock:
            if self.recording is recording:
                self.stands(stop)
                self._follow()


def _unheard(text: str) -> None:
    """Prints nothing."""


def _close(recording: Recording, runner: Thread | None) -> None:
    """Ends a run that is paused. Who runs it may wait for the session's lock, so whoever has that must not
    wait for it.
    """
    if runner is not None:
        runner.join()
    recording.close()


def _escaped(text: str) -> str:
    """A text for a message format, in which braces name variables."""
    return text.replace("{", "(").replace("}", ")")
