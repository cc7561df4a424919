"""Handles of textures, samplers and surfaces: 64-bit addresses that instructions look up.

The handle of a variable (`.texref`, `.samplerref`, `.surfref`, or one in `.tex`) is its address; an object
that is passed as an argument gets an address of its own. A parameter of such a type holds the handle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

import numpy as np

from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import Program
from ptx_lsp.executor.instructions.threads import Indices, Threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.texture import ADDRESSES, Address, Opaque, Sampler, Surface, Texture
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Variable
from ptx_lsp.syntax import nodes

TYPES: dict[str, type[Texture] | type[Sampler] | type[Surface]] = {
    ".texref": Texture, ".samplerref": Sampler, ".surfref": Surface,
}
OpaqueT = TypeVar("OpaqueT", Texture, Sampler, Surface)


def passed(value: Opaque, memory: Memory, opaque: dict[int, Opaque], name: str) -> bytes:
    """The handle of an object that is an argument."""
    handle = memory.add(f"{name} (a handle)", np.zeros(8, np.uint8))
    opaque[handle] = value
    return handle.to_bytes(8, "little")


def bound(
    kernel: Function, image: ModuleMemory, values: Mapping[str, Opaque]
) -> dict[int, Opaque]:
    """The objects of the variables that a kernel sees, by their addresses; ExecutionError for other names."""
    found: dict[int, Opaque] = {}
    names: set[str] = set()
    for variable in kernel.opaque:
        names.add(variable.name)
        wanted = TYPES.get(variable.type, Texture)
        value = values.get(variable.name)
        if value is None and wanted is Sampler:
            value = _initial(variable)
        if value is None:
            continue
        if not isinstance(value, wanted):
            message = (
                f"`{variable.name}` must be bound to a {wanted.__name__}, not to a "
                f"{type(value).__name__}"
            )
            raise ExecutionError(message, "launch")
        found[image.addresses[id(variable.declarator)]] = value
    for name in values:
        if name not in names:
            raise ExecutionError(f"`{name}` is not a texture, sampler or surface", "launch")
    return found


def handle(operand: nodes.Expression, operands: Operands) -> Program:
    """Computes the handle that an operand stands for; where that is a parameter, its place in `.param`."""
    program = Program()
    emitter = Emitter(program, operands.frame.dtypes)
    program.outputs.append(emitter.modular(operands.address(operand), 64))
    return program


def objects(
    spaces: Spaces, row: Threads, handles: Indices, kind: type[OpaqueT]
) -> Iterator[tuple[OpaqueT, Indices]]:
    """Each object that some threads name, with their positions in the row."""
    for value in np.unique(handles).tolist():
        here = handles == value
        found = spaces.opaque.get(value)
        if found is None and 0 <= value <= spaces.parameters.size - 8:
            inner = int.from_bytes(spaces.parameters[value : value + 8].tobytes(), "little")
            found = spaces.opaque.get(inner)
        if not isinstance(found, kind):
            what = kind.__name__.lower()
            raise row.error(f"no {what} has the handle {value}", "out-of-bounds", here)
        yield found, np.flatnonzero(here)


def _initial(variable: Variable) -> Sampler:
    """The sampler that an initial value describes: `{ addr_mode_0 = wrap, filter_mode = linear }`."""
    modes: list[Address] = ["clamp", "clamp", "clamp"]
    is_linear = forced = False
    value = variable.declarator.initializer
    for item in value.items if isinstance(value, nodes.InitializerList) else ():
        if not isinstance(item, nodes.FieldValue):
            continue
        field, text = item.name.text, item.value
        word = text.text if isinstance(text, nodes.Name) else ""
        if field.startswith("addr_mode_") and word in _MODES:
            modes[int(field[-1])] = _MODES[word]
        elif field == "filter_mode":
            is_linear = word == "linear"
        elif field == "force_unnormalized_coords":
            forced = bool(constant(text))
    return Sampler(tuple(modes), "linear" if is_linear else "point", forced)


_MODES: dict[str, Address] = dict(
    zip(("wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border"), ADDRESSES, strict=True)
)
