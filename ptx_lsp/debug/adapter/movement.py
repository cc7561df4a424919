"""Requests that let the kernel go on, or back."""

from __future__ import annotations

from ptx_lsp.debug.adapter.messages import Arguments, Json
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.goals import Goal, Several
from ptx_lsp.debug.groups import Group
from ptx_lsp.debug.request_error import OutdatedError
from ptx_lsp.debug.stepping import Reached, StepKind, step_from


def continue_(session: Session, given: Arguments) -> Json:
    session.run(lambda recording: recording.go_on(session.breakpoints))
    return {"allThreadsContinued": True}


def reverse_continue(session: Session, given: Arguments) -> Json:
    session.run(lambda recording: recording.go_back(session.breakpoints))
    return None


def _step(kind: StepKind) -> Handler:
    def step(session: Session, given: Arguments) -> Json:
        goal = _goal(session, given, kind)
        session.run(lambda recording: recording.go_on(Several((session.breakpoints, goal))))
        return None

    return step


def step_back(session: Session, given: Arguments) -> Json:
    goal = _goal(session, given, "in", is_back=True)
    session.run(lambda recording: recording.go_back(goal))
    return None


def _goal(session: Session, given: Arguments, kind: StepKind, *, is_back: bool = False) -> Goal:
    starts = session.breakpoints.starts
    if _is_at_end(session) and given.number("threadId") == 1:
        return Reached(session.focus, starts)
    group = chosen(session, given)
    session.focus = session.shown_lane(group)
    is_source = session.shows_source and given.text("granularity") != "instruction"
    return step_from(group, session.focus, kind, starts, is_source=is_source, is_back=is_back)


def _is_at_end(session: Session) -> bool:
    """Whether the kernel has ended: then there is one thread, all of it."""
    return session.recording is not None and session.recording.is_over and not session.stopped.groups


def chosen(session: Session, given: Arguments) -> Group:
    """The group that a request names. Raises RequestError."""
    found = session.stopped.groups.get(given.number("threadId"))
    if found is None:
        raise OutdatedError(f"there is no thread {given.number('threadId')}: its lanes have ended or parted")
    return found


def pause(session: Session, given: Arguments) -> Json:
    if session.recording is not None and session.view is None:
        session.recording.pause()
    return None


HANDLERS: dict[str, Handler] = {
    "continue": continue_, "reverseContinue": reverse_continue, "next": _step("over"), "stepIn": _step("in"),
    "stepOut": _step("out"), "stepBack": step_back, "pause": pause,
}
