"""Requests about breakpoints and problems."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.adapter.sources import path_of
from ptx_lsp.debug.breakpoints import Access, Breakpoint, DataBreakpoint, LineBreakpoint, is_count
from ptx_lsp.debug.expressions import ExpressionError, parse
from ptx_lsp.debug.groups import Lane
from ptx_lsp.debug.memory import MemoryReferenceError, reference
from ptx_lsp.debug.problems import FILTERS, finding_of, witness
from ptx_lsp.debug.request_error import RequestError


def set_breakpoints(session: Session, given: Arguments) -> Json:
    made = session.loaded
    path = path_of(made, given.inner("source"))
    found: list[LineBreakpoint] = []
    answers: list[Json] = []
    for one in given.each("breakpoints"):
        line = one.number("line") + 1 - session.first_line
        lines, shown = made.lines_at(path, line)
        answers.append(_added(session, one, lines, found, shown))
    session.breakpoints.replace_lines(path, found)
    return {"breakpoints": answers}


def set_function_breakpoints(session: Session, given: Arguments) -> Json:
    made = session.loaded
    found: list[LineBreakpoint] = []
    answers: list[Json] = []
    for one in given.each("breakpoints"):
        name = one.text("name")
        first = made.first_line(name)
        answers.append(_added(session, one, [] if first is None else [first], found, first))
    session.breakpoints.replace_lines(" functions", found)
    return {"breakpoints": answers}


def set_instruction_breakpoints(session: Session, given: Arguments) -> Json:
    made = session.loaded
    found: list[LineBreakpoint] = []
    answers: list[Json] = []
    for one in given.each("breakpoints"):
        line = _instruction(one.text("instructionReference")) + one.number("offset")
        answers.append(_added(session, one, [line] if line in made.by_line else [], found, line))
    session.breakpoints.replace_lines(" instructions", found)
    return {"breakpoints": answers}


def _instruction(text: str) -> int:
    """Instructions are referred to by their lines."""
    return int(text, 0) if text.isalnum() and text[:1].isdigit() and text.isascii() else -1


def _added(
    session: Session, given: Arguments, lines: Iterable[int], found: list[LineBreakpoint], shown: int | None
) -> Json:
    """Adds a breakpoint; what is said about it."""
    number = session.breakpoints.next_number()
    lines = frozenset(lines)
    made = LineBreakpoint(
        number, given.text("condition"), given.text("hitCondition"), given.text("logMessage"), lines=lines
    )
    problem = _problem(made) or ("" if lines else "there is no instruction here")
    answer: Object = {"id": number, "verified": not problem}
    if problem:
        return {**answer, "message": problem}
    found.append(made)
    if shown is not None:
        answer["line"] = shown - 1 + session.first_line
    return answer


def _problem(one: Breakpoint) -> str:
    """What is wrong with the conditions of a breakpoint."""
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
    lines = made.by_line if Path(path).resolve() == made.path.resolve() else made.source_of(path) or {}
    there = sorted(one for one in lines if first <= one <= last)
    return {"breakpoints": [{"line": one - 1 + session.first_line} for one in there]}


def data_breakpoint_info(session: Session, given: Arguments) -> Json:
    name = given.text("name")
    accesses: list[Json] = ["read", "write", "readWrite"]
    if given.flag("asAddress"):
        size = given.number("bytes", 1)
        return {
            "dataId": f"global:{name}:{size}", "description": f"{size} byte{'s' * (size != 1)} at {name}",
            "accessTypes": accesses,
        }
    view = session.stopped
    variable = view.variable(name)
    lane = session.focus
    if variable is not None:
        space, address, size = variable
        owner = {"shared": f"{lane.block}:", "local": f"{lane.block}:{lane.thread}:"}.get(space, "")
        return {
            "dataId": f"{space}:{owner}{address:#x}:{size}", "description": f"{name} ({size} bytes)",
            "accessTypes": accesses,
        }
    group = view.group_of(lane)
    frame = view.frames(group)[0] if group is not None else None
    register = view.registers(frame, name) if frame is not None else None
    number = None if register is None else register.number
    if number is None:
        return {"dataId": None, "description": f"`{name}` is neither a variable nor a register here"}
    return {
        "dataId": f"register:{number}:{lane.block}:{lane.thread}",
        "description": f"{name} in the warp of the thread in focus", "accessTypes": ["write"],
    }


def set_data_breakpoints(session: Session, given: Arguments) -> Json:
    found: list[DataBreakpoint] = []
    answers: list[Json] = []
    for one in given.each("breakpoints"):
        made = DataBreakpoint(
            session.breakpoints.next_number(), one.text("condition"), one.text("hitCondition"),
            access=_ACCESSES.get(one.text("accessType", "write"), "write"),
        )
        problem = _problem(made) or _place(made, one.text("dataId"))
        answer: Object = {"id": made.number, "verified": not problem}
        answers.append({**answer, "message": problem} if problem else answer)
        if not problem:
            found.append(made)
    session.breakpoints.replace_data("client", found)
    return {"breakpoints": answers}


def _place(made: DataBreakpoint, text: str) -> str:
    """Gives a breakpoint what it watches; what is wrong."""
    place, _, last = text.rpartition(":")
    try:
        if text.startswith("register:"):
            number, block, thread = (int(word) for word in text.split(":")[1:])
            made.register = number, Lane(block, thread)
        else:
            made.place, made.size = reference(place), int(last)
    except (ValueError, MemoryReferenceError):
        return f"`{text}` names no data"
    return ""


_ACCESSES: dict[str, Access] = {"read": "read", "write": "write", "readWrite": "readWrite"}


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
    "dataBreakpointInfo": data_breakpoint_info, "setDataBreakpoints": set_data_breakpoints,
    "setExceptionBreakpoints": set_exception_breakpoints, "exceptionInfo": exception_info,
}
