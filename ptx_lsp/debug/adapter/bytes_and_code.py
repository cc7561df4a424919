"""Requests about memory and instructions."""

from __future__ import annotations

import base64
import binascii

from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.changes import write_memory
from ptx_lsp.debug.memory import MemoryReferenceError, Reference, reference
from ptx_lsp.debug.request_error import RequestError

_MOST_BYTES = 1 << 22
_MOST_INSTRUCTIONS = 10_000


def read_memory(session: Session, given: Arguments) -> Json:
    view = session.stopped
    place = _place(given)
    count = min(max(0, given.number("count")), _MOST_BYTES)
    data = view.memory.read(place, count)
    found: Object = {"address": f"{place.address:#x}", "unreadableBytes": count - len(data)}
    return {**found, "data": base64.b64encode(data).decode()} if data else found


def write(session: Session, given: Arguments) -> Json:
    place = _place(given)
    try:
        data = base64.b64decode(given.text("data"), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError("`data` is not in base64") from None
    there = session.stopped.memory.bytes_at(place)
    if there is None or (there.size < len(data) and not given.flag("allowPartial")):
        raise RequestError(f"there are no {len(data)} bytes at {place}")
    count = write_memory(session, place, data)
    session.values_changed()
    return {"offset": 0, "bytesWritten": count}


def _place(given: Arguments) -> Reference:
    text = given.text("memoryReference")
    try:
        found = reference(text if ":" in text else f"global:{text}")
    except MemoryReferenceError as error:
        raise RequestError(str(error)) from None
    moved = found.moved(given.number("offset"))
    if moved.address < 0:
        raise RequestError(f"there is no memory before {found.space} address 0")
    return moved


def disassemble(session: Session, given: Arguments) -> Json:
    """Instructions are referred to by their lines of the PTX, and located in the source that `.loc` names."""
    made = session.loaded
    try:
        line = int(given.text("memoryReference"), 0) + given.number("offset")
    except ValueError:
        raise RequestError(f"`{given.text('memoryReference')}` is not an instruction") from None
    count = min(max(0, given.number("instructionCount")), _MOST_INSTRUCTIONS)
    lines = sorted(made.by_line)
    originals = {
        number: (made.beside(path), original)
        for path, known in made.sources.items() for original, numbers in known.items() for number in numbers
    }
    at = sum(one < line for one in lines) + given.number("instructionOffset")
    found: list[Json] = []
    for place in range(at, at + count):
        if not 0 <= place < len(lines):
            found.append({"address": "0x0", "instruction": "", "presentationHint": "invalid"})
            continue
        number = lines[place]
        one: Object = {
            "address": f"{number:#x}", "instruction": made.line_text(number), "symbol": made.by_line[number],
        }
        if number in originals:
            path, original = originals[number]
            one["location"] = {"name": path.name, "path": str(path)}
            one["line"] = original - 1 + session.first_line
        found.append(one)
    return {"instructions": found}


HANDLERS: dict[str, Handler] = {
    "readMemory": read_memory, "writeMemory": write, "disassemble": disassemble,
}
