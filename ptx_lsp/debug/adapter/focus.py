"""The thread in focus, and the warp view: requests beyond the protocol.

- `ptx/focus`: `{block: [x, y, z], thread: [x, y, z]}` puts a thread in focus; without arguments it only
  answers with the one that is: `{threadId, block, thread, warp, lane}`. With `announce` an event `stopped`
  with the reason `focus` lets the client show it.
- `ptx/warpWatch`: `{frameId, expressions, ofInstruction, format}` answers with the value of each expression
  in each lane of the warp: `{lanes, active, rows: [{expression, values, error}], block, warp, groups}`.
  Without expressions the rows are all registers; with `ofInstruction` those that the instruction names,
  after the expressions.
"""

from __future__ import annotations

from ptx_lsp.debug import values
from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.debug.groups import Frame, Group, number_at
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.machine.launch_config import WARP_SIZE, Dimensions, index


def focus(session: Session, given: Arguments) -> Json:
    view = session.stopped
    shape = view.launch.shape
    if given.has("block") or given.has("thread"):
        block, thread = session.focus
        if given.has("block"):
            block = _flat("block", given.sizes("block"), shape.grid)
        if given.has("thread"):
            thread = _flat("thread", given.sizes("thread"), shape.block)
        group = view.group_of(Lane(block, thread))
        if group is None:
            raise RequestError("this thread has not begun, or it has ended")
        session.focus = Lane(block, thread)
        if given.flag("announce"):
            _announce(session, group)
    block, thread = session.focus
    group = view.group_of(session.focus)
    return {
        "threadId": group.number if group is not None else 0,
        "block": list(index(block, shape.grid)), "thread": list(index(thread, shape.block)),
        "warp": thread // WARP_SIZE, "lane": thread % WARP_SIZE,
    }


def _announce(session: Session, group: Group) -> None:
    """Lets the client show the thread in focus, by an event: a response cannot."""
    body: Object = {
        "reason": "focus", "description": f"Focus on lane {session.focus.thread % WARP_SIZE}",
        "threadId": group.number, "allThreadsStopped": True,
    }
    session.afterwards(lambda: session.channel.event("stopped", body))


def _flat(what: str, given: tuple[int, ...], sizes: Dimensions) -> int:
    x, y, z = (*given, 0, 0, 0)[:3]
    if not given or not (0 <= x < sizes[0] and 0 <= y < sizes[1] and 0 <= z < sizes[2]):
        raise RequestError(f"there is no {what} {','.join(map(str, given)) or 'with this number'}")
    return number_at((x, y, z), sizes)


def warp_watch(session: Session, given: Arguments) -> Json:
    group, frame = session.chosen_frame(given)
    is_hex = given.inner("format").flag("hex")
    names = given.texts("expressions")
    named = values.named_by_instruction(frame)
    if given.flag("ofInstruction"):
        names += [one for one in named if one not in names]
    elif not names:
        names = [one.name for one in values.registers(frame)]
    rows: list[Json] = [
        {**_row(session, group, frame, one, is_hex=is_hex), "isOfInstruction": one in named} for one in names
    ]
    lanes = values.lanes_of(group, whole=True)
    launch = session.stopped.launch.shape
    first = group.warp * WARP_SIZE
    return {
        "lanes": int(lanes.size), "active": [lane in group.lanes for lane in range(lanes.size)],
        "name": group.name, "line": group.step.line, "rows": rows,
        "block": list(index(group.block, launch.grid)), "warp": group.warp,
        "lane": session.shown_lane(group).thread % WARP_SIZE,
        "threads": [list(index(first + lane, launch.block)) for lane in range(lanes.size)],
        "groups": _groups(session, group),
    }


def _groups(session: Session, shown: Group) -> list[Json]:
    """The groups of a warp, in the order of their first lanes."""
    view = session.stopped
    found = sorted([shown, *view.others(shown)], key=lambda one: one.lanes)
    return [
        {
            "threadId": one.number, "lanes": list(one.lanes), "line": one.step.line, "waits": one.waits,
            "instruction": one.step.text,
            "reconvergence": [
                {"line": point.frame.line, "lanes": list(point.lanes)} for point in view.reconvergence(one)
            ],
        }
        for one in found
    ]


def _row(session: Session, group: Group, frame: Frame, text: str, *, is_hex: bool) -> Object:
    view = session.stopped
    register = view.registers(frame, text)
    if register is not None:
        each = values.bits(group.wave, register, values.lanes_of(group, whole=True))
        shown: list[Json] = [values.text(one, register.type, is_hex=is_hex) for one in each]
        return {"expression": text, "type": register.type, "values": shown}
    try:
        column = view.evaluate(text, group, frame, whole=True)
    except ExpressionError as error:
        return {"expression": text, "values": [], "error": str(error)}
    return {"expression": text, "values": [values.plain(one, is_hex=is_hex) for one in column]}


HANDLERS: dict[str, Handler] = {"ptx/focus": focus, "ptx/warpWatch": warp_watch}
