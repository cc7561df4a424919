"""Changes of registers and memory by the user."""

from __future__ import annotations

import numpy as np

from ptx_lsp.debug import values
from ptx_lsp.debug.debuggee import Debuggee
from ptx_lsp.debug.expressions import ExpressionError
from ptx_lsp.debug.groups import Frame, Group, row_of
from ptx_lsp.debug.memory import MemoryView, Reference
from ptx_lsp.debug.recording import Recording
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import Lanes
from ptx_lsp.executor.arithmetic.program import Array
from ptx_lsp.executor.instrumentation.written_registers import WrittenRegisters
from ptx_lsp.executor.scheduling.machine import Machine


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
    number = register.number
    if number is None:
        raise RequestError(f"`{name}` has several elements; they cannot be changed")
    first = values.lanes_of(group)[:1]
    where = first if first[0] in lanes else lanes[:1]
    try:
        value = view.evaluate_in({"true": "1", "false": "0"}.get(text, text), group.wave, where, frame)[0]
    except ExpressionError as error:
        raise RequestError(str(error)) from None
    if value.ndim:
        raise RequestError(f"`{text}` has several elements")
    if register.type in (".f16", ".f32", ".f64") and text[:2].lower() != "0x":
        value = value.astype(np.float64)
    block = group.block
    within = lanes - group.row * group.wave.shape[1]
    dtype = group.wave.registers[number].dtype
    bits = as_bits(value, dtype)

    def edit(machine: Machine) -> None:
        for scheduler in machine.schedulers:
            row = row_of(scheduler.wave, block)
            if row is not None:
                whole: Array = np.array(scheduler.wave.broadcast(scheduler.wave.registers[number]))
                whole[row, within] = bits
                scheduler.wave.registers[number] = whole
                changed = np.zeros(scheduler.wave.shape, np.bool_)
                changed[row, within] = True
                WrittenRegisters.of(scheduler.wave).write(number, changed)

    recording.change(edit)
    debuggee.breakpoints.forget_after(recording.stop.event)
    return values.text(values.bits(group.wave, register, lanes[:1])[0], register.type, is_hex=is_hex)


def as_bits(value: np.generic, dtype: np.dtype[np.generic]) -> Array:
    """The bits of a value in a register; of a number with a fraction those of a float. Raises RequestError.
    """
    width = dtype.itemsize
    if dtype == np.bool_:
        return np.array(bool(value))
    if value.dtype.kind != "f":
        return np.array(int(value) & (1 << 8 * width) - 1, dtype)
    if width not in (2, 4, 8):
        raise RequestError(f"a register of {8 * width} bits holds no float")
    return value.astype(f"f{width}").reshape(1).view(f"u{width}")[0]


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
