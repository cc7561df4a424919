"""The arguments of a launch as the bytes of parameter memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.locals import HANDLE_BYTES
from ptx_lsp.executor.machine.memory import Memory, bytes_of
from ptx_lsp.executor.machine.multimem_memory import Multimem
from ptx_lsp.executor.machine.tensor_map import TensorMap
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.textures.handles import TYPES as KINDS
from ptx_lsp.executor.textures.handles import passed
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import size_bytes
from ptx_lsp.model.symbols import Variable

Structure: TypeAlias = tuple["Plain", ...]
"""Members of a structure, placed as in C: arrays as pointers, and NumPy scalars."""
Plain: TypeAlias = (
    npt.NDArray[np.generic] | np.generic | bytes | int | float | Structure | TensorMap | Multimem
)
Value: TypeAlias = Plain | Opaque


def parameters(
    kernel: Function, image: ModuleMemory, memory: Memory, opaque: dict[int, Opaque], args: Sequence[Value]
) -> npt.NDArray[np.uint8]:
    """The parameter memory of a launch; arrays become buffers of `memory`. Raises ExecutionError for an
    argument that does not match its parameter.
    """
    if len(args) != len(image.parameters):
        count = len(image.parameters)
        declared = ", ".join(f"`{kernel.text(one.declaration)}`" for one in image.parameters)
        message = f"`{kernel.name}` takes {count} arguments, not {len(args)}"
        raise ExecutionError(f"{message}: {declared}" if count else message, "launch")
    data = np.zeros(image.parameter_bytes, np.uint8)
    for number, (variable, value) in enumerate(zip(image.parameters, args, strict=True)):
        size = size_bytes(variable) or (HANDLE_BYTES if variable.type in KINDS else 0)
        name = f"argument {number}"
        if isinstance(value, Opaque):
            raw = passed(value, memory, opaque, name)
        else:
            raw = _raw(value, variable, size, memory, name)
        if len(raw) != size:
            what = "is passed as an address of" if isinstance(value, np.ndarray) else "has"
            raise ExecutionError(
                f"{name} {what} {len(raw)} bytes, but `{variable.name}` has {size}: "
                f"`{kernel.text(variable.declaration)}`", "launch"
            )
        at = image.addresses[id(variable.declarator)]
        data[at : at + size] = np.frombuffer(raw, np.uint8)
    return data


def _raw(value: Plain, variable: Variable, size: int, memory: Memory, name: str) -> bytes:
    match value:
        case np.ndarray():
            width = 4 if size == 4 else 8
            data = _bytes(value, name)
            if any(one.text == ".const" for one in variable.declaration.modifiers):  # `.ptr .const`
                address = memory.add_constant(variable.name, data)
            else:
                address = memory.add(variable.name, data, is_narrow=width == 4)
            return address.to_bytes(width, "little")
        case TensorMap():
            return value.passed(memory, name, size)
        case Multimem():
            return value.passed(memory, name)
        case np.generic():
            return value.astype(value.dtype.newbyteorder("<")).tobytes()
        case bytes():
            return value
        case tuple():
            return _structure(value, variable, memory, name)[0]
        case int() if not variable.type.startswith(".f"):
            if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
                message = (
                    f"{name} is {value}, which does not fit in the {size} bytes of "
                    f"`{variable.name}`"
                )
                raise ExecutionError(message, "launch")
            return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        case int() | float() if variable.type[:2] in (".f", ".b") and size in (2, 4, 8):
            with np.errstate(over="ignore"):
                return np.array(value, f"<f{size}").tobytes()
        case _:
            message = (
                f"{name} is of type `{type(value).__name__}`, which does not match "
                f"`{variable.name}`"
            )
            raise ExecutionError(f"{message}, `{variable.type}`", "launch")


def _structure(value: Structure, variable: Variable, memory: Memory, name: str) -> tuple[bytes, int]:
    """The bytes of a structure, and its alignment."""
    data, largest = bytearray(), 1
    for number, member in enumerate(value):
        member_name = f"{name}[{number}]"
        if isinstance(member, tuple):
            raw, alignment = _structure(member, variable, memory, member_name)
        elif isinstance(member, np.ndarray | np.generic | bytes):
            raw = _raw(member, variable, 8, memory, member_name)
            alignment = 1 if isinstance(member, bytes) else len(raw)
        else:
            kind = type(member).__name__
            message = f"{member_name} is of type `{kind}`; members are arrays or NumPy scalars"
            raise ExecutionError(message, "launch")
        data += bytes(-len(data) % alignment) + raw
        largest = max(largest, alignment)
    return bytes(data) + bytes(-len(data) % largest), largest


def _bytes(array: npt.NDArray[np.generic], name: str) -> npt.NDArray[np.uint8]:
    """The memory of an array that can be a buffer."""
    if not array.flags.c_contiguous:
        raise ExecutionError(f"{name} must be a contiguous array", "launch")
    if array.dtype.hasobject:
        raise ExecutionError(f"{name} is an array of Python objects, not of numbers", "launch")
    if array.dtype != array.dtype.newbyteorder("<"):
        raise ExecutionError(
            f"{name} is an array in non-native byte order: `{array.dtype.str}`", "launch"
        )
    return bytes_of(array)
