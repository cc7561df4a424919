"""Requests about data breakpoints: the data that a name stands for, and the breakpoints."""

from __future__ import annotations

from ptx_lsp.debug import values
from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.adapter.stops import CLIENT, problem_of
from ptx_lsp.debug.breakpoints import Access, DataBreakpoint
from ptx_lsp.debug.expressions import ExpressionError, Target, target
from ptx_lsp.debug.groups import Frame, Group
from ptx_lsp.debug.memory import MemoryReferenceError, Reference, reference
from ptx_lsp.debug.request_error import RequestError

_MOST_BYTES = 1 << 20


def data_breakpoint_info(session: Session, given: Arguments) -> Json:
    """The data that a name stands for: an address, a variable or register (of a scope), or an expression such
    as `[%rd1]:f32`. `bytes` is how many bytes are watched.
    """
    name, size = given.text("name").strip(), given.number("bytes")
    _ = session.stopped
    try:
        if given.flag("asAddress"):
            return _memory(session, _at_address(session, name), size or 1, "")
        number = given.number("variablesReference")
        children = session.references.children(number) if number else []
        place_of = {one["name"]: one.get("memoryReference") for one in children}
        if place_of.get(name):
            place = reference(str(place_of[name]))
            return _memory(session, place, size or session.stopped.size_at(place) or 1, name)
        return _named(session, given, name, size)
    except (ExpressionError, MemoryReferenceError, RequestError) as error:
        return {"dataId": None, "description": str(error)}


def _named(session: Session, given: Arguments, name: str, size: int) -> Json:
    view = session.stopped
    variable = view.variable(name)
    if variable is not None and not given.number("variablesReference"):
        space, address, whole = variable
        return _memory(session, Reference(space, address, session.focus), size or whole, name)
    group, frame = session.chosen_frame(given)
    wanted = target(name)
    if wanted.address is not None:
        lane = values.lane_of(group, session.shown_lane(group))
        place, whole = view.target(wanted, group.wave, lane, frame)
        return _memory(session, place, size or whole, name)
    return _register(session, group, frame, wanted)


def _register(session: Session, group: Group, frame: Frame, wanted: Target) -> Json:
    register = session.stopped.registers(frame, wanted.name)
    if register is None:
        raise RequestError(f"`{wanted.name}` is neither a variable nor a register here")
    if register.number is None:
        raise RequestError(f"`{wanted.name}` has several elements; watch one, such as `{wanted.name}.x`")
    block, thread = group.first
    number = f"register:{register.number}:{block}:{thread}"
    session.registers[number] = register.number, group.first
    return {
        "dataId": number,
        "description": f"{wanted.name} in the warp of block {block} thread {thread}",
        "accessTypes": ["write"],
    }


def _at_address(session: Session, text: str) -> Reference:
    """The byte at a generic address as the thread in focus sees it, or at a memory reference."""
    if ":" in text:
        return reference(text)
    try:
        address = int(text, 0)
    except ValueError:
        raise RequestError(f"`{text}` is not an address") from None
    if not 0 <= address < 1 << 64:
        raise RequestError(f"`{text}` is not an address of 64 bits")
    return session.stopped.memory.generic(address, session.focus)


def _memory(session: Session, place: Reference, size: int, name: str) -> Json:
    if not 0 < size <= _MOST_BYTES:
        raise RequestError(f"between 1 and {_MOST_BYTES} bytes can be watched")
    memory = session.stopped.memory
    if memory.has_begun(place) and len(memory.read(place, size)) < size:
        raise RequestError(f"there are no {size} bytes at {place}")
    return {
        "dataId": f"{place}:{size}", "accessTypes": ["read", "write", "readWrite"],
        "description": f"{name} ({_bytes(size)})" if name else f"{_bytes(size)} at {place}",
    }


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def set_data_breakpoints(session: Session, given: Arguments) -> Json:
    found: list[DataBreakpoint] = []
    answers: list[Json] = []
    for one in given.each("breakpoints"):
        made = DataBreakpoint(
            session.breakpoints.next_number(), one.text("condition"), one.text("hitCondition"),
            access=_ACCESSES.get(one.text("accessType", "write"), "write"),
        )
        problem = problem_of(made) or _place(session, made, one.text("dataId"))
        answer: Object = {"id": made.number, "verified": not problem}
        answers.append({**answer, "message": problem} if problem else answer)
        if not problem:
            found.append(made)
    session.breakpoints.replace_data(CLIENT, found)
    return {"breakpoints": answers}


def _place(session: Session, made: DataBreakpoint, text: str) -> str:
    """Gives a breakpoint what it watches; what is wrong."""
    made.register = session.registers.get(text)
    if made.register is not None:
        return ""
    place, _, size = text.rpartition(":")
    try:
        made.place, made.size = reference(place), int(size)
    except ValueError:
        return f"`{text}` names no data"
    return "" if 0 < made.size <= _MOST_BYTES else f"between 1 and {_MOST_BYTES} bytes can be watched"


_ACCESSES: dict[str, Access] = {"read": "read", "write": "write", "readWrite": "readWrite"}


HANDLERS: dict[str, Handler] = {
    "dataBreakpointInfo": data_breakpoint_info, "setDataBreakpoints": set_data_breakpoints,
}
