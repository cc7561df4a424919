"""Requests about breakpoints and problems."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.adapter.sources import path_of
from ptx_lsp.debug.breakpoints import Breakpoint, LineBreakpoint, is_count
from ptx_lsp.debug.expressions import ExpressionError, parse
from ptx_lsp.debug.problems import FILTERS, finding_of, witness
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.request_error import RequestError

Places: TypeAlias = tuple[list[int], int | None, str]
"""The lines of PTX of a breakpoint, the line at which it is shown, and what is wrong with it."""
FindPlaces: TypeAlias = Callable[[Program, Arguments], Places]
_FUNCTIONS, _INSTRUCTIONS = " functions", " instructions"
"""Owners of breakpoints, which are no paths."""
CLIENT = "client"
"""The owner of data breakpoints."""
_NOWHERE = "there is no instruction here"


def set_breakpoints(session: Session, given: Arguments) -> Json:
    source = given.inner("source")

    def places(made: Program, one: Arguments) -> Places:
        path = path_of(made, source)
        lines, shown = made.lines_at(path, one.number("line") + 1 - session.first_line)
        if lines or made.is_ptx(path) or made.source_of(path) is not None:
            return lines, shown, "" if lines else _NOWHERE
        return lines, shown, f"`{Path(path).name}` is not a source of `{made.path.name}`"

    path = path_of(session.loaded, source)
    lines = {one.number("line") + 1 - session.first_line for one in given.each("breakpoints")}
    session.console.points.release(path, lines)
    return _set(session, path, given, places)


def set_function_breakpoints(session: Session, given: Arguments) -> Json:
    def places(made: Program, one: Arguments) -> Places:
        name = one.text("name")
        named = made.functions_named(name)
        if not named:
            return [], None, f"there is no function `{name}`"
        lines = [first for function in named if (first := made.first_line(function)) is not None]
        return lines, lines[0], ""

    return _set(session, _FUNCTIONS, given, places)


def set_instruction_breakpoints(session: Session, given: Arguments) -> Json:
    def places(made: Program, one: Arguments) -> Places:
        line = _instruction(one.text("instructionReference")) + one.number("offset")
        return ([line], line, "") if line in made.by_line else ([], None, _NOWHERE)

    return _set(session, _INSTRUCTIONS, given, places)


def _instruction(text: str) -> int:
    """Instructions are referred to by their lines."""
    try:
        return int(text, 0)
    except ValueError:
        return -1


def _set(session: Session, owner: str, given: Arguments, places: FindPlaces) -> Json:
    """Sets breakpoints instead of those that the owner had; what is said about each."""
    made = session.loaded
    wanted = [(session.breakpoints.next_number(), one) for one in given.each("breakpoints")]

    def set_in(made: Program) -> list[Json]:
        found: list[LineBreakpoint] = []
        answers: list[Json] = [
            _added(session, number, one, places(made, one), found) for number, one in wanted
        ]
        session.breakpoints.replace_lines(owner, found)
        return answers

    session.setters[owner] = set_in
    return {"breakpoints": set_in(made)}


def set_again(session: Session) -> None:
    """Sets the breakpoints in a program that was read again, and reports them. Addresses and registers may be
    others there.
    """
    made = session.loaded
    answers = [answer for set_in in session.setters.values() for answer in set_in(made)]
    for one in session.breakpoints.data:
        moved: Object = {"id": one.number, "verified": False, "message": "the program has changed"}
        answers.append(moved)
    session.breakpoints.replace_data(CLIENT, [])
    session.registers.clear()
    for answer in answers:
        body: Object = {"reason": "changed", "breakpoint": answer}
        session.channel.event("breakpoint", body)


def _added(
    session: Session, number: int, given: Arguments, places: Places, found: list[LineBreakpoint]
) -> Json:
    """Adds a breakpoint; what is said about it."""
    lines, shown, missing = places
    made = LineBreakpoint(
        number, given.text("condition"), given.text("hitCondition"), given.text("logMessage"),
        lines=frozenset(lines),
    )
    problem = problem_of(made) or missing
    answer: Object = {"id": number, "verified": not problem}
    if problem:
        return {**answer, "message": problem}
    found.append(made)
    if shown is not None:
        answer["line"] = shown - 1 + session.first_line
    return answer


def problem_of(one: Breakpoint) -> str:
    """The error in the conditions of a breakpoint; "" if there is none."""
    if one.count and not is_count(one.count):
        return f"`{one.count}` is not a hit condition; expected one like `3`, `>= 3` or `% 3`"
    try:
        if one.condition:
            parse(one.condition)
    except ExpressionError as error:
        return str(error)
    return ""


def breakpoint_locations(session: Session, given: Arguments) -> Json:
    made = session.loaded
    path = path_of(made, given.inner("source"))
    first = given.number("line") + 1 - session.first_line
    last = given.number("endLine", given.number("line")) + 1 - session.first_line
    lines = made.by_line if made.is_ptx(path) else made.source_of(path) or {}
    there = sorted(one for one in lines if first <= one <= last)
    return {"breakpoints": [{"line": one - 1 + session.first_line} for one in there]}


def set_exception_breakpoints(session: Session, given: Arguments) -> Json:
    wanted = given.texts("filters")
    session.breakpoints.ignored = frozenset(
        kind for name, (_, kinds) in FILTERS.items() if name not in wanted for kind in kinds
    )
    return {"breakpoints": [{"verified": name in FILTERS} for name in wanted]}


def exception_info(session: Session, given: Arguments) -> Json:
    problem = session.stopped.stop.problem
    if problem is None:
        raise RequestError("the kernel has not stopped because of a problem")
    finding = finding_of(problem)
    return {
        "exceptionId": finding.kind, "description": finding.message, "breakMode": "always",
        "details": {"message": finding.message, "typeName": finding.kind, "stackTrace": witness(finding)},
    }


HANDLERS: dict[str, Handler] = {
    "setBreakpoints": set_breakpoints, "setFunctionBreakpoints": set_function_breakpoints,
    "setInstructionBreakpoints": set_instruction_breakpoints, "breakpointLocations": breakpoint_locations,
    "setExceptionBreakpoints": set_exception_breakpoints, "exceptionInfo": exception_info,
}
