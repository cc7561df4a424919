"""Requests that look at a kernel which stands: threads, frames, variables, expressions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from ptx_lsp.debug import values
from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.movement import chosen
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.adapter.sources import ptx_source, source_beside
from ptx_lsp.debug.changes import assign, set_register
from ptx_lsp.debug.console.interpreter import WORD
from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.memory import Reference
from ptx_lsp.debug.reconvergence import Reconvergence
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import Named
from ptx_lsp.executor.machine.errors import Finding
from ptx_lsp.executor.machine.launch_config import WARP_SIZE

_MOST_THREADS = 1024


def threads(session: Session, given: Arguments) -> Json:
    if session.view is None:
        return {"threads": []}
    found = list(session.view.groups.values())
    focused = session.view.group_of(session.focus)
    shown = found[:_MOST_THREADS]
    if focused is not None and focused not in shown:
        shown.append(focused)
    listed: list[Json] = [
        {"id": one.number, "name": one.name + (f", waits {one.waits}" if one.waits else "")} for one in shown
    ]
    return {"threads": listed or [{"id": 1, "name": "kernel"}]}


def stack_trace(session: Session, given: Arguments) -> Json:
    view = session.stopped
    if not view.groups and given.number("threadId") == 1:
        return {"stackFrames": [], "totalFrames": 0}
    group = chosen(session, given)
    calls, points = view.frames(group), view.reconvergence(group)
    places: list[_Place] = []
    for level, call in enumerate(calls):
        places += [(call, call, None), *((one.frame, call, one) for one in points if one.level == level)]
    first = max(0, given.number("startFrame"))
    count = given.number("levels") or len(places)
    shown: list[Json] = [
        _frame(session, group, depth, place)
        for depth, place in enumerate(places[first:][: max(0, count)], first)
    ]
    return {"stackFrames": shown, "totalFrames": len(places)}


_Place: TypeAlias = "tuple[Frame, Frame, Reconvergence | None]"
"""A frame, the call that it belongs to, and the reconvergence point if it is one."""


def _frame(session: Session, group: Group, depth: int, place: _Place) -> Object:
    """A call, or a reconvergence point, whose variables are those of its call."""
    made = session.loaded
    frame, call, point = place
    found: Object = {
        "id": session.references.frame(group, depth, call),
        "name": frame.function or made.settings.entry,
        "line": frame.line - 1 + session.first_line, "column": session.first_line,
        "source": ptx_source(made),
        "instructionPointerReference": str(frame.line),
    }
    if session.shows_source and frame.original is not None:
        found["line"] = frame.original.line - 1 + session.first_line
        found["source"] = source_beside(made, frame.original.path)
    if point is not None:
        found["name"] = f"reconvergence with {group.mask_of(point.lanes)}"
        found["presentationHint"] = "subtle"
    return found


def scopes(session: Session, given: Arguments) -> Json:
    number = given.number("frameId")
    group, frame = session.references.framed(number)
    made: list[tuple[str, str, Callable[[], list[Object]], bool]] = [
        ("Registers", "registers", partial(_registers, session, group, frame), True),
        ("Warp", "", partial(_warp, session, number, group, frame), True),
        ("Predicates", "", partial(_predicates, group, frame), False),
        ("Special registers", "", partial(_specials, session, group), False),
        ("Parameters", "arguments", partial(_memory, session, group, ".param"), False),
        ("Shared", "", partial(_memory, session, group, ".shared"), False),
        ("Local", "locals", partial(_memory, session, group, ".local"), False),
        ("Global", "", partial(_global, session), False),
        ("Waiting", "", partial(_waiting, session), False),
        ("Findings", "", partial(_findings, session), False),
    ]
    found: list[Json] = []
    for name, hint, children, is_set in made:
        lane = values.lane_of(group, session.shown_lane(group))
        lanes = values.lanes_of(group, whole=True) if name == "Warp" else lane
        setter = (
            partial(set_register, session, group, frame, lanes, is_hex=session.is_hex) if is_set else None
        )
        reference = session.references.variables((number, name), children, setter)
        scope: Object = {"name": name, "variablesReference": reference, "expensive": False}
        found.append({**scope, "presentationHint": hint} if hint else scope)
    return {"scopes": found}


def variables(session: Session, given: Arguments) -> Json:
    _ = session.stopped
    session.is_hex = given.inner("format").flag("hex")
    found = session.references.children(given.number("variablesReference"))
    first, count = given.number("start"), given.number("count")
    shown: list[Json] = list(found[first : first + count] if count else found[first:])
    return {"variables": shown}


def set_variable(session: Session, given: Arguments) -> Json:
    _ = session.stopped
    change = session.references.setter(given.number("variablesReference"))
    return {"value": change(given.text("name"), given.text("value"))}


def set_expression(session: Session, given: Arguments) -> Json:
    group, frame = session.chosen_frame(given)
    to, text = given.text("expression"), given.text("value")
    is_hex = given.inner("format").flag("hex")
    return {"value": assign(session, group, frame, to, text, is_hex=is_hex)}


def _registers(session: Session, group: Group, frame: Frame) -> list[Object]:
    found: list[Object] = []
    for one in values.registers(frame):
        value = _bits(session, group, one)
        shown = _variable(one.name, values.text(value, one.type, is_hex=session.is_hex), one.type)
        found.append({**shown, **_memory_reference(session, group, one, value)})
    return found


def _bits(session: Session, group: Group, one: Named) -> values.Elements | None:
    """The elements of a register in the lane that is shown; None if it is unset."""
    return values.bits(group.wave, one, values.lane_of(group, session.shown_lane(group)))[0]


def _memory_reference(session: Session, group: Group, one: Named, value: values.Elements | None) -> Object:
    """Where a register points to, if it may be a generic address and there is memory."""
    if one.number is None or value is None or one.type not in _ADDRESSES:
        return {}
    memory = session.stopped.memory
    (address,) = value
    place = memory.generic(address, session.shown_lane(group))
    there = memory.bytes_at(place)
    return {"memoryReference": str(place)} if there is not None and there.size else {}


_ADDRESSES = (".b64", ".u64", ".s64")
"""The types of registers for generic addresses."""


def _warp(session: Session, number: int, group: Group, frame: Frame) -> list[Object]:
    """Each register of the warp: one value where all lanes have it, else each lane's."""
    found: list[Object] = []
    for one in values.registers(frame):
        shown = _column(session, group, one)
        if len(set(shown)) == 1:
            found.append(_variable(one.name, shown[0], one.type))
            continue
        reference = session.references.variables(
            (number, "Warp", one.name), partial(_lanes, shown, one.type),
            partial(_set_lane, session, group, frame, one.name),
        )
        text = ", ".join(shown[:_FEW]) + (", ..." if len(shown) > _FEW else "")
        found.append({
            **_variable(one.name, f"[{text}]", one.type), "variablesReference": reference,
            "indexedVariables": len(shown),
        })
    return found


def _column(session: Session, group: Group, one: Named) -> list[str]:
    lanes = values.lanes_of(group, whole=True)
    return [values.text(row, one.type, is_hex=session.is_hex) for row in values.bits(group.wave, one, lanes)]


def _lanes(shown: list[str], type: str) -> list[Object]:
    return [_variable(f"lane {lane}", text, type) for lane, text in enumerate(shown)]


def _set_lane(session: Session, group: Group, frame: Frame, register: str, name: str, text: str) -> str:
    return assign(session, group, frame, f"{register}@{name}", text, is_hex=session.is_hex)


def _predicates(group: Group, frame: Frame) -> list[Object]:
    lanes = values.lanes_of(group, whole=True)
    found: list[Object] = []
    for one in values.registers(frame):
        if one.is_predicate:
            rows = values.bits(group.wave, one, lanes)
            mask = sum(1 << lane for lane, row in enumerate(rows) if row is not None and row[0])
            found.append(_variable(one.name, f"{mask:#010x}", "mask"))
    return found


def _specials(session: Session, group: Group) -> list[Object]:
    found = values.specials(group, session.shown_lane(group))
    return [_variable(name, str(value), "") for name, value in found]


def _memory(session: Session, group: Group, space: str) -> list[Object]:
    """The variables of a state space, with their first bytes."""
    view = session.stopped
    found: list[Object] = []
    for one in view.launch.placed:
        if one.space == space:
            place = Reference(space.removeprefix("."), one.start, session.shown_lane(group))
            data = view.memory.read(place, min(one.size, _SHOWN_BYTES))
            more = " ..." if one.size > _SHOWN_BYTES else ""
            found.append({
                **_variable(one.name, data.hex(" ", 4) + more, f"{one.size} bytes"),
                "memoryReference": str(place),
            })
    return found


def _global(session: Session) -> list[Object]:
    view = session.stopped
    return [
        {
            **_variable(one.name, one.data[:_SHOWN_BYTES].tobytes().hex(" ", 4), f"{one.data.size} bytes"),
            "memoryReference": str(Reference("global", one.base)),
        }
        for one in view.launch.buffers
    ]


def _waiting(session: Session) -> list[Object]:
    """Who waits, for what."""
    return [
        _variable(one.name, f"{one.waits}, at line {one.step.line}", "")
        for one in session.stopped.groups.values() if one.waits
    ]


def _findings(session: Session) -> list[Object]:
    recording, problem = session.recording, session.stopped.stop.problem
    found = () if recording is None else recording.findings
    if isinstance(problem, Finding) and problem not in found:
        found = (*found, problem)
    return [_variable(f"line {one.line}", one.message, one.kind) for one in found]


def _variable(name: str, text: str, type: str) -> Object:
    found: Object = {"name": name, "value": text, "variablesReference": 0}
    return {**found, "type": type} if type else found


def evaluate(session: Session, given: Arguments) -> Json:
    if given.text("context") == "repl":
        output = session.carry_out(given.text("expression"), given)
        if output is not None:
            return {"result": output, "variablesReference": 0}
    view = session.stopped
    group, frame = session.chosen_frame(given)
    text = given.text("expression").strip()
    is_hex = given.inner("format").flag("hex")
    register = view.registers(frame, text)
    if register is not None:
        value = _bits(session, group, register)
        shown = values.text(value, register.type, is_hex=is_hex)
        return {
            "result": shown, "type": register.type, "variablesReference": 0,
            **_memory_reference(session, group, register, value),
        }
    try:
        column = view.evaluate(text, group, frame)
    except ExpressionError as error:
        raise RequestError(str(error)) from None
    at = group.lanes.index(session.shown_lane(group).thread % WARP_SIZE)
    return {"result": values.plain(column[at], is_hex=is_hex), "variablesReference": 0}


def completions(session: Session, given: Arguments) -> Json:
    text = given.text("text")[: max(0, given.number("column") - session.first_line)]
    start = len(text.rstrip(WORD))
    names = session.interpreter.completions(text)
    if not session.interpreter.is_command(text[:start]):
        names += [one for one in session.interpreter.symbols() if one.startswith(text[start:])]
    return {
        "targets": [
            {"label": name, "start": start, "length": len(text) - start} for name in dict.fromkeys(names)
        ]
    }


_FEW = 4
_SHOWN_BYTES = 16

HANDLERS: dict[str, Handler] = {
    "threads": threads, "stackTrace": stack_trace, "scopes": scopes, "variables": variables,
    "setVariable": set_variable, "setExpression": set_expression, "evaluate": evaluate,
    "completions": completions,
}
