"""Variables in expressions: contents, as in `tile` and `tile[3]`, and addresses, as in `&tile`."""

from __future__ import annotations

import re
from collections.abc import Callable

from ptx_lsp.debug.console.values import MOST_ELEMENTS, Value, listed
from ptx_lsp.debug.lanes import Lane
from ptx_lsp.debug.memory import NAMES, Reference
from ptx_lsp.debug.program import Program
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.debug.values import text as value_text
from ptx_lsp.debug.view import View
from ptx_lsp.executor.machine.address_resolution import WINDOWS
from ptx_lsp.executor.machine.data_segment import variables_of
from ptx_lsp.isa.types import TYPES

_VARIABLE = re.compile(r"(&?)\s*([A-Za-z_$%][\w$]*)\s*(?:\[(.*)\])?$", re.DOTALL)


def variable_value(
    view: View, program: Program, owner: Lane, text: str, number: Callable[[str], int]
) -> Value | None:
    """The value of an expression that is a variable, one of its elements, or its address, as a thread sees
    it; None for other expressions. `number` evaluates the index of an element. Raises RequestError where
    memory is missing.
    """
    found = _VARIABLE.match(text.strip())
    variable = None if found is None else view.variable(found[2])
    if found is None or variable is None:
        return None
    name, index = found[2], found[3]
    space, start, size = variable
    if found[1]:
        address = start + WINDOWS.get(NAMES[space], 0)
        return None if index else Value(f"{address:#x} <{name}>", (address,), 64)
    type = _element_type(program, name, start, size)
    width = TYPES[type].width
    at = None if index is None else number(index)
    whole = view.memory.read(Reference(space, start, owner), size or _MOST_BYTES)
    if at is not None:
        whole = whole[at * width // 8 : (at + 1) * width // 8] if at >= 0 else b""
    bits = [
        int.from_bytes(whole[first : first + width // 8], "little")
        for first in range(0, len(whole) // (width // 8) * (width // 8), width // 8)
    ]
    if not bits:
        raise RequestError(f"There is no memory at `{text.strip()}`.")
    shown = listed([value_text((one,), type) for one in bits])
    count = len(bits)
    if count > 1:
        shown = f"({type} [{count}]) {shown}"
    return Value(shown, tuple(bits[:MOST_ELEMENTS]), width, is_register=True)


def _element_type(program: Program, name: str, start: int, size: int) -> str:
    """The type of a variable's elements: the declared one; of aligned bytes, as compilers declare arrays of
    any type, `.b32`; of a buffer without a declaration `.b32` too.
    """
    declared = variables_of(program.module, program.kernel)
    type = next((one.type for one in declared if one.name == name), ".b8")
    if type not in TYPES or (type in (".b8", ".u8", ".s8") and size % 4 == start % 4 == 0):
        return ".b32" if size % 4 == start % 4 == 0 else ".b8"
    return type


_MOST_BYTES = 1 << 16
