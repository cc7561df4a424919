"""Changes of registers and memory by the user."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import numpy as np

from ptx_lsp.debug import values
from ptx_lsp.debug.debuggee import Debuggee
from ptx_lsp.debug.encoding import Evaluated, elements, encoded
from ptx_lsp.debug.expressions import ExpressionError, Target, target
from ptx_lsp.debug.groups import Frame, Group, row_of
from ptx_lsp.debug.memory import MemoryView, Reference
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import Lanes, Named
from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.instrumentation.written_registers import WrittenRegisters
from ptx_lsp.executor.scheduling.machine import Machine

_MOST_BYTES = 1 << 16


def set_register(
    debuggee: Debuggee, group: Group, frame: Frame, lanes: Lanes, name: str, text: str, *,
    is_hex: bool = False,
) -> str:
    """Gives a register a value in some lanes of the wave of a group: that of an expression in the group's
    first lane, if it is among them, else in the first of them. The new value as text. Raises RequestError.
    """
    view, recording = debuggee.stopped, _changeable(debuggee)
    register = view.registers(frame, name)
    if register is None:
        raise RequestError(f"`{name}` is not a register here")
    first = values.lanes_of(group)[:1]
    where = first if first[0] in lanes else lanes[:1]

    def evaluate(text: str) -> Evaluated:
        return view.evaluate_in(text, group.wave, where, frame)[0]

    bits = _bits(group, register, text, evaluate)
    block = group.block
    within = lanes - group.row * group.wave.shape[1]

    def edit(machine: Machine) -> None:
        for scheduler in machine.schedulers:
            row = row_of(scheduler.wave, block)
            for number, value in zip(register.numbers, bits, strict=True) if row is not None else ():
                column = scheduler.wave.registers[number]
                whole: Array = np.array(scheduler.wave.broadcast(column))
                whole[row, within] = column.dtype.type(value)
                scheduler.wave.registers[number] = whole
                changed = np.zeros(scheduler.wave.shape, np.bool_)
                changed[row, within] = True
                WrittenRegisters.of(scheduler.wave).write(number, changed)

    recording.change(edit)
    debuggee.breakpoints.forget_after(recording.stop.event)
    return values.text(values.bits(group.wave, register, lanes[:1])[0], register.type, is_hex=is_hex)


def _bits(
    group: Group, register: Named, text: str, evaluate: Callable[[str], Evaluated]
) -> list[int]:
    """The contents of each part of a register that has a value. Raises RequestError."""
    widths = [8 * group.wave.registers[number].dtype.itemsize for number in register.numbers]
    with _refused():
        if register.type == ".b128":
            whole = encoded(text, ".b128", 128, evaluate)
            return [whole & (1 << 64) - 1, whole >> 64]
        each = elements(text, len(widths))
        return [
            encoded(one, register.type, width, evaluate) for one, width in zip(each, widths, strict=True)
        ]


def assign(
    debuggee: Debuggee, group: Group, frame: Frame, expression: str, text: str, *, is_hex: bool = False
) -> str:
    """Gives a value to a register (`%r5`: in the lane that is shown, `%r5@3`) or to memory (`[%rd1]:f32`).
    The new value as text. Raises RequestError.
    """
    with _refused():
        to = target(expression)
    if to.address is not None:
        return _assign_memory(debuggee, group, frame, to, expression, text, is_hex=is_hex)
    lanes = values.lane_of(group, debuggee.shown_lane(group))
    if to.lane is not None:
        lanes = values.lanes_of(group, whole=True)[to.lane :][:1]
        if not lanes.size:
            raise RequestError(f"the warp has no lane {to.lane}")
    return set_register(debuggee, group, frame, lanes, to.name, text, is_hex=is_hex)


def _assign_memory(
    debuggee: Debuggee, group: Group, frame: Frame, to: Target, expression: str, text: str, *, is_hex: bool
) -> str:
    view, lane = debuggee.stopped, values.lane_of(group, debuggee.shown_lane(group))

    def evaluate(text: str) -> Evaluated:
        return view.evaluate_in(text, group.wave, lane, frame)[0]

    width = int(to.type[1:])
    with _refused():
        place, size = view.target(to, group.wave, lane, frame)
        if size > _MOST_BYTES:
            raise RequestError(f"`{expression}` has {size} bytes; {_MOST_BYTES} can be written at once")
        bits = [encoded(one, f".{to.type}", width, evaluate) for one in elements(text, to.count)]
    room = view.memory.bytes_at(place)
    if room is None or room.size < size:
        raise RequestError(f"there are no {size} bytes at {place}")
    write_memory(debuggee, place, b"".join(one.to_bytes(width // 8, "little") for one in bits))
    return values.plain(evaluate(expression), is_hex=is_hex)


@contextmanager
def _refused() -> Generator[None]:
    """What is wrong with an expression is what is wrong with the request."""
    try:
        yield
    except ExpressionError as error:
        raise RequestError(str(error)) from None


def write_memory(debuggee: Debuggee, place: Reference, data: bytes) -> int:
    """Writes bytes; how many there was memory for. Raises RequestError."""
    view, recording = debuggee.stopped, _changeable(debuggee)
    room = view.memory.bytes_at(place)
    if room is None:
        return 0
    if not room.flags.writeable:
        raise RequestError(f"the memory at {place} is read-only")
    launch = recording.launch

    def edit(machine: Machine) -> None:
        waves = tuple(one.wave for one in machine.schedulers)
        MemoryView(launch.memory, launch.parameters, waves).write(place, data)

    recording.change(edit)
    debuggee.breakpoints.forget_after(recording.stop.event)
    return min(len(data), room.size)


def _changeable(debuggee: Debuggee) -> Recording:
    """The run. Raises RequestError where there is nothing to change."""
    recording = debuggee.recording
    if recording is None or recording.machine is None:
        raise RequestError("the kernel has not begun")
    if recording.is_over:
        raise RequestError("the kernel has ended; step back to change something")
    return recording
